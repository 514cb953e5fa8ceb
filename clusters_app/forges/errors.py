"""What a forge's refusal means. Six meanings decide what happens next; each code has one meaning and one text."""

from dataclasses import dataclass
from enum import StrEnum


class Meaning(StrEnum):
    """What to do about an answer that is not the wanted one."""

    ALREADY = "already"  # the effect is there: read and adopt
    HEAD_MOVED = "head-moved"  # somebody pushed: the gates begin again
    TRANSIENT = "transient"  # the same call may succeed later
    WAIT = "wait"  # people or checks have to act first
    PERMANENT = "permanent"  # a person has to change something
    GONE = "gone"  # moved, archived, deleted, or no access


@dataclass(frozen=True, slots=True)
class Code:
    meaning: Meaning
    problem: str
    remedy: str


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


CODES: dict[str, Code] = {
    "forge.unreachable": Code(
        Meaning.TRANSIENT, _("{host} cannot be reached: {said}"), _("Flotilla tries again by itself.")
    ),
    "forge.not-reached": Code(
        Meaning.PERMANENT, _("{host} is not called: {said}"), _("Check the URL, the certificate and the allow-list.")
    ),
    "forge.server": Code(
        Meaning.TRANSIENT, _("{host} answered with a fault ({status}): {said}"), _("Flotilla tries again by itself.")
    ),
    "forge.answer-lost": Code(
        Meaning.TRANSIENT,
        _("{host} did not answer; whether it did what was asked is not known."),
        _("Flotilla looks before it tries again."),
    ),
    "forge.rate-limited": Code(
        Meaning.TRANSIENT, _("{host} limits the rate of calls."), _("Flotilla goes on in {seconds} seconds.")
    ),
    "forge.later": Code(
        Meaning.TRANSIENT, _("{host} asks to try again later: {said}"), _("Flotilla tries again a few times.")
    ),
    "forge.base-moved": Code(
        Meaning.TRANSIENT, _("The base branch moved during the merge."), _("Flotilla looks and tries again.")
    ),
    "forge.unreadable": Code(
        Meaning.TRANSIENT,
        _("{host} gave an answer that is not its API's: {said}"),
        _("Check that the URL is the forge's own and no sign-in page stands before it."),
    ),
    "forge.head-moved": Code(
        Meaning.HEAD_MOVED, _("Somebody pushed to the pull request."), _("The gates run again on the new commit.")
    ),
    "forge.waiting": Code(
        Meaning.WAIT, _("The forge does not let it be merged yet: {said}"), _("Get the reviews and checks it asks for.")
    ),
    "forge.already-merged": Code(
        Meaning.ALREADY, _("The pull request is merged already."), _("There is nothing to do.")
    ),
    "forge.already-open": Code(
        Meaning.ALREADY, _("There is an open pull request for {head} already."), _("Flotilla uses that one.")
    ),
    "forge.token": Code(
        Meaning.PERMANENT, _("{host} does not accept the token."), _("Store a token that is valid and not expired.")
    ),
    "forge.scope": Code(
        Meaning.PERMANENT, _("The token lacks a scope: {said}"), _("Make a token with the scopes that are named.")
    ),
    "forge.forbidden": Code(
        Meaning.PERMANENT, _("{host} does not allow it: {said}"), _("Give the token's owner the right that it lacks.")
    ),
    "forge.protected": Code(
        Meaning.PERMANENT, _("A protection rule forbids it: {said}"), _("Change the rule, or let a person merge.")
    ),
    "forge.hook": Code(Meaning.PERMANENT, _("A hook of the forge refused it: {said}"), _("Do what the hook asks for.")),
    "forge.style": Code(
        Meaning.PERMANENT, _("The forge does not allow this way of merging."), _("Allow it, or choose another one.")
    ),
    "forge.conflict": Code(
        Meaning.PERMANENT, _("The pull request conflicts with its base."), _("Plan again, or resolve the conflict.")
    ),
    "forge.no-changes": Code(
        Meaning.PERMANENT, _("{head} has no commit that {base} lacks."), _("There is nothing to propose.")
    ),
    "forge.closed": Code(Meaning.PERMANENT, _("The pull request is closed."), _("Reopen it, or plan a new promotion.")),
    "forge.branch-missing": Code(
        Meaning.PERMANENT, _("There is no branch {branch} on the remote."), _("Push it, or check its name.")
    ),
    "forge.foreign-request": Code(
        Meaning.PERMANENT,
        _("{url} is an open pull request for the same branch that Flotilla did not open."),
        _("Close it, or choose another branch."),
    ),
    "forge.refused": Code(
        Meaning.PERMANENT, _("{host} refused it ({status}): {said}"), _("Look at the forge's answer.")
    ),
    "forge.not-found": Code(
        Meaning.GONE, _("{host} knows nothing at {path}, or the token may not see it."), _("Check URL and token.")
    ),
    "forge.moved": Code(
        Meaning.GONE, _("The repository has moved at {host}."), _("Register its new URL; writes are never redirected.")
    ),
    "forge.archived": Code(
        Meaning.GONE, _("The repository is archived and takes no changes."), _("Unarchive it at the forge.")
    ),
    "forge.unknown": Code(
        Meaning.PERMANENT, _("{host} was not recognised as a forge."), _("Choose the forge, or `local` for plain Git.")
    ),
}


class ForgeError(Exception):
    """A forge did not do what was asked. `parameters` hold no secret and fill the code's texts."""

    retry_after_seconds: float | None = None

    def __init__(self, code: str, **parameters: str | int) -> None:
        known = CODES[code]
        self.code = code
        self.meaning = known.meaning
        self.parameters = parameters
        self.problem = known.problem.format(**parameters)
        self.remedy = known.remedy.format(**parameters)
        super().__init__(f"{self.problem} {self.remedy}")


class ForgeTransient(ForgeError):
    """The same call may succeed later, not before `retry_after_seconds` where that is set."""


class ForgePermanent(ForgeError):
    """Calling again changes nothing; `meaning` says what would."""


def forge_error(code: str, **parameters: str | int) -> ForgeError:
    """The error of a code, of the class that its meaning wants."""
    kind = ForgeTransient if CODES[code].meaning is Meaning.TRANSIENT else ForgePermanent
    return kind(code, **parameters)


def rate_limited(host: str, seconds: float) -> ForgeError:
    """The error of a call that is not to be made, or was not answered, before so many seconds have gone."""
    error = forge_error("forge.rate-limited", host=host, seconds=round(seconds))
    error.retry_after_seconds = seconds
    return error
