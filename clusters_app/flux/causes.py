"""Who waits for whom: what follows for an object from the state of its source, its dependency, its child."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from .conditions import condition, texts
from .health import Circumstances, Opinion, is_suspended, opinion_of, plainly_ready, settled_by_document
from .identity import ObjectRef
from .leases import Controllers
from .notices import Surroundings
from .resources import FLUX_KINDS, Unreadable
from .structs import Resource
from .times import parse_time
from .verdicts import BROKEN, SETTLED, Health, Memory
from .waiting import Wait, children_waited_for, has_artifact, missing_behind, wait_of

YOUNG = timedelta(minutes=1)
BLAMES_SOURCE = frozenset({"SourceNotReady", "NoSourceArtifact", "NoArtifact", "DependencyNotReady"})
"""Reasons that say by themselves that a source is to blame (an ImagePolicy calls its repository a dependency)."""
NOTHING_REMEMBERED = Memory()


class Outcome(Struct, frozen=True):
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
class Cluster:
    """The objects of one cluster at one moment: each one's opinion of itself, and what its neighbours add."""

    objects: Mapping[ObjectRef, Resource | Unreadable]
    controllers: Controllers
    memory: Mapping[ObjectRef, Memory]
    now: datetime
    skew: timedelta
    unread: frozenset[str]
    is_whole: bool
    surroundings: Surroundings
    outcomes: dict[ObjectRef, Outcome] = field(default_factory=dict)
    opinions: dict[ObjectRef, Opinion] = field(default_factory=dict)

    # --- one object by itself ---

    def remembered(self, ref: ObjectRef) -> Memory:
        return self.memory.get(ref, NOTHING_REMEMBERED)

    def opinion(self, resource: Resource) -> Opinion:
        ref = resource.ref
        if (known := self.opinions.get(ref)) is not None:
            return known
        if plain := plainly_ready(resource):
            self.opinions[ref] = plain
            return plain
        is_dead = self.controllers.absence_for(resource) is not None
        circumstances = Circumstances(self.now, self.remembered(ref), is_dead, self.skew)
        opinion = self.opinions[ref] = opinion_of(resource, circumstances)
        return opinion

    def settled(self, resource: Resource, health: Health) -> Health:
        if health in SETTLED:
            return health
        return self.remembered(resource.ref).settled_health or settled_by_document(resource) or health

    # --- neighbours: resolved with a stack of our own, because a chain may be longer than Python's ---

    def outcome(self, ref: ObjectRef) -> Outcome:
        if plain := self._plain_outcome(ref):
            return plain
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

    def _plain_outcome(self, ref: ObjectRef) -> Outcome | None:
        """Of what is ready by itself: it waits for nobody."""
        item = self.objects[ref]
        opinion = self.opinion(item) if isinstance(item, Resource) else None
        if opinion is None or opinion.rule != "ready":
            return None
        outcome = self.outcomes[ref] = Outcome(Health.READY, Health.READY, opinion, "ready")
        return outcome

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
        return children_waited_for(
            resource, said, texts([condition(resource, "Reconciling"), condition(resource, "Healthy")])
        )

    def _resolved(self, ref: ObjectRef) -> Outcome:
        item = self.objects[ref]
        if isinstance(item, Unreadable):
            remembered = self.remembered(ref).settled_health
            return Outcome(
                Health.UNKNOWN, remembered or Health.UNKNOWN, Opinion(Health.UNKNOWN, "unreadable"), "unreadable"
            )
        opinion = self.opinion(item)
        alone = Outcome(opinion.health, self.settled(item, opinion.health), opinion, opinion.rule)
        if wait := self._wait(item):
            return (
                self._source_outcome(item, alone, wait)
                if not wait.is_dependency
                else self._dependency_outcome(item, alone, wait)
            )
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

    def _blocked(
        self, resource: Resource, alone: Outcome, wait: Wait, health: Health, rule: str, root: ObjectRef | None = None
    ) -> Outcome:
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
        return wait.says_no_artifact or wait.says_not_reconciled_yet or reason in BLAMES_SOURCE

    def _waiting_for_source(
        self, resource: Resource, alone: Outcome, wait: Wait, source: Resource, near: Outcome
    ) -> Outcome:
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
        if wait.says_not_reconciled_yet:
            return self._starting_up(resource, alone, wait)
        if wait.says_missing or (self.is_whole and (wait.on.kind in FLUX_KINDS or wait.is_dependency)):
            return self._blocked(
                resource, alone, wait, Health.FAILING, f"{what}-missing", missing_behind(resource, wait.message)
            )
        return self._out_of_sight(resource, alone, wait)

    def _out_of_sight(self, resource: Resource, alone: Outcome, wait: Wait) -> Outcome:
        """The neighbour is not among the objects that were given, and nobody says that it does not exist."""
        reason = (alone.opinion.condition.reason if alone.opinion.condition else "") or ""
        if wait.is_dependency:
            return self._blocked(resource, alone, wait, Health.WAITING, "dependency-not-ready")
        if wait.says_no_artifact and not wait.says_lost and self._is_young(resource):
            return self._starting_up(resource, alone, wait)
        if wait.says_no_artifact or reason in BLAMES_SOURCE:
            root = missing_behind(resource, wait.message)
            rule = "source-missing" if root else "source-not-ready"
            return self._blocked(resource, alone, wait, Health.FAILING, rule, root)
        return alone

    def _dependency_outcome(self, resource: Resource, alone: Outcome, wait: Wait) -> Outcome:
        members = self.surroundings.cycles.get(resource.ref, ())
        if wait.on in members or (members and wait.on not in self.objects):
            cyclic = self._blocked(resource, alone, wait, Health.FAILING, "dependency-cycle")
            return replace(cyclic, cycle=members)
        near, dependency = self._near(wait.on), self.objects.get(wait.on)
        if near is None or dependency is None:
            return self._absent(resource, alone, wait, "dependency")
        if (
            isinstance(dependency, Resource)
            and is_suspended(dependency)
            and (near.health is not Health.READY or wait.says_behind)
        ):
            return self._blocked(resource, alone, wait, Health.FAILING, "dependency-suspended")
        root = wait.on if near.rule == "dependency-cycle" else near.root(wait.on)
        if near.settled in BROKEN or near.health in BROKEN:
            failing = self._blocked(resource, alone, wait, Health.FAILING, "dependency-failing", root)
            return replace(failing, cycle=near.cycle)
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
