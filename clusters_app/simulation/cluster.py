"""One simulated cluster: a clockwork that fetches commits and applies them as the controllers of Flux would.

The state at a moment follows from the commits, their times and the faults alone, however often it is asked for: time
goes on in ticks of a fixed grid, and where nothing moves it jumps.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from clusters_app.simulation.desired import BROKEN, DesiredCluster, DesiredKustomization, DesiredObject
from clusters_app.simulation.faults import Fault, Suspended, Untrusted
from clusters_app.simulation.releases import Release, chart_version, repository_of

TICK = timedelta(milliseconds=250)
#: How long after a push a cluster sees it at most: the interval of its source, much shorter than in earnest.
SOURCE_INTERVAL = timedelta(seconds=3)
APPLYING = timedelta(seconds=1, milliseconds=500)
CHECKING = timedelta(seconds=2)
UNCHANGED = timedelta(milliseconds=500)
#: A release that does not come is given up after this; in earnest after the Kustomization's timeout.
PATIENCE = timedelta(seconds=6)
_EPOCH = datetime.fromtimestamp(0, UTC)
_KEPT_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Arrival:
    """A commit that reached the branch, and what it wants of this cluster."""

    commit: str
    at: datetime
    desired: DesiredCluster | None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One entry of `status.history`."""

    commit: str
    status: str
    at: datetime


@dataclass(slots=True)
class Applier:
    """What kustomize-controller knows of one Kustomization."""

    desired: DesiredKustomization
    born_at: datetime
    generation: int = 1
    observed: int = -1
    applied: str = ""
    attempted: str = ""
    digest: str = ""
    started_at: datetime | None = None
    ends_at: datetime | None = None
    #: The manifests are in the cluster; what is left is the health check.
    is_checking: bool = False
    failure: str = ""
    reason: str = ""
    waits: str = ""
    changed_at: datetime = _EPOCH
    attempts: tuple[Attempt, ...] = ()
    suspended: Suspended | None = None
    #: What it applied last, whether or not that became healthy.
    brought: tuple[DesiredObject, ...] = ()

    @property
    def is_running(self) -> bool:
        return self.ends_at is not None

    @property
    def is_ready(self) -> bool:
        return not (self.is_running or self.failure or self.waits) and bool(self.applied)


