"""Judge a whole cluster at once: every object's own opinion first, then who waits for whom.

The rules stand in `health.py` (one document), `waiting.py` (its neighbours), `leases.py` (its controller).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from .causes import NOTHING_REMEMBERED, Cluster, Outcome
from .conditions import condition, redacted
from .explain import Case, explain
from .freshness import Freshness, freshness_of_heartbeat, freshness_of_silence
from .health import born_at, interval_of, is_suspended, timeout_of
from .identity import ObjectRef
from .leases import Absence, LeaseSeen, read_controllers
from .notices import Surroundings, notices_of
from .resources import Unreadable
from .revisions import revisions_of
from .structs import (
    HelmRelease,
    ImageRepository,
    ImageUpdateAutomation,
    Kustomization,
    Lease,
    Resource,
    SourceStatus,
    Terraform,
)
from .times import newest, parse_time
from .verdicts import (
    BROKEN,
    SETTLED,
    Control,
    Explanation,
    Health,
    Memory,
    Notice,
    Suspension,
    Verdict,
)

__all__ = [
    "Control",
    "Explanation",
    "Freshness",
    "Health",
    "Memory",
    "Notice",
    "Suspension",
    "Verdict",
    "judge",
    "remember",
]

CONFIRMED_AFTER = timedelta(seconds=10)


def judge(
    objects: Sequence[Resource | Unreadable],
    leases: Sequence[Lease],
    memory: Mapping[ObjectRef, Memory],
    now: datetime,
    *,
    deployments: Iterable[Resource] = (),
    leases_seen: Mapping[str, LeaseSeen] | None = None,
    skew: timedelta = timedelta(0),
    unread: frozenset[str] = frozenset(),
    is_whole_cluster: bool = True,
) -> dict[ObjectRef, Verdict]:
    """The verdict of every object, in the order given.

    `objects` is all that the round has read (unchanged lists decoded too). `unread` names the kinds whose list failed:
    a reference to one of them is not missing, and is judged by its memory. `skew` is the cluster's clock minus ours.
    With `is_whole_cluster=False` an object that is not among `objects` is missing only where a message says so.
    """
    controllers = read_controllers(leases, deployments, now, seen=leases_seen, skew=skew)
    index = {item.ref: item for item in objects}
    cluster = Cluster(
        index,
        controllers,
        memory,
        now,
        skew,
        unread,
        is_whole_cluster,
        Surroundings.of(index, is_whole=is_whole_cluster),
    )
    return {ref: _verdict(cluster, ref) for ref in index}


def remember(
    objects: Iterable[Resource | Unreadable],
    verdicts: Mapping[ObjectRef, Verdict],
    memory: Mapping[ObjectRef, Memory],
    now: datetime,
    *,
    skew: timedelta = timedelta(0),
) -> dict[ObjectRef, Memory]:
    """What to keep of this round for the next one; objects that are gone are forgotten."""
    known = ((item, memory.get(item.ref, NOTHING_REMEMBERED)) for item in objects)
    return {item.ref: _remembered(item, verdicts[item.ref], old, now, skew) for item, old in known}


def _remembered(item: Resource | Unreadable, verdict: Verdict, old: Memory, now: datetime, skew: timedelta) -> Memory:
    if isinstance(item, Unreadable):
        return old
    is_broken = verdict.settled_health in BROKEN
    seen = old.failures_seen + 1 if verdict.health in BROKEN else old.failures_seen
    generation = item.metadata.generation
    is_same_generation = old.generation_seen_at is not None and old.generation == generation
    is_stopped = verdict.control is Control.SUSPENDED
    return Memory(
        settled_health=verdict.settled_health if verdict.settled_health in SETTLED else old.settled_health,
        failing_since=verdict.failing_since if is_broken else None,
        failures_seen=seen if is_broken else 0,
        generation=generation,
        generation_seen_at=old.generation_seen_at if is_same_generation else _first_seen_at(item, old, now, skew),
        deployed=verdict.deployed,
        health_at_suspension=(old.health_at_suspension or verdict.settled_health) if is_stopped else None,
    )


def _first_seen_at(item: Resource, old: Memory, now: datetime, skew: timedelta) -> datetime:
    """The generation that an object is born with is as old as the object, also when we come late."""
    is_first_sight = old.generation_seen_at is None and (item.metadata.generation or 1) == 1
    return (born_at(item, now, skew) if is_first_sight else None) or now


def _verdict(cluster: Cluster, ref: ObjectRef) -> Verdict:
    item, outcome = cluster.objects[ref], cluster.outcome(ref)
    if isinstance(item, Unreadable):
        return _unreadable(item, outcome)
    absence, memory = cluster.controllers.absence_for(item), cluster.remembered(ref)
    found, revisions = outcome.opinion.condition, revisions_of(item)
    evidence = _evidence(cluster, item)
    control = _control(item, absence)
    since = _failing_since(cluster, item, outcome, memory)
    verdict = Verdict(
        ref=ref,
        health=outcome.health,
        control=control,
        freshness=_freshness(cluster, item, outcome, absence, evidence),
        settled_health=outcome.settled,
        rule=outcome.rule,
        reason=(found.reason if found else "") or "",
        message=_message(item, outcome),
        revision=revisions.revision,
        applied=revisions.applied,
        attempted=revisions.attempted,
        deployed=revisions.deployed or memory.deployed,
        origin_revision=revisions.origin,
        blocked_by=outcome.blocked_by,
        caused_by=outcome.caused_by,
        cycle=outcome.cycle,
        evidence_at=evidence,
        failing_since=since,
        attempts=_attempts(item) if since else None,
        is_confirmed=_is_confirmed(cluster, outcome, memory, since),
        suspension=_suspension(item) if control is Control.SUSPENDED else None,
        notices=notices_of(item, cluster.surroundings),
    )
    if outcome.rule == "ready" and verdict.freshness is Freshness.LIVE and not absence:
        return verdict
    return replace(verdict, explanation=explain(Case(item, verdict, cluster.objects, absence, cluster.now)))


def _failing_since(cluster: Cluster, resource: Resource, outcome: Outcome, memory: Memory) -> datetime | None:
    """Ours once we have seen it; at first sight it has failed at least since the condition says."""
    if outcome.settled not in BROKEN:
        return None
    if memory.failing_since:
        return memory.failing_since
    said = parse_time(outcome.opinion.condition.last_transition_time) if outcome.opinion.condition else None
    return min(said - cluster.skew, cluster.now) if said and not cluster.memory.get(resource.ref) else cluster.now


def _attempts(resource: Resource) -> int | None:
    match resource:
        case HelmRelease(status=status) if status:
            return status.failures
        case Kustomization(status=status) if status and status.history:
            newest_attempt = status.history[0]
            has_failed = (newest_attempt.last_reconciled_status or "").endswith("Failed")
            return newest_attempt.total_reconciliations if has_failed else None
    return None


def _is_confirmed(cluster: Cluster, outcome: Outcome, memory: Memory, since: datetime | None) -> bool:
    if outcome.health not in BROKEN or not since:
        return True
    return memory.failures_seen > 0 or cluster.now - since >= CONFIRMED_AFTER


def _evidence(cluster: Cluster, resource: Resource) -> datetime | None:
    beat = newest(*_heartbeats(resource))
    return min(beat - cluster.skew, cluster.now) if beat else None


def _freshness(
    cluster: Cluster, resource: Resource, outcome: Outcome, absence: Absence | None, evidence: datetime | None
) -> Freshness:
    if absence:
        silent_since = (evidence or cluster.now) if absence.is_shard else absence.since
        return freshness_of_silence(silent_since, cluster.now)
    if evidence and outcome.health is Health.READY and not is_suspended(resource) and _beats(resource):
        return freshness_of_heartbeat(evidence, cluster.now, interval_of(resource) + timeout_of(resource))
    return Freshness.LIVE


def _unreadable(item: Unreadable, outcome: Outcome) -> Verdict:
    where = f" at {item.field}" if item.field else ""
    verdict = Verdict(
        ref=item.ref,
        health=Health.UNKNOWN,
        settled_health=outcome.settled,
        rule="unreadable",
        reason="Unreadable",
        message=f"{item.problem}{where}",
    )
    cause = f"The document of {item.ref} cannot be read{where}: {item.problem}."
    return replace(
        verdict, explanation=Explanation("unreadable", cause, "Correct that field; the other objects are not affected.")
    )


def _message(resource: Resource, outcome: Outcome) -> str:
    """Stalled says why it stopped, and comes first; what Ready says beside it comes after."""
    found = outcome.opinion.condition
    if outcome.opinion.rule != "stalled":
        return redacted((found.message if found else "") or "")
    said = [found, condition(resource, "Ready")]
    lines = dict.fromkeys(redacted(item.message) for item in said if item and item.message)
    return "\n".join(lines)


def _control(resource: Resource, absence: Absence | None) -> Control:
    if is_suspended(resource):
        return Control.SUSPENDED
    return Control.ORPHANED if absence else Control.ACTIVE


def _suspension(resource: Resource) -> Suspension:
    entries = [entry for entry in resource.metadata.managed_fields or () if entry.is_suspension]
    newest_entry = max(entries, key=lambda entry: entry.time or "", default=None)
    return Suspension(parse_time(newest_entry.time), newest_entry.manager or "") if newest_entry else Suspension()


def _beats(resource: Resource) -> bool:
    """Whether the controller writes the object at every interval, also when nothing changes."""
    match resource:
        case Kustomization(status=status) if status:
            return bool(status.history)
        case ImageRepository(status=status) if status:
            return status.last_scan_result is not None
        case ImageUpdateAutomation(status=status) if status:
            return status.last_automation_run_time is not None
    return False


def _heartbeats(resource: Resource) -> Iterator[str | None]:
    """Times that the controller wrote; what fails before the apply step has no history, so conditions count."""
    for name in ("Ready", "Reconciling"):
        found = condition(resource, name)
        yield found.last_transition_time if found else None
    match resource:
        case Kustomization(status=status) if status and status.history:
            yield status.history[0].last_reconciled
        case ImageRepository(status=status) if status and status.last_scan_result:
            yield status.last_scan_result.scan_time
        case ImageUpdateAutomation(status=status) if status:
            yield status.last_automation_run_time
        case Terraform(status=status) if status:
            yield status.last_plan_at
    status = getattr(resource, "status", None)
    if isinstance(status, SourceStatus) and status.artifact:
        yield status.artifact.last_update_time
