"""The fleet as a board: environments in promotion order, their clusters, counts first. A fixed number of queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Q

from clusters_app.flux.freshness import Freshness
from clusters_app.models import Cluster, ClusterStatus, Environment

from .visible import Person, clusters_visible_to, environments_visible_to, freshness_of

#: How a cluster stands, worst first; each has its own shape, word and colour.
STANDINGS = ("failing", "lost", "stale", "degraded", "progressing", "suspended", "ready", "unknown")


@dataclass(frozen=True, slots=True)
class Counts:
    """Objects by how they stand. Those of a cluster that is not seen lately are `unseen` and nothing else."""

    ready: int = 0
    failing: int = 0
    waiting: int = 0
    suspended: int = 0
    unseen: int = 0

    @property
    def total(self) -> int:
        return self.ready + self.failing + self.waiting + self.suspended + self.unseen

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.ready + other.ready,
            self.failing + other.failing,
            self.waiting + other.waiting,
            self.suspended + other.suspended,
            self.unseen + other.unseen,
        )


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """One cluster on the board. `standing` is one of STANDINGS and green ("ready") only with fresh evidence.

    `chain` tells for head, fetched, applied, healthy whether the cluster is there ("done"), not yet ("todo") or
    stopped ("stop"); all "unknown" when it was not seen lately.
    """

    cluster: Cluster
    status: ClusterStatus
    freshness: Freshness
    standing: str
    counts: Counts
    chain: tuple[str, str, str, str]

    @property
    def is_live(self) -> bool:
        return self.freshness is Freshness.LIVE


@dataclass(frozen=True, slots=True)
class EnvironmentGroup:
    environment: Environment
    rows: tuple[ClusterRow, ...]

    @property
    def counts(self) -> Counts:
        return sum((row.counts for row in self.rows), Counts())

    @property
    def heads(self) -> tuple[tuple[str, datetime | None], ...]:
        """Head and its time of each repository that these clusters follow."""
        followed = {row.cluster.repository.pk: row.cluster.repository for row in self.rows}
        return tuple(sorted((each.head, each.head_at) for each in followed.values() if each.head))


@dataclass(frozen=True, slots=True)
class Board:
    groups: tuple[EnvironmentGroup, ...]
    counts: Counts
    #: Our clock at the newest round of any cluster; None when none was ever read.
    seen_at: datetime | None
    #: Nobody observes although something should be observed: the page says so in red.
    is_unwatched: bool
    causes: int

    @property
    def clusters(self) -> int:
        return sum(len(group.rows) for group in self.groups)


@dataclass(frozen=True, slots=True)
class Filters:
    """What the page's chips and the API's parameters narrow down to; empty means everything."""

    environment: str = ""
    standing: str = ""
    freshness: str = ""
    is_behind: bool = False
    text: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return self == Filters()

    def fits(self, row: ClusterRow) -> bool:
        if self.standing and row.standing != self.standing:
            return False
        if self.freshness == "unseen" and row.is_live:
            return False
        if self.freshness not in {"", "unseen"} and row.freshness != self.freshness:
            return False
        return not self.is_behind or bool(row.status.commits_behind)


def fleet_board(user: Person, now: datetime, filters: Filters | None = None) -> Board:
    """What this person sees of the fleet. Environments without clusters are shown as well, unless filtered."""
    filters = filters or Filters()
    environments = list(environments_visible_to(user))
    rows = [cluster_row(cluster, now) for cluster in _matching(user, filters)]
    shown = [row for row in rows if filters.fits(row)]
    seen = [row.status.observed_at for row in rows if row.status.observed_at]
    return Board(
        groups=tuple(_groups(environments, shown, filters)),
        counts=sum((row.counts for row in shown), Counts()),
        seen_at=max(seen, default=None),
        is_unwatched=_is_unwatched(rows, now),
        causes=len({(row.status.cause_object, row.status.cause) for row in shown if row.standing == "failing"}),
    )


def _matching(user: Person, filters: Filters) -> Sequence[Cluster]:
    clusters = clusters_visible_to(user)
    if filters.environment:
        clusters = clusters.filter(environment__name=filters.environment)
    if filters.text:
        clusters = clusters.filter(Q(name__icontains=filters.text) | Q(sync_path__icontains=filters.text))
    # Labels are few and compared here: a key of somebody's choice must not become a lookup of the database.
    wanted = filters.labels.items()
    return [cluster for cluster in clusters if all(cluster.labels.get(key) == value for key, value in wanted)]


def _groups(
    environments: Sequence[Environment], rows: Sequence[ClusterRow], filters: Filters
) -> list[EnvironmentGroup]:
    groups = []
    for environment in environments:
        here = tuple(row for row in rows if row.cluster.environment_id == environment.pk)
        if here or filters.is_empty:
            groups.append(EnvironmentGroup(environment, here))
    return groups


def cluster_row(cluster: Cluster, now: datetime) -> ClusterRow:
    """How one cluster stands now; no query when its status is joined."""
    status = cluster.status
    freshness = freshness_of(status, now)
    counts = _counts(status, freshness)
    standing = _standing(cluster, status, freshness, counts)
    return ClusterRow(cluster, status, freshness, standing, counts, _chain(status, freshness, standing))


def _counts(status: ClusterStatus, freshness: Freshness) -> Counts:
    stored = status.counts
    if freshness is not Freshness.LIVE:
        return Counts(unseen=stored.get("total", 0))
    return Counts(
        ready=stored.get("ready", 0),
        failing=stored.get("failing", 0),
        waiting=stored.get("waiting", 0),
        suspended=stored.get("suspended", 0),
        unseen=stored.get("unseen", 0),
    )


def _standing(cluster: Cluster, status: ClusterStatus, freshness: Freshness, counts: Counts) -> str:
    if status.observed_at is None or cluster.is_paused:
        return "unknown"
    if freshness is Freshness.LOST:
        return "lost"
    if freshness is not Freshness.LIVE:
        return "stale"
    return next(
        (
            standing
            for standing, applies in (
                ("failing", counts.failing > 0),
                ("degraded", status.connection != ClusterStatus.Connection.CONNECTED or counts.unseen > 0),
                ("progressing", counts.waiting > 0),
                ("suspended", counts.suspended > 0),
                ("ready", counts.ready > 0),
            )
            if applies
        ),
        "unknown",
    )


def _chain(status: ClusterStatus, freshness: Freshness, standing: str) -> tuple[str, str, str, str]:
    if freshness is not Freshness.LIVE or not status.head:
        return ("unknown",) * 4
    steps = ["done"]
    for commit in (status.fetched, status.applied, status.healthy):
        steps.append("done" if steps[-1] == "done" and commit == status.head else "todo")
    if standing == "failing" and "todo" in steps:
        steps[steps.index("todo")] = "stop"
    elif standing == "failing":
        steps[-1] = "stop"
    return (steps[0], steps[1], steps[2], steps[3])


def _is_unwatched(rows: Sequence[ClusterRow], now: datetime) -> bool:
    """Nothing was even tried for a while: no worker observes. An unreachable cluster is tried all the same."""
    tried = [row.status.attempted_at for row in rows if row.status.attempted_at]
    expected = [row for row in rows if not row.cluster.is_paused]
    if not expected:
        return False
    newest = max(tried, default=None)
    registered = min(row.cluster.created_at for row in expected)
    return (now - (newest or registered)).total_seconds() > 60