@dataclass
class SimulatedCluster:
    """A cluster between `born_at` and now. `follow` tells it of commits in their order, `advance` moves its clock."""

    name: str
    born_at: datetime
    faults: tuple[Fault, ...] = ()
    appliers: dict[str, Applier] = field(default_factory=dict)
    releases: dict[str, Release] = field(default_factory=dict)
    fetched: Arrival | None = None
    fetched_at: datetime = _EPOCH
    #: Moves with every change that a reader could see.
    version: int = 0

    def __post_init__(self) -> None:
        self.clock = _floor(self.born_at)
        self._coming: list[Arrival] = []
        self._is_busy = False
        spread = int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:2]) / 65536
        #: Clusters do not march in step.
        self._lag = SOURCE_INTERVAL * (0.2 + 0.8 * spread)
        self._checking = CHECKING * (1 + spread)

    def follow(self, commit: str, at: datetime, desired: DesiredCluster | None) -> None:
        """The branch is at this commit since `at`."""
        self._coming.append(Arrival(commit, max(at, self.born_at), desired))

    def advance(self, now: datetime) -> None:
        """Let everything happen that is due until now."""
        end = _floor(now)
        while self.clock < end:
            self.clock = min(end, self.clock + TICK if self._is_busy else max(self._next_event(end), self.clock + TICK))
            self._is_busy = self._tick()

    def suffer(self, fault: Fault) -> None:
        """One more thing is wrong with it."""
        self.faults = (*self.faults, fault)

    def is_settled(self) -> bool:
        return not self._is_busy and not self._coming

    def fault_of(self, kind: type[Fault]) -> Iterator[Fault]:
        return (fault for fault in self.faults if isinstance(fault, kind) and fault.since <= self.clock)

    def _next_event(self, end: datetime) -> datetime:
        times = [arrival.at + self._lag for arrival in self._coming]
        times += [fault.since for fault in self.faults if fault.since > self.clock]
        return min((_floor(each) for each in times), default=end)

    # --- one tick ---------------------------------------------------------------------------------------------------

    def _tick(self) -> bool:
        """Whether anything moves, so that the next tick may matter."""
        before = self.version
        self._fetch()
        self._suspend()
        for applier in list(self.appliers.values()):
            self._finish(applier)
        for applier in list(self.appliers.values()):
            self._begin(applier)
        for release in self.releases.values():
            if release.advance(self.clock, is_untrusted=self._is_untrusted(release)):
                self.version += 1
        moving = any(each.is_running for each in self.appliers.values())
        return moving or self.version != before or any(each.is_moving for each in self.releases.values())

    def _fetch(self) -> None:
        due = [arrival for arrival in self._coming if arrival.at + self._lag <= self.clock]
        if not due:
            return
        self._coming = [arrival for arrival in self._coming if arrival not in due]
        is_first = self.fetched is None
        self.fetched, self.fetched_at = due[-1], self.clock
        self.version += 1
        if is_first:
            self._bootstrap(due[-1])

    def _bootstrap(self, arrival: Arrival) -> None:
        for desired in self._wanted(arrival):
            if desired.parent is None:
                self.appliers[desired.ref] = Applier(desired, self.clock, changed_at=self.clock)

    def _wanted(self, arrival: Arrival) -> Sequence[DesiredKustomization]:
        return tuple(arrival.desired.kustomizations.values()) if arrival.desired else ()

    def _suspend(self) -> None:
        for fault in self.faults:
            if isinstance(fault, Suspended) and fault.since <= self.clock:
                applier = self.appliers.get(fault.kustomization)
                if applier and applier.suspended is None:
                    applier.suspended = fault
                    applier.generation += 1
                    self.version += 1

    def _begin(self, applier: Applier) -> None:
        arrival = self.fetched
        if arrival is None or applier.is_running or _is_suspended(applier) or applier.attempted == arrival.commit:
            return
        wanted = arrival.desired.kustomizations.get(applier.desired.ref) if arrival.desired else None
        if wanted is None:
            return  # its parent is about to remove it
        self._take_spec(applier, wanted)
        waits = next(self._unready(wanted, arrival.commit), "")
        if waits:
            if applier.waits != waits:
                applier.waits, applier.failure, applier.changed_at = waits, "", self.clock
                self.version += 1
            return
        applier.waits, applier.failure, applier.reason = "", "", ""
        applier.attempted, applier.started_at = arrival.commit, self.clock
        is_same = wanted.digest == applier.digest and not wanted.broken
        applier.ends_at = self.clock + (UNCHANGED if is_same else APPLYING)
        applier.is_checking = False
        applier.changed_at = self.clock
        self.version += 1

    def _take_spec(self, applier: Applier, wanted: DesiredKustomization) -> None:
        if applier.desired.spec != wanted.spec:
            applier.generation += 1
        applier.desired = wanted

    def _unready(self, wanted: DesiredKustomization, commit: str) -> Iterator[str]:
        """Why it cannot start yet, in the controller's words."""
        for ref in wanted.depends_on:
            _, namespace, name = ref.split("/")
            dependency = self.appliers.get(ref)
            if dependency is None:
                plural = "kustomizations.kustomize.toolkit.fluxcd.io"
                yield f"unable to get '{namespace}/{name}' dependency: {plural} \"{name}\" not found"
            elif not dependency.is_ready:
                yield f"dependency '{namespace}/{name}' is not ready"
            elif dependency.applied != commit:
                yield f"dependency '{namespace}/{name}' revision is not up to date"

    def _finish(self, applier: Applier) -> None:
        """Go from applying to checking to a verdict, as far as time has come."""
        if applier.ends_at is None or applier.ends_at > self.clock or applier.started_at is None:
            return
        desired = applier.desired
        if not applier.is_checking:
            if desired.problem:
                self._settle(applier, "ArtifactFailed", desired.problem)
                return
            self._apply(applier)
            is_same = desired.digest == applier.digest and not desired.broken
            if desired.waits_for_health and not is_same:
                applier.is_checking, applier.ends_at = True, self.clock + self._checking
                applier.changed_at = self.clock
                self.version += 1
                return
        self._check(applier, self.clock - applier.started_at)

    def _check(self, applier: Applier, took: timedelta) -> None:
        desired = applier.desired
        if not desired.waits_for_health:
            self._settle(applier, "", "")
            return
        after = f"{took.total_seconds():g}s"
        if desired.broken:
            named = ", ".join(f"{ref} status: 'Failed'" for ref in desired.broken)
            text = f"health check failed after {after}: failed early due to stalled resources: [{named}]"
            self._settle(applier, "HealthCheckFailed", text)
            return
        late = [release for release in self._releases_of(desired) if not release.is_ready]
        if not late:
            self._settle(applier, "", "")
        elif took >= PATIENCE + APPLYING:
            named = ", ".join(f"{release.ref} status: 'InProgress'" for release in late)
            self._settle(
                applier, "HealthCheckFailed", f"health check failed after {after}: timeout waiting for: [{named}]"
            )

    def _settle(self, applier: Applier, reason: str, failure: str) -> None:
        applier.reason, applier.failure = reason, failure
        applier.started_at = applier.ends_at = None
        applier.is_checking = False
        applier.changed_at = self.clock
        if not failure:
            applier.applied, applier.digest = applier.attempted, applier.desired.digest
            applier.observed = applier.generation
        status = reason or "ReconciliationSucceeded"
        applier.attempts = (Attempt(applier.attempted, status, self.clock), *applier.attempts)[:_KEPT_ATTEMPTS]
        self.version += 1

    # --- what an applied Kustomization brings -----------------------------------------------------------------------

    def _apply(self, applier: Applier) -> None:
        desired = applier.desired
        applier.brought = desired.objects
        self._prune(desired)
        if self.fetched is not None:
            for child in self._wanted(self.fetched):
                if child.parent == desired.ref and child.ref not in self.appliers:
                    self.appliers[child.ref] = Applier(child, self.clock, changed_at=self.clock)
        for each in desired.objects:
            if each.kind == "HelmRelease":
                self._apply_release(desired, each)

    def _prune(self, desired: DesiredKustomization) -> None:
        """Remove what this one applied before and no longer wants."""
        kept = {each.ref for each in desired.objects}
        for ref, applier in list(self.appliers.items()):
            if applier.desired.parent == desired.ref and ref not in kept:
                del self.appliers[ref]
        for ref, release in list(self.releases.items()):
            if release.owner == desired.ref and ref not in kept:
                del self.releases[ref]

    def _apply_release(self, desired: DesiredKustomization, each: DesiredObject) -> None:
        version = chart_version(each, desired)
        release = self.releases.get(each.ref)
        if release is None:
            release = Release(each.ref, desired.ref, repository_of(each), born_at=self.clock)
            self.releases[each.ref] = release
        release.want(each, version, self.clock, is_broken=BROKEN in version)

    def _releases_of(self, desired: DesiredKustomization) -> list[Release]:
        return [self.releases[each.ref] for each in desired.objects if each.ref in self.releases]

    def _is_untrusted(self, release: Release) -> bool:
        return self.is_untrusted(release.repository)

    def is_untrusted(self, repository: str) -> bool:
        return any(isinstance(f, Untrusted) and f.repository == repository for f in self.fault_of(Untrusted))


def _is_suspended(applier: Applier) -> bool:
    return applier.suspended is not None or bool(applier.desired.spec.get("suspend"))


def _floor(at: datetime) -> datetime:
    return at - (at - _EPOCH) % TICK
