"""What the last promotion into an environment left there, from the trailers of commits.

The trailers are facts that travel in Git, so this works on a clone without any database.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from clusters_app.repo.environments import canonical
from clusters_app.repo.tree import Tree

PROMOTION, RELEASE, STAGE, APP, SOURCE = (
    "Flotilla-Promotion",
    "Flotilla-Release",
    "Flotilla-Stage",
    "Flotilla-App",
    "Flotilla-Source",
)


@dataclass(frozen=True, slots=True)
class PastCommit:
    """A commit with the trailers that its message holds at the start of a line."""

    sha: str
    trailers: tuple[tuple[str, str], ...]

    def values(self, key: str) -> tuple[str, ...]:
        return tuple(value for name, value in self.trailers if name == key)


class History(Protocol):
    """The commits behind the tree that is planned on."""

    def touching(self, paths: Sequence[str]) -> Iterable[PastCommit]:
        """Commits that changed one of the files or directories, newest first."""

    def tree(self, sha: str) -> Tree | None:
        """The tree of a commit (a full or unambiguous id), None when it is not known here."""


class NoHistory:
    """For a tree of which nothing is known but itself."""

    def touching(self, paths: Sequence[str]) -> Iterable[PastCommit]:
        del paths
        return ()

    def tree(self, sha: str) -> Tree | None:
        del sha
        return None


@dataclass(frozen=True, slots=True)
class LastPromotion:
    """The last promotion into a place: `written` is the tree that it left.

    `source` is the tree that it carried from, None when its message names no commit that is known here.
    """

    sha: str
    written: Tree
    source: Tree | None


def last_promotion(history: History, app: str, environment: str, paths: Sequence[str]) -> LastPromotion | None:
    """The newest commit with our trailers that touched these paths for this app and this environment."""
    for commit in history.touching(paths):
        if not _is_ours(commit, app, environment):
            continue
        written = history.tree(commit.sha)
        if written is not None:
            sources = [tree for sha in commit.values(SOURCE) if (tree := history.tree(sha)) is not None]
            return LastPromotion(commit.sha, written, sources[-1] if sources else None)
    return None


def _is_ours(commit: PastCommit, app: str, environment: str) -> bool:
    apps, stages = commit.values(APP), commit.values(STAGE)
    return bool(
        commit.values(PROMOTION)
        and (not apps or app in apps)
        and (not stages or canonical(environment) in {canonical(stage.partition(".")[0]) for stage in stages})
    )
