"""Judge a whole cluster at once: every object's own opinion first, then who waits for whom.

The rules stand in `health.py` (one document), `waiting.py` (its neighbours), `leases.py` (its controller).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from .conditions import condition, redacted, texts
from .explain import Case, explain
from .freshness import Freshness, freshness_of_heartbeat, freshness_of_silence, older
from .graph import cycles
from .health import Circumstances, Opinion, interval_of, is_suspended, opinion_of, settled_by_document, timeout_of
from .identity import ObjectRef
from .leases import Absence, Controllers, LeaseSeen, read_controllers
from .notices import notices_of
from .resources import FLUX_KINDS, Unreadable
from .revisions import revisions_of
from .structs import (
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
from .waiting import Wait, children_waited_for, has_artifact, missing_behind, wait_of

__all__ = ["Control", "Explanation", "Freshness", "Health", "Memory", "Notice", "Suspension", "Verdict", "judge", "remember"]

CONFIRMED_AFTER = timedelta(seconds=10)
YOUNG = timedelta(minutes=1)
_NOTHING_REMEMBERED = Memory()


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
    cluster = _Cluster(index, controllers, memory, now, skew, unread, is_whole_cluster, cycles(index))
    return {ref: cluster.verdict(ref) for ref in index}


def remember(
    objects: Iterable[Resource | Unreadable],
    verdicts: Mapping[ObjectRef, Verdict],
    memory: Mapping[ObjectRef, Memory],
    now: datetime,
) -> dict[ObjectRef, Memory]:
    """What to keep of this round for the next one; objects that are gone are forgotten."""
    known = ((item, memory.get(item.ref, _NOTHING_REMEMBERED)) for item in objects)
    return {item.ref: _remembered(item, verdicts[item.ref], old, now) for item, old in known}


def _remembered(item: Resource | Unreadable, verdict: Verdict, old: Memory, now: datetime) -> Memory:
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
        generation_seen_at=old.generation_seen_at if is_same_generation else now,
        deployed=verdict.deployed,
        health_at_suspension=(old.health_at_suspension or verdict.settled_health) if is_stopped else None,
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """An opinion after its neighbours were heard."""

    health: Health
    settled: Health
    opinion: Opinion
    rule: str
    wait: Wait | None = None
    blocked_by: ObjectRef | None = None
    caused_by: ObjectRef | None = None
    cycle: tuple[ObjectRef, ...] = ()

    def root(self, ref: ObjectRef) -> ObjectRef:
        return self.caused_by or ref


@dataclass(frozen=True, slots=True)
class _Cluster:
    objects: Mapping[ObjectRef, Resource | Unreadable]
    controllers: Controllers
    memory: Mapping[ObjectRef, Memory]
    now: datetime
    skew: timedelta
    unread: frozenset[str]
    is_whole: bool
    cycles: Mapping[ObjectRef, tuple[ObjectRef, ...]]
    outcomes: dict[ObjectRef, Outcome] = field(default_factory=dict)
    opinions: dict[ObjectRef, Opinion] = field(default_factory=dict)
    absences: dict[ObjectRef, Absence | None] = field(default_factory=dict)

    # --- one object by itself ---

    def remembered(self, ref: ObjectRef) -> Memory:
        return self.memory.get(ref, _NOTHING_REMEMBERED)

    def absence(self, resource: Resource) -> Absence | None:
        ref = resource.ref
        if ref not in self.absences:
            self.absences[ref] = self.controllers.absence_for(resource)
        return self.absences[ref]

    def opinion(self, resource: Resource) -> Opinion:
        ref = resource.ref
        if ref not in self.opinions:
            circumstances = Circumstances(self.now, self.remembered(ref), self.absence(resource) is not None)
            self.opinions[ref] = opinion_of(resource, circumstances)
        return self.opinions[ref]

    def settled(self, resource: Resource, health: Health) -> Health:
        if health in SETTLED:
            return health
        return self.remembered(resource.ref).settled_health or settled_by_document(resource) or health

    # --- neighbours: resolved with a stack of our own, because a chain may be longer than Python's ---

    def outcome(self, ref: ObjectRef) -> Outcome:
        stack, opened = [ref], {ref}
        while stack:
            here = stack[-1]
            missing = [near for near in self._neighbours(here) if near not in self.outcomes and near not in opened]
            if missing and here not in self.outcomes:
                stack.append(missing[0])
                opened.add(missing[0])
                continue
            self.outcomes.setdefault(here, self._resolved(here))
            stack.pop()
        return self.outcomes[ref]

    def _neighbours(self, ref: ObjectRef) -> Iterator[ObjectRef]:
        item = self.objects[ref]
        if isinstance(item, Resource):
            wait = self._wait(item)
            near = (wait.on,) if wait else self._children(item)
            yield from (target for target in near if target in self.objects and target != ref)

    def _wait(self, resource: Resource) -> Wait | None:
        opinion = self.opinion(resource)
        return wait_of(resource, opinion.condition) if opinion.is_blocked and opinion.condition else None

    def _children(self, resource: Resource) -> tuple[ObjectRef, ...]:
        opinion = self.opinion(resource)
        if opinion.rule not in {"failing", "stalled", "in-progress", "no-verdict"} or resource.kind not in FLUX_KINDS:
            return ()
        verdicts = (condition(resource, name) for name in ("Released", "TestSuccess", "Ready"))
        said = next((item for item in verdicts if item and item.status == "False"), None)
        return children_waited_for(resource, said, texts([condition(resource, "Reconciling"), condition(resource, "Healthy")]))

    def _resolved(self, ref: ObjectRef) -> Outcome:
        item = self.objects[ref]
        if isinstance(item, Unreadable):
            remembered = self.remembered(ref).settled_health
            return Outcome(Health.UNKNOWN, remembered or Health.UNKNOWN, Opinion(Health.UNKNOWN, "unreadable"), "unreadable")
        opinion = self.opinion(item)
        alone = Outcome(opinion.health, self.settled(item, opinion.health), opinion, opinion.rule)
        if wait := self._wait(item):
            return self._source_outcome(item, alone, wait) if not wait.is_dependency else self._dependency_outcome(item, alone, wait)
        return self._parent_outcome(item, alone)

    def _near(self, ref: ObjectRef) -> Outcome | None:
        """The neighbour's outcome; what is still open (a loop of another kind than dependsOn) speaks for itself."""
        item = self.objects.get(ref)
        if item is None:
            return None
        if ref in self.outcomes:
            return self.outcomes[ref]
        if isinstance(item, Unreadable):
            return self._resolved(ref)
        opinion = self.opinion(item)
        return Outcome(opinion.health, self.settled(item, opinion.health), opinion, opinion.rule)

    # --- what follows from a neighbour ---

    def _blocked(self, resource: Resource, alone: Outcome, wait: Wait, health: Health, rule: str, root: ObjectRef | None = None) -> Outcome:
        return replace(
            alone,
            health=health,
            settled=self.settled(resource, health),
            rule=rule,
            wait=wait,
            blocked_by=wait.on,
            caused_by=root or wait.on,
        )

    def _source_outcome(self, resource: Resource, alone: Outcome, wait: Wait) -> Outcome:
        source = self.objects.get(wait.on)
        near = self._near(wait.on)
        if source is None or near is None:
            return self._absent(resource, alone, wait, "source")
        if isinstance(source, Unreadable):
            return self._blocked(resource, alone, wait, Health.FAILING, "source-not-ready")
        if near.opinion.rule in {"terminating", "finalizer-stuck"}:
            return self._blocked(resource, alone, wait, Health.FAILING, "source-terminating")
        if has_artifact(source) and not self._is_about_source(resource, alone, wait, near):
            return alone
        if wait.says_lost and has_artifact(source):
            return self._blocked(resource, alone, wait, Health.FAILING, "artifact-lost")
        return self._waiting_for_source(resource, alone, wait, source, near)

    def _is_about_source(self, resource: Resource, alone: Outcome, wait: Wait, near: Outcome) -> bool:
        """A source that has an artifact is still the reason when the message, or the reason, says so."""
        reason = (alone.opinion.condition.reason if alone.opinion.condition else "") or ""
        if resource.kind == "ImagePolicy":
            return near.health is not Health.READY
        return wait.says_no_artifact or reason in {"SourceNotReady", "NoSourceArtifact", "NoArtifact"}

    def _waiting_for_source(self, resource: Resource, alone: Outcome, wait: Wait, source: Resource, near: Outcome) -> Outcome:
        if near.settled in BROKEN:
            behind = missing_behind(resource, wait.message)
            is_missing = behind is not None and behind not in self.objects
            rule = "source-missing" if is_missing else "source-not-ready"
            return self._blocked(resource, alone, wait, Health.FAILING, rule, near.root(wait.on))
        if wait.says_not_reconciled_yet or has_artifact(source) or self._is_young(source):
            return self._starting_up(resource, alone, wait)
        is_moving = near.health in {Health.PROGRESSING, Health.WAITING, Health.UNKNOWN} and not is_suspended(source)
        health = Health.WAITING if is_moving else Health.FAILING
        return self._blocked(resource, alone, wait, health, "source-not-ready", near.root(wait.on))

    def _starting_up(self, resource: Resource, alone: Outcome, wait: Wait) -> Outcome:
        """The two flickers in front of a first run and of every upgrade, gone within a second or two."""
        health = Health.PROGRESSING
        return replace(alone, health=health, settled=self.settled(resource, health), rule="starting-up", wait=wait)

    def _is_young(self, resource: Resource) -> bool:
        born = parse_time(resource.metadata.creation_timestamp)
        return born is not None and self.now + self.skew - born < YOUNG

    def _absent(self, resource: Resource, alone: Outcome, wait: Wait, what: str) -> Outcome:
        if wait.on.kind in self.unread:
            was = self.remembered(wait.on).settled_health
            health = Health.FAILING if was in BROKEN else Health.WAITING
            return self._blocked(resource, alone, wait, health, f"{what}-not-ready")
        if wait.says_missing or (self.is_whole and (wait.on.kind in FLUX_KINDS or wait.is_dependency)):
            return self._blocked(resource, alone, wait, Health.FAILING, f"{what}-missing", missing_behind(resource, wait.message))
        reason = (alone.opinion.condition.reason if alone.opinion.condition else "") or ""
        if wait.says_no_artifact and not self.is_whole and self._is_young(resource):
            return self._starting_up(resource, alone, wait)
        if wait.is_dependency or wait.says_no_artifact or reason in {"SourceNotReady", "NoSourceArtifact", "NoArtifact"}:
            root = missing_behind(resource, wait.message)
            rule = "source-missing" if root else f"{what}-not-ready"
            return self._blocked(resource, alone, wait, Health.FAILING, rule, root)
        return alone

    def _dependency_outcome(self, resource: Resource, alone: Outcome, wait: Wait) -> Outcome:
        members = self.cycles.get(resource.ref, ())
        if wait.on in members or (members and wait.on not in self.objects):
            cyclic = self._blocked(resource, alone, wait, Health.FAILING, "dependency-cycle")
            return replace(cyclic, cycle=members)
        near, dependency = self._near(wait.on), self.objects.get(wait.on)
        if near is None or dependency is None:
            return self._absent(resource, alone, wait, "dependency")
        if isinstance(dependency, Resource) and is_suspended(dependency) and (near.health is not Health.READY or wait.says_behind):
            return self._blocked(resource, alone, wait, Health.FAILING, "dependency-suspended")
        root = near.root(wait.on)
        if near.settled in BROKEN or near.health in BROKEN:
            return self._blocked(resource, alone, wait, Health.FAILING, "dependency-failing", root)
        if near.health is Health.TERMINATING:
            return self._blocked(resource, alone, wait, Health.FAILING, "dependency-not-ready", root)
        return self._blocked(resource, alone, wait, Health.WAITING, "dependency-not-ready", root)

    def _parent_outcome(self, resource: Resource, alone: Outcome) -> Outcome:
        """A parent whose health check waits for a child that has failed is caused by that child, at once."""
        for child in self._children(resource):
            near = self._near(child)
            if near is None or child == resource.ref or near.settled not in BROKEN or near.root(child) == resource.ref:
                continue
            caused = replace(alone, blocked_by=child, caused_by=near.root(child), cycle=near.cycle)
            if alone.health is Health.PROGRESSING:
                return replace(caused, health=Health.WAITING, settled=Health.FAILING, rule="child-failing")
            return caused
        return alone

    # --- the whole verdict ---

    def verdict(self, ref: ObjectRef) -> Verdict:
        item, outcome = self.objects[ref], self.outcome(ref)
        if isinstance(item, Unreadable):
            return _unreadable(item, outcome)
        absence, memory = self.absence(item), self.remembered(ref)
        found, revisions = outcome.opinion.condition, revisions_of(item)
        evidence = self._evidence(item)
        control = _control(item, absence)
        since = self._failing_since(item, outcome, memory)
        verdict = Verdict(
            ref=ref,
            health=outcome.health,
            control=control,
            freshness=self._freshness(item, outcome, absence, evidence),
            settled_health=outcome.settled,
            rule=outcome.rule,
            reason=(found.reason if found else "") or "",
            message=redacted((found.message if found else "") or ""),
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
            is_confirmed=self._is_confirmed(outcome, memory, since),
            suspension=_suspension(item) if control is Control.SUSPENDED else None,
            notices=notices_of(item, self.objects, self.cycles),
        )
        return replace(verdict, explanation=explain(Case(item, verdict, self.objects, absence, self.now)))

    def _failing_since(self, resource: Resource, outcome: Outcome, memory: Memory) -> datetime | None:
        """Ours once we have seen it; at first sight it has failed at least since the condition says."""
        if outcome.settled not in BROKEN:
            return None
        if memory.failing_since:
            return memory.failing_since
        said = parse_time(outcome.opinion.condition.last_transition_time) if outcome.opinion.condition else None
        return min(said - self.skew, self.now) if said and not self.memory.get(resource.ref) else self.now

    def _is_confirmed(self, outcome: Outcome, memory: Memory, since: datetime | None) -> bool:
        if outcome.health not in BROKEN or not since:
            return True
        return memory.failures_seen > 0 or self.now - since >= CONFIRMED_AFTER

    def _evidence(self, resource: Resource) -> datetime | None:
        beat = newest(*_heartbeats(resource))
        return min(beat - self.skew, self.now) if beat else None

    def _freshness(self, resource: Resource, outcome: Outcome, absence: Absence | None, evidence: datetime | None) -> Freshness:
        if absence:
            silent_since = (evidence or self.now) if absence.is_shard else absence.since
            return freshness_of_silence(silent_since, self.now)
        if evidence and outcome.health is Health.READY and not is_suspended(resource) and _beats(resource):
            return freshness_of_heartbeat(evidence, self.now, interval_of(resource) + timeout_of(resource))
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
    return replace(verdict, explanation=Explanation("unreadable", cause, "Correct that field; the other objects are not affected."))


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
    """Times that the controller wrote; an object that fails before the apply step has no history, so conditions count."""
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
