"""Problems: one row a cause, not a row an object. The same cause on several clusters is one row with a list of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import IntegerField, Q, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from clusters_app.flux.verdicts import BROKEN, Control, Health
from clusters_app.models import Cluster, ClusterStatus, FluxObject

from .fleet import cluster_row
from .visible import Person, clusters_visible_to, objects_visible_to

_WRONG = (*BROKEN, Health.DEGRADED, Health.PENDING_APPROVAL)


@dataclass(frozen=True, slots=True)
class Problem:
    """One cause. `subject` is the root (`Kind/namespace/name`), `held` how many objects wait for it besides itself."""

    subject: str
    health: str
    explain_id: str
    cause: str
    remedy: str
    command: str
    link: str
    message: str
    since: datetime | None
    clusters: tuple[Cluster, ...]
    roots: tuple[FluxObject, ...]
    held: int


@dataclass(frozen=True, slots=True)
class Silence:
    """A cluster that is not seen lately or not as it should be: a problem of the connection, not of an object."""

    cluster: Cluster
    status: ClusterStatus
    standing: str
    since: datetime | None


def problems(user: Person) -> list[Problem]:
    """Everything broken or waiting for a person, oldest first. Two queries."""
    broken = objects_visible_to(user).filter(gone_at=None)
    wrong = broken.filter(Q(health__in=_WRONG) | Q(control=Control.ORPHANED)).exclude(control=Control.SUSPENDED)
    blocked = broken.exclude(caused_by="").exclude(control=Control.SUSPENDED)
    roots: dict[tuple[str, str, str], list[FluxObject]] = {}
    for row in wrong.filter(caused_by=""):
        roots.setdefault((str(row), row.explain_id, row.explain_cause), []).append(row)
    held: dict[tuple[int, str], int] = {}
    for cluster_id, caused_by in blocked.values_list("cluster_id", "caused_by"):
        held[cluster_id, caused_by] = held.get((cluster_id, caused_by), 0) + 1
    found = [_problem(rows, held) for rows in roots.values()]
    found += _absent(blocked, {(row.cluster_id, str(row)) for rows in roots.values() for row in rows})
    return sorted(found, key=lambda problem: (problem.since is None, problem.since, problem.subject))


def _problem(rows: list[FluxObject], held: dict[tuple[int, str], int]) -> Problem:
    waiting = sum(held.get((row.cluster_id, str(row)), 0) for row in rows)
    return _row(str(rows[0]), rows, roots=tuple(rows), held=waiting)


def _absent(blocked: Iterable[FluxObject], known: set[tuple[int, str]]) -> list[Problem]:
    """Roots that do not exist, or that look well themselves: what waits for them would otherwise have no row."""
    waiting: dict[str, list[FluxObject]] = {}
    for row in blocked:
        if (row.cluster_id, row.caused_by) not in known and row.health in BROKEN:
            waiting.setdefault(row.caused_by, []).append(row)
    return [_row(subject, rows, roots=(), held=len(rows)) for subject, rows in waiting.items()]


def _row(subject: str, rows: list[FluxObject], *, roots: tuple[FluxObject, ...], held: int) -> Problem:
    """The explanation of the first of these objects, which share one cause, with the clusters of all."""
    first = rows[0]
    return Problem(
        subject=subject,
        health=first.health,
        explain_id=first.explain_id,
        cause=first.explain_cause,
        remedy=first.explain_remedy,
        command=first.explain_command,
        link=first.explain_link,
        message=first.message,
        since=min(row.failing_since or row.changed_at for row in rows),
        clusters=tuple({row.cluster_id: row.cluster for row in rows}.values()),
        roots=roots,
        held=held,
    )


def silences(user: Person, now: datetime) -> list[Silence]:
    """Clusters that nobody has evidence of, or that answer less than they should. One query."""
    rows = [cluster_row(cluster, now) for cluster in clusters_visible_to(user)]
    return [
        Silence(row.cluster, row.status, row.standing, row.status.observed_at)
        for row in rows
        if not row.is_live or row.status.connection != ClusterStatus.Connection.CONNECTED
    ]


def count_of_problems(user: Person) -> int:
    """How many objects fail by themselves, or wait for what does not exist: what the navigation shows. One query."""
    failing = Cast(KeyTextTransform("failing", "status__counts"), IntegerField())
    return clusters_visible_to(user).aggregate(sum=Sum(failing))["sum"] or 0
