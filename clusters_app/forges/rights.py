"""What a credential may lack, each with its text. The same for every forge."""

from .base import Missing


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


READ = Missing("right.read", _("It may not read the repository."), _("Give its owner the right to read."))
PUSH = Missing(
    "right.push", _("Its owner may not write branches of the repository."), _("Make the owner a writer of it.")
)
OPEN_PULL_REQUEST = Missing(
    "right.pull-request",
    _("It may not push branches or open pull requests."),
    _("Make a token with the scope write:repository."),
)
COMMENT = Missing(
    "right.comment",
    _("It may not comment on pull requests or label them."),
    _("Make a token with the scope write:issue."),
)
PULL_REQUESTS_OFF = Missing(
    "right.pull-requests-off", _("The repository has pull requests switched off."), _("Switch them on in its settings.")
)
UNARCHIVED = Missing("right.archived", _("The repository is archived."), _("Unarchive it at the forge."))
