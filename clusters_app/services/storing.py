"""Writing down what a round found: verdicts of the whole cluster, only the rows that changed, roll-ups beside them.

What a round could not read stays as it was, with its own age. Nothing is ever overwritten with zero.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

import msgspec
import xxhash
from django.db import transaction

from clusters_app.flux.conditions import comparable
from clusters_app.flux.identity import ObjectRef
from clusters_app.flux.leases import LeaseSeen, remember_leases
from clusters_app.flux.resources import Unreadable
from clusters_app.flux.status import judge, remember
from clusters_app.flux.structs import Resource
from clusters_app.flux.verdicts import Memory, Verdict
from clusters_app.ingest import clean_line, clean_text
from clusters_app.kube.observe import Observation
from clusters_app.models import Cluster, ClusterStatus, FluxObject, KindReading, ObjectDetail, StatusChange

from .rollups import store_counts

Connection = ClusterStatus.Connection

#: Columns that an upsert may change: all that a verdict says, never the identity.
_VERDICT_FIELDS = [
    field.name
    for field in FluxObject._meta.concrete_fields
    if field.name not in {"id", "cluster", "kind", "namespace", "name"}
]
#: What differs from round to round without anything having happened.
_NOT_COMPARED = {"evidence_at", "changed_at", "digest", "message"}
_UPSERT_BATCH = 500
#: Beyond this the count of failures in a row says nothing more, and must not rewrite a failing row for ever.
_FAILURES_COUNTED = 3


def store_failure(
    *, cluster: Cluster, code: str, text: str, attempted_at: datetime, connection: str = Connection.UNREACHABLE
) -> None:
    """The round failed as a whole: say why, keep every row. The age of what is known grows by itself."""
    status = cluster.status
    since = status.connection_since if status.connection == connection else attempted_at
    ClusterStatus.objects.filter(pk=cluster.pk).update(
        connection=connection,
        connection_since=since or attempted_at,
        problem_code=code,
        problem=clean_text(text),
        attempted_at=attempted_at,
    )


def store_round(*, cluster: Cluster, observation: Observation, now: datetime) -> None:
    """Judge the whole cluster and write what changed, in one transaction. A fixed number of queries."""
    items, unread, read = _items_of(observation)
    skew = timedelta(seconds=observation.skew_seconds or 0)
    leases_seen = _leases_seen(cluster.status)
    with transaction.atomic():
        existing = {_ref(row): row for row in FluxObject.objects.filter(cluster=cluster)}
        memory = {ref: _memory_of(row) for ref, row in existing.items() if row.gone_at is None}
        verdicts = judge(
            items,
            observation.leases or (),
            memory,
            now,
            deployments=observation.controllers or (),
            leases_seen=leases_seen,
            skew=skew,
            unread=unread,
        )
        memory = remember(items, verdicts, memory, now, skew=skew)
        rows = [_row(cluster, verdict, memory[ref], existing.get(ref), now) for ref, verdict in verdicts.items()]
        changed = [row for row in rows if _is_news(row, existing)]
        _upsert(cluster, changed, {item.ref: item for item in items}, existing, now)
        gone = [
            row for ref, row in existing.items() if ref.kind in read and ref not in verdicts and row.gone_at is None
        ]
        FluxObject.objects.filter(pk__in=[row.pk for row in gone]).update(gone_at=now)
        _store_readings(cluster, observation, now)
        _store_status(cluster, observation, remember_leases(observation.leases or (), leases_seen, now, skew=skew), now)
        if changed or gone or not cluster.status.counts:
            store_counts(cluster)


def _items_of(observation: Observation) -> tuple[list[Resource | Unreadable], frozenset[str], set[str]]:
    """All objects of the round, the kinds that could not be read, and those that were (also when they are none)."""
    items: list[Resource | Unreadable] = []
    unread, read = set(), set()
    for kind, found in observation.lists.items():
        if found.state in {"ok", "unchanged"}:
            items += found.decoded() or ()
            read.add(kind)
        elif found.state == "missing":
            read.add(kind)
        else:
            unread.add(kind)
    return items, frozenset(unread), read


def _ref(row: FluxObject) -> ObjectRef:
    return ObjectRef(row.kind, row.namespace, row.name)


def _memory_of(row: FluxObject) -> Memory:
    return msgspec.convert(row.memory, Memory)


def _leases_seen(status: ClusterStatus) -> dict[str, LeaseSeen]:
    return msgspec.convert(status.leases_seen, dict[str, LeaseSeen])


def _row(cluster: Cluster, verdict: Verdict, memory: Memory, old: FluxObject | None, now: datetime) -> FluxObject:
    """The unsaved row that says what the verdict says."""
    explanation = verdict.explanation
    row = FluxObject(
        cluster=cluster,
        kind=verdict.ref.kind,
        namespace=verdict.ref.namespace,
        name=verdict.ref.name,
        health=verdict.health,
        control=verdict.control,
        settled_health=verdict.settled_health,
        rule=verdict.rule,
        reason=verdict.reason[:200],
        message=clean_text(verdict.message),
        revision=clean_line(verdict.revision or "", limit=400),
        applied=clean_line(verdict.applied or "", limit=400),
        attempted=clean_line(verdict.attempted or "", limit=400),
        origin_revision=clean_line(verdict.origin_revision or "", limit=400),
        deployed=clean_line(verdict.deployed or "", limit=200),
        caused_by=clean_line(str(verdict.root), limit=400) if verdict.is_blocked else "",
        blocked_by=clean_line(str(verdict.blocked_by or ""), limit=400),
        explain_id=explanation.id,
        explain_cause=clean_text(explanation.cause),
        explain_remedy=clean_text(explanation.remedy),
        explain_command=clean_text(explanation.command),
        explain_link=explanation.link[:500],
        failing_since=verdict.failing_since,
        evidence_at=verdict.evidence_at,
        heartbeat=verdict.freshness,
        is_confirmed=verdict.is_confirmed,
        notices=[asdict(notice) for notice in verdict.notices],
        suspended_since=verdict.suspension.since if verdict.suspension else None,
        suspended_by=(verdict.suspension.manager if verdict.suspension else "")[:200],
        memory=msgspec.to_builtins(replace(memory, failures_seen=min(memory.failures_seen, _FAILURES_COUNTED))),
        gone_at=None,
    )
    row.digest = _digest(row)
    is_same = old is not None and (old.health, old.control, old.gone_at) == (row.health, row.control, None)
    row.changed_at = old.changed_at if old is not None and is_same else now
    return row


def _digest(row: FluxObject) -> str:
    said = {name: getattr(row, name) for name in _VERDICT_FIELDS if name not in _NOT_COMPARED}
    return xxhash.xxh3_128_hexdigest(msgspec.json.encode([said, comparable(row.message)], enc_hook=str))


def _is_news(row: FluxObject, existing: Mapping[ObjectRef, FluxObject]) -> bool:
    old = existing.get(_ref(row))
    return old is None or old.gone_at is not None or old.digest != row.digest


def _upsert(
    cluster: Cluster,
    changed: Sequence[FluxObject],
    items: Mapping[ObjectRef, Resource | Unreadable],
    existing: Mapping[ObjectRef, FluxObject],
    now: datetime,
) -> None:
    """Write rows, their documents, and one line of history for each verdict that changed."""
    if not changed:
        return
    FluxObject.objects.bulk_create(
        changed,
        batch_size=_UPSERT_BATCH,
        update_conflicts=True,
        unique_fields=["cluster", "kind", "namespace", "name"],
        update_fields=list(_VERDICT_FIELDS),
    )
    stored = {_ref(row): row for row in FluxObject.objects.filter(cluster=cluster).defer("memory", "notices")}
    ObjectDetail.objects.bulk_create(
        [_detail(stored[_ref(row)], items[_ref(row)]) for row in changed],
        batch_size=_UPSERT_BATCH,
        update_conflicts=True,
        unique_fields=["object"],
        update_fields=["document", "inventory"],
    )
    StatusChange.objects.bulk_create(
        [
            StatusChange(
                object=stored[_ref(row)],
                before=old.health if old else "",
                after=row.health,
                control=row.control,
                revision=row.revision,
                why=row.explain_cause or row.message,
                at=now,
            )
            for row in changed
            if (old := existing.get(_ref(row))) is None or (old.health, old.control) != (row.health, row.control)
        ],
        batch_size=_UPSERT_BATCH,
    )


def _detail(row: FluxObject, item: Resource | Unreadable) -> ObjectDetail:
    """The document as it was read: the structs hold an allow-list of fields, none of which can carry a secret."""
    if isinstance(item, Unreadable):
        return ObjectDetail(object=row, document={"problem": item.problem, "field": item.field})
    document: dict[str, Any] = _without_empty(msgspec.to_builtins(item))
    status = document.get("status") or {}
    inventory = (status.pop("inventory", None) or {}).get("entries") or []
    return ObjectDetail(object=row, document={"kind": item.kind, **document}, inventory=inventory)


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_empty(each) for key, each in value.items() if each is not None}
    if isinstance(value, list | tuple):
        return [_without_empty(each) for each in value]
    return value


def _store_readings(cluster: Cluster, observation: Observation, now: datetime) -> None:
    """The age of each kind's knowledge. A kind that failed keeps the time at which it was last read."""
    readings = [
        KindReading(
            cluster=cluster,
            kind=kind,
            state="ok" if found.state == "unchanged" else found.state,
            served_version=found.served_version,
            read_at=now,
            problem=clean_text(str(found.error or "")),
        )
        for kind, found in observation.lists.items()
    ]
    for is_known in (True, False):
        fields = ["state", "served_version", "problem", *(["read_at"] if is_known else [])]
        KindReading.objects.bulk_create(
            [_without_time(row, is_known) for row in readings if (row.state in {"ok", "missing"}) is is_known],
            update_conflicts=True,
            unique_fields=["cluster", "kind"],
            update_fields=fields,
        )


