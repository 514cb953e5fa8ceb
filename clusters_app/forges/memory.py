"""A forge in memory, as strict as the others: the store and the Git side of `local` without disk or network."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from .base import CheckState, Draft, PullRequest, State
from .local import AlreadyOpen, LocalForge


class MemoryStore:
    """Pull requests in a dictionary. `comments`, `statuses` are there to be looked at."""

    def __init__(self, url: str = "https://flotilla.test/review", author: str = "flotilla") -> None:
        self._url = url
        self._author = author
        self._requests: dict[int, PullRequest] = {}
        self.comments: dict[tuple[int, str], str] = {}
        self.statuses: dict[str, tuple[CheckState, str, str]] = {}

    def of_base(self, base: str) -> Sequence[PullRequest]:
        return [each for _, each in sorted(self._requests.items(), reverse=True) if each.base_branch == base]

    def get(self, number: int) -> PullRequest | None:
        return self._requests.get(number)

    def insert(self, draft: Draft, *, head_sha: str, body: str) -> PullRequest:
        if any(each.state is State.OPEN and each.head_branch == draft.head for each in self.of_base(draft.base)):
            raise AlreadyOpen
        number = len(self._requests) + 1
        self._requests[number] = PullRequest(
            number=number,
            url=f"{self._url}/{number}",
            state=State.OPEN,
            head_branch=draft.head,
            head_sha=head_sha,
            base_branch=draft.base,
            title=draft.title,
            body=body,
            author=self._author,
        )
        return self._requests[number]

    def set_text(self, number: int, *, title: str, body: str) -> None:
        self._requests[number] = replace(self._requests[number], title=title, body=body)

    def settle(self, number: int, state: State, *, head_sha: str, merge_commit: str | None = None) -> bool:
        found = self._requests[number]
        if found.state is not State.OPEN:
            return False
        self._requests[number] = replace(found, state=state, head_sha=head_sha, merge_commit=merge_commit)
        return True

    def put_comment(self, number: int, key: str, body: str) -> None:
        self.comments[number, key] = body

    def put_labels(self, number: int, labels: Sequence[str]) -> None:
        found = self._requests[number]
        self._requests[number] = replace(found, labels=tuple(dict.fromkeys([*found.labels, *labels])))

    def put_status(self, sha: str, state: CheckState, description: str, url: str) -> None:
        self.statuses[sha] = (state, description, url)


@dataclass
class MemoryGit:
    """A remote as a graph of commits; each commit changes the files that it names, which is what conflicts compare."""

    branches: dict[str, str] = field(default_factory=dict)
    is_writable: bool = True
    _parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _changes: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def commit(self, branch: str, changes: Mapping[str, str], *, base: str | None = None) -> str:
        """A person's commit: on the branch, or on `base` for a new one."""
        parent = base or self.branches.get(branch)
        self.branches[branch] = self._add((parent,) if parent else (), changes)
        return self.branches[branch]

    def heads(self) -> Mapping[str, str]:
        return dict(self.branches)

    def default_branch(self) -> str | None:
        return next(iter(self.branches), None)

    def may_push(self) -> bool:
        return self.is_writable

    def contains(self, sha: str, head: str) -> bool:
        return head in self._history(sha)

    def merge_commit(self, base: str, head: str, message: str) -> str | None:
        ours, theirs = self._history(base), self._history(head)
        mine, yours = self._content(ours - theirs), self._content(theirs - ours)
        if any(mine[path] != yours[path] for path in mine.keys() & yours.keys()):
            return None
        return self._add((base, head), {"": message})

    def advance(self, branch: str, sha: str, expect: str) -> bool:
        if self.branches.get(branch) != expect:
            return False
        self.branches[branch] = sha
        return True

    def _add(self, parents: tuple[str, ...], changes: Mapping[str, str]) -> str:
        sha = hashlib.sha1(repr((parents, sorted(changes.items()))).encode(), usedforsecurity=False).hexdigest()
        self._parents[sha], self._changes[sha] = parents, changes
        return sha

    def _history(self, sha: str) -> set[str]:
        found: set[str] = set()
        waiting = [sha]
        while waiting:
            commit = waiting.pop()
            if commit not in found:
                found.add(commit)
                waiting += self._parents[commit]
        return found

    def _content(self, commits: set[str]) -> dict[str, str]:
        return {path: text for sha in commits for path, text in self._changes[sha].items() if path}


def memory_forge(git: MemoryGit, store: MemoryStore | None = None) -> LocalForge:
    """A whole forge over a remote in memory."""
    return LocalForge(
        store or MemoryStore(), git, full_name="acme/fleet", clone_url="https://git.test/acme/fleet", actor="flotilla"
    )
