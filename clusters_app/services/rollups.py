"""Roll-ups of one cluster: counts by kind, and the sums, worst health and first cause that the board shows."""

from collections import Counter
from collections.abc import Iterable

from clusters_app.flux.verdicts import BROKEN, Control, Health
from clusters_app.models import Cluster, ClusterStatus, FluxObject, KindCount


def store_counts(cluster: Cluster) -> None:
    """The roll-up, from the rows as they now are: a fixed number of queries."""
    rows = list(FluxObject.objects.filter(cluster=cluster, gone_at=None).defer("memory", "notices"))
    KindCount.objects.filter(cluster=cluster).delete()
    KindCount.objects.bulk_create(
        KindCount(cluster=cluster, kind=kind, health=health, control=control, count=count)
        for (kind, health, control), count in Counter((row.kind, row.health, row.control) for row in rows).items()
    )
    present = {str(row) for row in rows}
    standings = {row: _standing(row, is_blocked=row.caused_by in present) for row in rows}
    counts = Counter(standings.values())
    roots = [row for row, standing in standings.items() if standing == "failing" and row.health in BROKEN]
    root = min(roots, key=lambda row: row.failing_since or row.changed_at, default=None)
    ClusterStatus.objects.filter(pk=cluster.pk).update(
        counts={**counts, "total": len(rows)},
        health=_worst(row.settled_health for row in rows),
        cause=root.explain_cause or root.message if root else "",
        cause_object=str(root) if root else "",
    )


def _standing(row: FluxObject, *, is_blocked: bool) -> str:
    """In which of the board's counts an object stands: blocked ones wait, and are counted once under their root.

    What waits for an object that does not exist is the nearest thing to a root that there is.
    """
    if row.control == Control.SUSPENDED:
        return "suspended"
    if row.control == Control.ORPHANED or row.heartbeat != "Live":
        return "unseen"
    if row.health in {Health.READY, Health.STATIC}:
        return "ready"
    if row.health in BROKEN | {Health.DEGRADED}:
        return "waiting" if is_blocked else "failing"
    return "waiting"


_WORST_FIRST = (
    Health.STALLED,
    Health.FAILING,
    Health.DEGRADED,
    Health.UNKNOWN,
    Health.PENDING_APPROVAL,
    Health.TERMINATING,
    Health.WAITING,
    Health.PROGRESSING,
    Health.READY,
    Health.STATIC,
)


def _worst(healths: Iterable[str]) -> str:
    return min(healths, key=lambda health: _WORST_FIRST.index(Health(health)), default="")
