"""Rounds: which clusters are due, reading a batch of them at once, and handing each result to `storing` as it comes.

A cluster that is slow or silent holds nobody up: results are stored in the order they arrive, clusters that failed last
time are read in batches of their own, and each failure doubles the pause until the next attempt.
"""

import asyncio
import logging
import random
import threading
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from queue import SimpleQueue

from django.conf import settings
from django.db import close_old_connections
from django.db.models import Q
from django.utils import timezone

from clusters_app.kube import loop
from clusters_app.kube.client import Clients
from clusters_app.kube.connection import Connection
from clusters_app.kube.errors import KubeError
from clusters_app.kube.observe import Observation, RoundMemory, observe
from clusters_app.models import Cluster, ClusterStatus, FluxObject, StatusChange

from .clusters import connections_of
from .errors import ServiceError
from .nudges import nudge
from .outside import policy
from .storing import store_failure, store_round

logger = logging.getLogger(__name__)

BATCH, SLOW_BATCH = 20, 5
DEADLINE_SECONDS = 20.0
#: A claimed cluster comes back by itself when the worker that claimed it died.
CLAIM = timedelta(seconds=60)
SLOWEST = timedelta(minutes=5)
KEEP_GONE = timedelta(days=1)
KEEP_HISTORY = timedelta(days=90)

# One a process: connections stay open from round to round, and an unchanged list is not decoded twice.
_clients: Clients | None = None
_memories: dict[int, RoundMemory] = {}


def claim_due_clusters() -> Iterator[list[int]]:
    """Batches of ids of clusters whose round is due, each claimed by compare-and-set; the failing ones apart."""
    now = timezone.now()
    due = ClusterStatus.objects.filter(Q(due_at=None) | Q(due_at__lte=now), cluster__is_paused=False)
    well: list[int] = []
    failing: list[int] = []
    for pk, failures in due.values_list("pk", "failures"):
        claimed = ClusterStatus.objects.filter(Q(due_at=None) | Q(due_at__lte=now), pk=pk).update(due_at=now + CLAIM)
        if claimed:
            (failing if failures else well).append(pk)
    for ids, size in ((well, BATCH), (failing, SLOW_BATCH)):
        for start in range(0, len(ids), size):
            yield ids[start : start + size]


def observe_clusters(*, cluster_ids: Sequence[int]) -> None:
    """Read these clusters side by side and store each one's round. What a cluster does never raises here."""
    clusters = {cluster.pk: cluster for cluster in Cluster.objects.filter(pk__in=cluster_ids).select_related("status")}
    now = timezone.now()
    connections = connections_of(list(clusters.values()))
    reachable: dict[int, Connection] = {}
    for pk, connection in connections.items():
        if isinstance(connection, ServiceError):
            store_failure(cluster=clusters[pk], code=connection.code, text=str(connection), attempted_at=now)
            _schedule(clusters[pk], now, is_failed=True)
        else:
            reachable[pk] = connection
    stored = [pk for pk, result in _read(clusters, reachable, now) if _store(clusters[pk], result, now)]
    if stored:
        nudge("follow_clusters", stored)


def _read(
    clusters: Mapping[int, Cluster], connections: Mapping[int, Connection], now: datetime
) -> Iterator[tuple[int, Observation | KubeError]]:
    """Each cluster's result as soon as it is there, while the others are still being read."""
    results: SimpleQueue[tuple[int, Observation | KubeError] | None] = SimpleQueue()
    work = _observe_all(clusters, connections, now, results)
    reader = threading.Thread(target=_run_to_end, args=(work, results), name="observe", daemon=True)
    reader.start()
    while (result := results.get()) is not None:
        yield result
    reader.join()


def _run_to_end(
    work: Coroutine[object, object, None], results: SimpleQueue[tuple[int, Observation | KubeError] | None]
) -> None:
    try:
        loop.run(work, timeout_seconds=DEADLINE_SECONDS + 10)
    except TimeoutError:
        # Each cluster has a deadline of its own, so our own machine was too slow: they stay claimed and come due again.
        logger.warning("A batch of clusters was not read in time; the next sweep takes them up.")
    finally:
        results.put(None)


async def _observe_all(
    clusters: Mapping[int, Cluster],
    connections: Mapping[int, Connection],
    now: datetime,
    results: SimpleQueue[tuple[int, Observation | KubeError] | None],
) -> None:

    global _clients  # noqa: PLW0603  one a process is the point
    _clients = _clients or Clients(policy())
    kept = _clients

    async def one(pk: int, connection: Connection) -> None:
        cluster = clusters[pk]
        try:
            client = await kept.client(pk, connection)
            result: Observation | KubeError = await observe(
                client,
                now=now,
                memory=_memories.get(pk),
                deadline_seconds=DEADLINE_SECONDS,
                flux_namespace=cluster.flux_namespace,
                expected_uid=cluster.identity or None,
            )
        except KubeError as error:
            result = error
        results.put((pk, result))

    await asyncio.gather(*(one(pk, connection) for pk, connection in connections.items()))


def _store(cluster: Cluster, result: Observation | KubeError, now: datetime) -> bool:
    """Store one result and plan the next round; True when the cluster's rows may have changed."""
    close_old_connections()
    fault = result if isinstance(result, KubeError) else result.fault
    if fault is not None:
        store_failure(
            cluster=cluster,
            code=fault.code,
            text=f"{fault} {fault.remedy}",
            attempted_at=now,
            connection=fault.connection,
        )
        _schedule(cluster, now, is_failed=True, asked=fault.retry_after_seconds)
        return False
    if isinstance(result, KubeError):  # only for the type checker: its fault was handled above
        return False
    store_round(cluster=cluster, observation=result, now=now)
    if result.memory is not None:
        _memories[cluster.pk] = result.memory
    _schedule(cluster, now, is_failed=False, asked=result.retry_after_seconds)
    return True


def _schedule(cluster: Cluster, began: datetime, *, is_failed: bool, asked: float | None = None) -> None:
    """The next round: a period with jitter after this one began, later and later while it fails, never before asked."""
    period = timedelta(seconds=settings.FLOTILLA_OBSERVE_SECONDS)
    failures = cluster.status.failures + 1 if is_failed else 0
    pause = min(period * 2 ** max(0, failures - 1), SLOWEST) * random.uniform(0.9, 1.1)  # noqa: S311  jitter
    pause = max(pause, timedelta(seconds=asked or 0))
    due = max(began + pause, timezone.now())
    ClusterStatus.objects.filter(pk=cluster.pk).update(due_at=due, failures=failures)


def forget_old() -> None:
    """Objects gone for a day, and verdict history past its time."""
    now = timezone.now()
    FluxObject.objects.filter(gone_at__lt=now - KEEP_GONE).delete()
    StatusChange.objects.filter(at__lt=now - KEEP_HISTORY).delete()
