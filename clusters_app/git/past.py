"""The history behind a commit as the promotion plan reads it: who touched a path, and what the tree was then."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pygit2
from pygit2.enums import ObjectType, SortMode

from clusters_app.repo.history import PastCommit
from clusters_app.repo.tree import Tree

from .trailers import read_trailers
from .trees import GitTree

_ID = re.compile(r"[0-9a-f]{7,64}")


class Past:
    """The commits that a head contains. Implements `repo.history.History`; walks no further than it is asked."""

    def __init__(self, repository: pygit2.Repository, head: str) -> None:
        self._repository = repository
        self._head = head

    @classmethod
    def of_clone(cls, directory: Path) -> "Past | None":
        """The history of the commit that a clone has checked out; None for a directory that is no clone's root."""
        try:
            repository = pygit2.Repository(str(directory / ".git"))
            return cls(repository, str(repository.head.target))
        except (pygit2.GitError, KeyError):
            return None

    def touching(self, paths: Sequence[str]) -> Iterator[PastCommit]:
        for commit in self._repository.walk(pygit2.Oid(hex=self._head), SortMode.TOPOLOGICAL):
            if self._touches(commit, paths):
                yield PastCommit(str(commit.id), read_trailers(commit.message))

    def _touches(self, commit: pygit2.Commit, paths: Sequence[str]) -> bool:
        """Compared with the first parent: a merge brought in what its branch changed, and its message may say so."""
        try:
            parents = commit.parents[:1]
        except KeyError:
            # The clone is shallow: what lies behind its last commit is not known.
            parents = []
        here = self._at(commit, paths)
        return self._at(parents[0], paths) != here if parents else any(here)

    def _at(self, commit: pygit2.Commit, paths: Sequence[str]) -> list[str | None]:
        tree = GitTree(self._repository, commit.tree_id)
        return [tree.object_id(path) for path in paths]

    def tree(self, sha: str) -> Tree | None:
        if not _ID.fullmatch(sha):
            return None
        try:
            commit = self._repository.revparse_single(sha).peel(ObjectType.COMMIT)
        except (pygit2.GitError, KeyError, ValueError):
            return None
        return GitTree(self._repository, commit.tree_id)
