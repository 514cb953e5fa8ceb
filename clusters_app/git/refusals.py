"""Why a push was refused: the porcelain row says that, the `remote:` lines say why. One dialect for each forge."""

import re

from .errors import GitError, GitPermanent, GitTransient
from .failures import spoken
from .runner import Result


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# In this order: `cannot lock ref` is a taken name when it names another branch, and a lost race when it names two
# commits; `hook declined` is only as good a reason as the sentence that comes with it.
_SERVER: tuple[tuple[re.Pattern[str], type[GitError], str], ...] = (
    (
        _words(r"'refs/heads/[^']*' exists|cannot create 'refs/heads/|directory/file conflict"),
        GitPermanent,
        "git.push.name-taken",
    ),
    (_words(r"is at [0-9a-f]{7,} but expected|reference already exists"), GitTransient, "git.push.race"),
    (_words(r"protected|GH006|TF402455|TF401027"), GitPermanent, "git.push.protected"),
    (_words(r"denied for writing|not allowed to (upload|push)|write access"), GitPermanent, "git.forbidden"),
    (_words(r"hook declined"), GitPermanent, "git.push.hook"),
    (_words(r"failed to update ref|cannot lock ref"), GitTransient, "git.push.race"),
)


def push_refusal(result: Result, branch: str) -> GitError | None:
    """The refusal that porcelain output tells of, None when it has no rejected row (the push failed before any)."""
    row = next((line for line in result.output.splitlines() if line.startswith("!\t")), None)
    if row is None:
        return None
    reason = row.rpartition("\t")[2]
    if reason.startswith("[rejected]"):
        return _ours(reason, branch)
    return _theirs(reason, result.errors, branch)


def _ours(reason: str, branch: str) -> GitError:
    """Refused by our own git before anything was sent."""
    if "stale info" in reason:
        return GitPermanent("git.push.stale", branch=branch)
    return GitTransient("git.push.behind", branch=branch)


def _theirs(reason: str, errors: str, branch: str) -> GitError:
    """Refused by the server; unknown words are for a person to read."""
    said = spoken(errors)
    for words, kind, code in _SERVER:
        if words.search(f"{reason}\n{errors}"):
            return kind(code, branch=branch, host="The server", said=said)
    return GitPermanent("git.push.refused", branch=branch, said=said)
