"""The parts of Gitea's answers that are used. Unknown fields are ignored; a missing one is named by its path."""

import msgspec

from .base import PullRequest, State


class GiteaUser(msgspec.Struct, frozen=True):
    login: str


class GiteaPermissions(msgspec.Struct, frozen=True):
    """Rights of the *user*: a token that may only read shows its owner's right to push here."""

    admin: bool = False
    push: bool = False
    pull: bool = False


class GiteaRepository(msgspec.Struct, frozen=True):
    id: int
    full_name: str
    clone_url: str
    default_branch: str
    empty: bool = False
    archived: bool = False
    private: bool = False
    has_pull_requests: bool = True
    permissions: GiteaPermissions = GiteaPermissions()


class GiteaLabel(msgspec.Struct, frozen=True):
    id: int
    name: str


class GiteaComment(msgspec.Struct, frozen=True):
    id: int
    body: str


class GiteaBranch(msgspec.Struct, frozen=True):
    """One side of a pull request. `label` is the branch's name and stays when the branch is deleted; `ref` does not."""

    label: str
    sha: str
    repo_id: int


class GiteaPullRequest(msgspec.Struct, frozen=True):
    number: int
    html_url: str
    state: str
    title: str
    head: GiteaBranch
    base: GiteaBranch
    merged: bool = False
    body: str | None = None
    user: GiteaUser | None = None
    labels: list[GiteaLabel] | None = None
    merge_commit_sha: str | None = None
    mergeable: bool | None = None

    @property
    def is_of_this_repository(self) -> bool:
        """False for one from a fork, whose branch may have any name."""
        return self.head.repo_id == self.base.repo_id

    def value(self) -> PullRequest:
        state = State.MERGED if self.merged else State.OPEN if self.state == "open" else State.CLOSED
        return PullRequest(
            number=self.number,
            url=self.html_url,
            state=state,
            head_branch=self.head.label,
            head_sha=self.head.sha,
            base_branch=self.base.label,
            title=self.title,
            body=self.body or "",
            author=self.user.login if self.user else "",
            labels=tuple(label.name for label in self.labels or ()),
            merge_commit=self.merge_commit_sha if self.merged else None,
            mergeable=self.mergeable,
        )
