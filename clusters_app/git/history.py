"""What changed between commits, read from the mirror's objects."""

from collections.abc import Iterator, Sequence

import pygit2
from pygit2.enums import SortMode

from .commits import Commit, describe
from .trees import GitTree


def log(
    repository: pygit2.Repository, base: pygit2.Commit | None, head: pygit2.Commit, paths: Sequence[str], limit: int
) -> list[Commit]:
    """Commits that `head` has and `base` lacks, newest first; with `paths` those that changed one of them."""
    found: list[Commit] = []
    for commit in _walk(repository, base, head):
        if len(found) == limit:
            break
        if not paths or _touches(repository, commit, paths):
            found.append(describe(commit))
    return found


def changed_paths(base: pygit2.Commit, head: pygit2.Commit) -> list[str]:
    """Paths that differ between two commits, sorted."""
    difference = base.tree.diff_to_tree(head.tree)
    return sorted({path for delta in difference.deltas for path in (delta.old_file.path, delta.new_file.path)})


def _walk(repository: pygit2.Repository, base: pygit2.Commit | None, head: pygit2.Commit) -> Iterator[pygit2.Commit]:
    walker = repository.walk(head.id, SortMode.TOPOLOGICAL)
    if base is not None:
        walker.hide(base.id)
    return iter(walker)


def _touches(repository: pygit2.Repository, commit: pygit2.Commit, paths: Sequence[str]) -> bool:
    """A merge touches a path when it differs there from each of its parents: what it only brings in is not its own."""
    here = GitTree(repository, commit.tree_id)
    parents = [GitTree(repository, parent.tree_id) for parent in commit.parents]
    if not parents:
        return any(here.object_id(path) for path in paths)
    return all(any(here.object_id(path) != there.object_id(path) for path in paths) for there in parents)
