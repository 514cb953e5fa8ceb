"""Roll-ups of one cluster: counts by kind, and the sums, worst health and first cause that the board shows."""

from collections import Counter
from collections.abc import Iterable

from clusters_app.flux.verdicts import BROKEN, Control, Health
from clusters_app.models import Cluster, ClusterStatus, FluxObject, KindCount


def store_counts(cluster: Cluster) -> None:
    """The roll-up, from the rows as they now are: a fixed number of queries."""
    rows = list(
        FluxObject.objects.filter(cluster=cluster, gone_at=None).values_list(
            "kind", "health", "control", "caused_by", "settled_health", "heartbeat"
        )
    )
    KindCount.objects.filter(cluster=cluster).delete()
    KindCount.objects.bulk_create(
        KindCount(cluster=cluster, kind=kind, health=health, control=control, count=count)
        for (kind, health, control), count in Counter(row[:3] for row in rows).items()
    )
    counts = Counter(_standing(*row[1:]) for row in rows)
    root = (
        FluxObject.objects.filter(cluster=cluster, gone_at=None, caused_by="", health__in=BROKEN)
        .exclude(control=Control.SUSPENDED)
        .order_by("failing_since")
        .first()
    )
    ClusterStatus.objects.filter(pk=cluster.pk).update(
        counts={**counts, "total": len(rows)},
        health=_worst(row[4] for row in rows),
        cause=root.explain_cause or root.message if root else "",
        cause_object=str(root) if root else "",
    )


def _standing(health: str, control: str, caused_by: str, _settled: str, heartbeat: str) -> str:
    """In which of the board's counts an object stands: blocked ones wait, and are counted once under their root."""
    if control == Control.SUSPENDED:
        return "suspended"
    if control == Control.ORPHANED or heartbeat != "Live":
        return "unseen"
    if health in {Health.READY, Health.STATIC}:
        return "ready"
    if health in BROKEN | {Health.DEGRADED}:
        return "waiting" if caused_by else "failing"
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
