"""What the System page shows of the installation itself: work that waits, rounds, rows. Database only."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.metadata import version

import django
from django.db import connection
from django.db.models import Avg, Max, Min

from clusters_app.models import AuditRecord, Cluster, ClusterStatus, FluxObject, Operation, Promotion, Repository


@dataclass(frozen=True, slots=True)
class SystemFacts:
    """Ages are moments; None when there was none. `overdue_…`: due for more than a minute, so nobody works on it."""

    version: str
    django_version: str
    database: str
    clusters: int
    objects: int
    repositories: int
    last_round_at: datetime | None
    slowest_round_seconds: float | None
    mean_round_seconds: float | None
    overdue_clusters: int
    waiting_operations: int
    moving_promotions: int
    stuck_promotions: int
    audit_records: int
    oldest_due_at: datetime | None


def system_facts(now: datetime) -> SystemFacts:
    """A dozen cheap queries."""
    rounds = ClusterStatus.objects.aggregate(
        last=Max("observed_at"), slowest=Max("round_seconds"), mean=Avg("round_seconds"), oldest=Min("due_at")
    )
    moving = Promotion.objects.filter(state__in=Promotion.MOVING_STATES)
    return SystemFacts(
        version=version("flotilla"),
        django_version=django.get_version(),
        database=connection.vendor,
        clusters=Cluster.objects.count(),
        objects=FluxObject.objects.filter(gone_at=None).count(),
        repositories=Repository.objects.count(),
        last_round_at=rounds["last"],
        slowest_round_seconds=rounds["slowest"],
        mean_round_seconds=rounds["mean"],
        overdue_clusters=ClusterStatus.objects.filter(due_at__lt=now - timedelta(minutes=1)).count(),
        waiting_operations=Operation.objects.exclude(state__in=("done", "failed")).count(),
        moving_promotions=moving.count(),
        stuck_promotions=moving.exclude(problem="").count(),
        audit_records=AuditRecord.objects.count(),
        oldest_due_at=rounds["oldest"],
    )