def _without_time(row: KindReading, is_known: bool) -> KindReading:
    if not is_known:
        row.read_at = None
    return row


def _store_status(
    cluster: Cluster, observation: Observation, leases_seen: Mapping[str, LeaseSeen], now: datetime
) -> None:
    status = cluster.status
    connection = observation.connection
    # A kind that is not installed carries an error too, and is none.
    unread = [found.error for found in observation.lists.values() if found.state in {"failed", "forbidden"}]
    errors = [*unread, observation.heartbeat_error]
    first = next((error for error in errors if error), None)
    ClusterStatus.objects.filter(pk=cluster.pk).update(
        connection=connection,
        connection_since=status.connection_since if status.connection == connection else now,
        problem_code=first.code if first else "",
        problem=clean_text(f"{first} {first.remedy}") if first else "",
        kubernetes_version=(observation.kubernetes_version or "")[:60],
        flux_version=(observation.flux_version or status.flux_version)[:60],
        controllers=_controllers(leases_seen),
        clock_skew_seconds=observation.skew_seconds or 0,
        leases_seen=msgspec.to_builtins(dict(leases_seen)),
        observed_at=now,
        attempted_at=now,
        round_seconds=(observation.received_at - observation.started_at).total_seconds(),
    )
    if observation.cluster_uid and not cluster.identity:
        Cluster.objects.filter(pk=cluster.pk, identity="").update(identity=observation.cluster_uid)


def _controllers(leases_seen: Mapping[str, LeaseSeen]) -> list[dict[str, Any]]:
    return [
        {"name": name, "moved_at": seen.moved_at.isoformat(), "renewed": seen.renew_time}
        for name, seen in sorted(leases_seen.items())
        if "leader-election" in name
    ]
