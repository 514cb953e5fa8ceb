"""All simulated clusters of one repository: who hears of a commit, and which commits are replayed at a start."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from clusters_app.repo.graph import ClusterRoot
from clusters_app.repo.tree import Tree
from clusters_app.simulation.cluster import SimulatedCluster
from clusters_app.simulation.desired import desired_fleet
from clusters_app.simulation.faults import Fault

#: Commits that are replayed at most, so that a start stays quick however long the history has grown.
MOST_REPLAYED = 6


@dataclass(frozen=True, slots=True)
class Pushed:
    """A commit that the branch was at since `at`."""

    commit: str
    at: datetime


def worth_replaying(history: Sequence[Pushed], faults: Iterable[Fault]) -> list[Pushed]:
    """Of a branch's commits, oldest first: what each fault found in place, and the newest ones."""
    kept = set(history[-MOST_REPLAYED:])
    for fault in faults:
        before = [each for each in history if each.at < fault.since]
        kept |= set(before[-1:])
    return [each for each in history if each in kept]


def create_fleet(
    names: Iterable[str], *, born_at: datetime, faults: Mapping[str, tuple[Fault, ...]]
) -> dict[str, SimulatedCluster]:
    return {name: SimulatedCluster(name, born_at, faults.get(name, ())) for name in names}


def follow(
    fleet: Mapping[str, SimulatedCluster], pushed: Pushed, tree: Tree, roots: Sequence[ClusterRoot] | None = None
) -> None:
    """Tell every cluster of a commit; `roots` are their sync paths. Cost: one graph of the tree."""
    wanted = desired_fleet(tree, roots)
    for name, cluster in fleet.items():
        cluster.follow(pushed.commit, pushed.at, wanted.get(name))
