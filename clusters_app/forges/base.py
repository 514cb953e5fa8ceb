"""What Flotilla asks of a forge, in values that every forge shares. One file beside this is one forge."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

MARK = "<!-- flotilla:{key} -->"
"""An invisible line in bodies and comments by which our own are found again."""

LONGEST_TEXT = 65_000
STATUS_CONTEXT = "flotilla/gates"


class ForgeKind(StrEnum):
    GITEA = "gitea"
    GITHUB = "github"
    GITLAB = "gitlab"
    BITBUCKET_CLOUD = "bitbucket-cloud"
    BITBUCKET_DATA_CENTER = "bitbucket-data-center"
    AZURE = "azure"
    LOCAL = "local"


class State(StrEnum):
    OPEN = "open"
    MERGED = "merged"
    CLOSED = "closed"


class CheckState(StrEnum):
    PENDING = "pending"
    SUCCESS = "success"
    FAILURE = "failure"


class MergeStyle(StrEnum):
    MERGE = "merge"
    SQUASH = "squash"
    REBASE = "rebase"


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request as the forge has it now. `mergeable` is a hint, maybe old; `merge_commit` is set once merged."""

    number: int
    url: str
    state: State
    head_branch: str
    head_sha: str
    base_branch: str
    title: str
    body: str
    author: str
    labels: tuple[str, ...] = ()
    merge_commit: str | None = None
    mergeable: bool | None = None

    def carries(self, key: str) -> bool:
        """Whether this is the pull request that we opened under this key."""
        return has_mark(key, self.body)


@dataclass(frozen=True, slots=True)
class Draft:
    """A pull request to be opened. `key` is the promotion's; the body gets its mark, so that it is found again."""

    key: str
    head: str
    base: str
    title: str
    body: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that the credential may not do and Flotilla needs. `code` is stable: `right.push`."""

    code: str
    text: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Rights:
    """What the credential is good for. Nothing missing: everything that Flotilla does is allowed."""

    login: str
    missing: tuple[Missing, ...] = ()


@dataclass(frozen=True, slots=True)
class RepositoryFacts:
    """A repository as its forge describes it. `id` survives renames; `clone_url` is https."""

    id: str
    full_name: str
    clone_url: str
    default_branch: str
    is_empty: bool
    is_archived: bool
    is_private: bool


class Forge(Protocol):
    """One repository at its forge. Each method is one or a few HTTP calls and raises ForgeError.

    Writes are never repeated by themselves: after `forge.answer-lost` look first.
    """

    kind: ForgeKind

    def rights(self) -> Rights:
        """What the token lacks. Changes nothing. ForgePermanent `forge.token` for a token that is no token."""

    def repository(self) -> RepositoryFacts:
        """Facts of the repository itself."""

    def find(self, *, head: str, base: str) -> list[PullRequest]:
        """Pull requests of any state from `head` of this repository into `base`, newest first."""

    def read(self, number: int) -> PullRequest:
        """One pull request now."""

    def create(self, draft: Draft) -> PullRequest:
        """Open one; `once.ensure_open` is what callers want. ForgePermanent `forge.already-open`."""

    def update(self, number: int, *, title: str, body: str) -> PullRequest:
        """Replace title and text; the caller keeps the mark in the body."""

    def close(self, number: int) -> None:
        """Close without merging; closing a closed one is no error."""

    def comment(self, number: int, *, key: str, body: str) -> None:
        """The one comment of this key: written the first time, replaced in place ever after."""

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """Make sure that it has these labels; others stay. Unknown labels are made."""

    def set_status(self, sha: str, state: CheckState, *, description: str, url: str) -> None:
        """The check `flotilla/gates` on a commit."""

    def merge(self, number: int, *, head: str, title: str, message: str, style: MergeStyle = MergeStyle.MERGE) -> str:
        """Merge if its head is `head`; the merge commit's id. The message carries the trailers.

        May take a minute. After any error look in Git before calling again: the merge may have happened.
        """


def marked(key: str, body: str) -> str:
    """The body with our mark, cut to what every forge takes, no line of it starting with `/` (GitLab would run it)."""
    lines = [f" {line}" if line.startswith("/") else line for line in body.splitlines()]
    return f"{MARK.format(key=key)}\n" + "\n".join(lines)[:LONGEST_TEXT]


def has_mark(key: str, body: str) -> bool:
    """Whether a line of the body is this key's mark; a quoted one is not."""
    return MARK.format(key=key) in body.splitlines()
