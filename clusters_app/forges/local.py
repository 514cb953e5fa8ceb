"""Flotilla's own review over a Git remote that has no pull requests: kept by a store, merged by the git adapter."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from .base import (
    CheckState,
    Draft,
    ForgeKind,
    MergeStyle,
    PullRequest,
    RepositoryFacts,
    Rights,
    State,
    marked,
)
from .errors import forge_error
from .rights import PUSH


class AlreadyOpen(Exception):
    """The store has an open pull request from this branch into this base."""


class RequestStore(Protocol):
    """Where pull requests of one repository are kept. Numbers rise from 1 and are never used twice."""

    def of_base(self, base: str) -> Sequence[PullRequest]:
        """All of a base branch, newest first."""

    def get(self, number: int) -> PullRequest | None: ...

    def insert(self, draft: Draft, *, head_sha: str, body: str) -> PullRequest:
        """A new open one. Raises AlreadyOpen, decided by the store's own uniqueness and not by looking first."""

    def set_text(self, number: int, *, title: str, body: str) -> None: ...

    def settle(self, number: int, state: State, *, head_sha: str, merge_commit: str | None = None) -> bool:
        """Open becomes merged or closed, by compare-and-set; False when it was not open."""

    def put_comment(self, number: int, key: str, body: str) -> None:
        """Write or replace the comment of this key."""

    def put_labels(self, number: int, labels: Sequence[str]) -> None:
        """Add labels."""

    def put_status(self, sha: str, state: CheckState, description: str, url: str) -> None:
        """The gates' status of a commit."""


class LocalGit(Protocol):
    """What the review needs of Git: the remote's branches, and a merge that never overwrites."""

    def heads(self) -> Mapping[str, str]:
        """Branches of the remote with their commits, now."""

    def default_branch(self) -> str | None: ...

    def may_push(self) -> bool:
        """Whether the credential may write, tried without changing anything."""

    def contains(self, sha: str, head: str) -> bool:
        """Whether the history of `sha` holds `head`."""

    def merge_commit(self, base: str, head: str, message: str) -> str | None:
        """A merge commit of two commits, None when they conflict. Moves nothing."""

    def advance(self, branch: str, sha: str, expect: str) -> bool:
        """Move the remote's branch if it is at `expect`; False when it is not."""


class LocalForge:
    """One plain remote with Flotilla's own pull requests. `url` is the address of its review pages."""

    kind = ForgeKind.LOCAL

    def __init__(self, store: RequestStore, git: LocalGit, *, full_name: str, clone_url: str, actor: str) -> None:
        self._store = store
        self._git = git
        self._full_name = full_name
        self._clone_url = clone_url
        self._actor = actor

    def rights(self) -> Rights:
        return Rights(self._actor, () if self._git.may_push() else (PUSH,))

    def repository(self) -> RepositoryFacts:
        return RepositoryFacts(
            id=self._full_name,
            full_name=self._full_name,
            clone_url=self._clone_url,
            default_branch=self._git.default_branch() or "main",
            is_empty=not self._git.heads(),
            is_archived=False,
            is_private=True,
        )

    def find(self, *, head: str, base: str) -> list[PullRequest]:
        found = [each for each in self._store.of_base(base) if each.head_branch == head]
        heads = self._git.heads() if any(each.state is State.OPEN for each in found) else {}
        return [_now(each, heads) for each in found]

    def read(self, number: int) -> PullRequest:
        found = self._stored(number)
        return _now(found, self._git.heads()) if found.state is State.OPEN else found

    def create(self, draft: Draft) -> PullRequest:
        heads = self._git.heads()
        for branch in (draft.head, draft.base):
            if branch not in heads:
                raise forge_error("forge.branch-missing", branch=branch)
        head = heads[draft.head]
        if self._git.contains(heads[draft.base], head):
            raise forge_error("forge.no-changes", head=draft.head, base=draft.base)
        try:
            made = self._store.insert(draft, head_sha=head, body=marked(draft.key, draft.body))
        except AlreadyOpen as error:
            raise forge_error("forge.already-open", head=draft.head) from error
        if draft.labels:
            self._store.put_labels(made.number, draft.labels)
        return self._stored(made.number)

    def update(self, number: int, *, title: str, body: str) -> PullRequest:
        self._stored(number)
        self._store.set_text(number, title=title, body=body)
        return self.read(number)

    def close(self, number: int) -> None:
        found = self.read(number)
        if found.state is State.MERGED:
            raise forge_error("forge.already-merged")
        self._store.settle(number, State.CLOSED, head_sha=found.head_sha)

    def comment(self, number: int, *, key: str, body: str) -> None:
        self._stored(number)
        self._store.put_comment(number, key, marked(key, body))

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        self._stored(number)
        self._store.put_labels(number, labels)

    def set_status(self, sha: str, state: CheckState, *, description: str, url: str) -> None:
        self._store.put_status(sha, state, description, url)

    def merge(self, number: int, *, head: str, title: str, message: str, style: MergeStyle = MergeStyle.MERGE) -> str:
        """The push of the merge commit with the base's exact lease is the merge; the row follows it."""
        found = self._mergeable(number, style)
        heads = self._git.heads()
        base = heads.get(found.base_branch)
        if base is None:
            raise forge_error("forge.branch-missing", branch=found.base_branch)
        if self._git.contains(base, head):
            # A merge that was pushed and not written down. Its commit is the base's head, or below it.
            self._store.settle(number, State.MERGED, head_sha=head, merge_commit=base)
            return base
        if heads.get(found.head_branch) != head:
            raise forge_error("forge.head-moved")
        merged = self._git.merge_commit(base, head, f"{title}\n\n{message}".strip())
        if merged is None:
            raise forge_error("forge.conflict")
        if not self._git.advance(found.base_branch, merged, base):
            raise forge_error("forge.base-moved")
        self._store.settle(number, State.MERGED, head_sha=head, merge_commit=merged)
        return merged

    def _mergeable(self, number: int, style: MergeStyle) -> PullRequest:
        found = self._stored(number)
        if style is not MergeStyle.MERGE:
            raise forge_error("forge.style")
        if found.state is State.MERGED:
            raise forge_error("forge.already-merged")
        if found.state is State.CLOSED:
            raise forge_error("forge.closed")
        return found

    def _stored(self, number: int) -> PullRequest:
        found = self._store.get(number)
        if found is None:
            raise forge_error("forge.not-found", host=self._full_name, path=f"#{number}")
        return found


def _now(found: PullRequest, heads: Mapping[str, str]) -> PullRequest:
    """An open one with the head that its branch has on the remote now."""
    if found.state is not State.OPEN or found.head_branch not in heads:
        return found
    return replace(found, head_sha=heads[found.head_branch])
