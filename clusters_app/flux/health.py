"""The health of one object by its own document: the first rule that matches wins.

What waits for another object gets the opinion that it is blocked; `status.judge` decides what follows from that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from msgspec import Struct

from . import beside
from .conditions import condition, conditions_of, has_status, is_about, is_false, is_true
from .resources import KINDS, spec_of
from .structs import Condition, HelmRelease, HelmRepository, Kustomization, KustomizationStatus, Resource, Source, Spec
from .times import newest, parse_duration, parse_time
from .verdicts import Health, Memory

FINALIZERS_MAY_TAKE = timedelta(minutes=15)
DEFAULT_INTERVAL = timedelta(minutes=10)
DEFAULT_TIMEOUT = timedelta(minutes=1)
HELM_TIMEOUT = timedelta(minutes=5)
SHORTEST_TIMEOUT = timedelta(seconds=30)
_GRACE = timedelta(seconds=10)

BLOCKED_REASONS = {
    "Kustomization": frozenset({"ArtifactFailed", "DependencyNotReady"}),
    "HelmRelease": frozenset({"SourceNotReady", "ArtifactFailed", "DependencyNotReady"}),
    "HelmChart": frozenset({"NoSourceArtifact", "SourceUnavailable"}),
    "GitRepository": frozenset({"NoArtifact", "NotFound"}),
    "ImagePolicy": frozenset({"DependencyNotReady"}),
    "ImageUpdateAutomation": frozenset({"SourceManagerFailed"}),
    "Terraform": frozenset({"ArtifactFailed", "DependencyNotReady"}),
    "ArtifactGenerator": frozenset({"SourceFetchFailed"}),
}
"""Reasons of Ready=False that may mean "another object is not ready yet", by kind."""


class Opinion(Struct, frozen=True):
    """Health and the name of the rule that gave it; `condition` is what reason and message come from."""

    health: Health
    rule: str
    condition: Condition | None = None
    is_blocked: bool = False
    is_overdue: bool = False


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is known beside the document: the time, the memory of this object, whether its controller is silent."""

    now: datetime
    memory: Memory
    is_controller_dead: bool = False
    skew: timedelta = timedelta(0)

    @property
    def cluster_now(self) -> datetime:
        """Now by the clock that wrote the document's own times."""
        return self.now + self.skew


_SAY_MORE = frozenset({"Stalled", "Drifted", "TestSuccess"})
KINDS_OF_FLUX_RULE = {kind: spec.rule == "flux" for kind, spec in KINDS.items()}

Rule = Callable[[Resource, Circumstances], Opinion | None]


def opinion_of(resource: Resource, circumstances: Circumstances) -> Opinion:
    """The verdict of one document, by the first rule that has one."""
    for rule in (_terminating, _static, _stalled, _beside_flux, _not_observed, _not_ready, _in_progress, _ready):
        if opinion := rule(resource, circumstances):
            return opinion
    return Opinion(Health.UNKNOWN, "unknown")


def plainly_ready(resource: Resource) -> Opinion | None:
    """What all the rules say of most objects, in one pass; None where they have to be asked."""
    ready = None
    for found in conditions_of(resource):
        if found.type == "Ready":
            ready = found
        elif found.type in _SAY_MORE:
            return None
    if ready is None or ready.status != "True" or resource.metadata.deletion_timestamp or not is_about(resource, ready):
        return None
    return Opinion(Health.READY, "ready", ready) if KINDS_OF_FLUX_RULE.get(resource.kind) else None


def is_suspended(resource: Resource) -> bool:
    spec = getattr(resource, "spec", None)
    return isinstance(spec, Spec) and bool(spec.suspend)


def _terminating(resource: Resource, circumstances: Circumstances) -> Opinion | None:
    """Ready stays True all the while, and a denied prune shows in Events only."""
    if not resource.metadata.deletion_timestamp:
        return None
    since = parse_time(resource.metadata.deletion_timestamp)
    if since and resource.metadata.finalizers and circumstances.cluster_now - since > FINALIZERS_MAY_TAKE:
        return Opinion(Health.FAILING, "finalizer-stuck", condition(resource, "Ready"))
    return Opinion(Health.TERMINATING, "terminating", condition(resource, "Ready"))


def _static(resource: Resource, _: Circumstances) -> Opinion | None:
    """Kinds that have no status in their newer versions; older ones do, and then it counts."""
    if conditions_of(resource):
        return None
    if is_oci_helm_repository(resource) or _has_no_status(resource):
        return Opinion(Health.STATIC, "static")
    return None


def is_oci_helm_repository(resource: Resource) -> bool:
    return isinstance(resource, HelmRepository) and bool(resource.spec) and resource.spec.type == "oci"  # type: ignore[union-attr]


def _has_no_status(resource: Resource) -> bool:
    spec = spec_of(resource.kind, resource.api_version)
    return spec.rule == "static" or not spec.plural


def _beside_flux(resource: Resource, circumstances: Circumstances) -> Opinion | None:
    judge = beside.RULES.get(spec_of(resource.kind, resource.api_version).rule)
    found = judge(resource, circumstances.now) if judge else None
    return Opinion(*found) if found else None


def _stalled(resource: Resource, _: Circumstances) -> Opinion | None:
    return Opinion(Health.STALLED, "stalled", condition(resource, "Stalled")) if is_true(resource, "Stalled") else None


def _not_observed(resource: Resource, circumstances: Circumstances) -> Opinion | None:
    """Suspending raises the generation and most kinds leave Ready alone, so a suspended object is never unobserved."""
    ready = condition(resource, "Ready")
    if ready and ready.status and (is_suspended(resource) or is_about(resource, ready)):
        return None
    if is_suspended(resource):
        return Opinion(Health.UNKNOWN, "suspended-from-birth")
    since = generation_seen_at(resource, circumstances)
    is_late = since is not None and circumstances.now - since > interval_of(resource) + timeout_of(resource)
    if is_late and not _is_worked_on(resource):
        return Opinion(Health.FAILING if _is_flux(resource) else Health.UNKNOWN, "not-picked-up", ready)
    return Opinion(Health.PROGRESSING, "not-observed", ready)


def _is_flux(resource: Resource) -> bool:
    return spec_of(resource.kind, resource.api_version).rule in {"flux", "static", "terraform"}


def _is_worked_on(resource: Resource) -> bool:
    """The controller has taken up this generation, though it has not come to a verdict."""
    reconciling = condition(resource, "Reconciling")
    return bool(
        reconciling
        and reconciling.status == "True"
        and reconciling.observed_generation
        and is_about(resource, reconciling)
    )


def generation_seen_at(resource: Resource, circumstances: Circumstances) -> datetime | None:
    """When we first saw this generation; the first one was born with the object."""
    memory, generation = circumstances.memory, resource.metadata.generation
    if memory.generation == generation and memory.generation_seen_at:
        return memory.generation_seen_at
    return born_at(resource, circumstances.now, circumstances.skew) if (generation or 1) == 1 else None


def born_at(resource: Resource, now: datetime, skew: timedelta) -> datetime | None:
    """Creation, by our clock and never in the future."""
    born = parse_time(resource.metadata.creation_timestamp)
    return min(born - skew, now) if born else None


def _not_ready(resource: Resource, _: Circumstances) -> Opinion | None:
    """A failure that is being retried is a failure."""
    ready = condition(resource, "Ready")
    if not ready or ready.status != "False":
        return None
    if ready.reason == "HealthCheckCanceled":
        return Opinion(Health.PROGRESSING, "canceled", ready)
    may_be_blocked = ready.reason in BLOCKED_REASONS.get(resource.kind, ())
    return Opinion(Health.FAILING, "failing", ready, is_blocked=may_be_blocked)


def _in_progress(resource: Resource, circumstances: Circumstances) -> Opinion | None:
    ready = condition(resource, "Ready")
    if not ready or ready.status == "True":
        return None
    if not _is_overdue(resource, circumstances.cluster_now):
        return Opinion(Health.PROGRESSING, "in-progress", ready)
    nobody_works = circumstances.is_controller_dead or is_suspended(resource)
    return Opinion(Health.UNKNOWN if nobody_works else Health.FAILING, "no-verdict", ready, is_overdue=True)


def _is_overdue(resource: Resource, now: datetime) -> bool:
    """Each step of a reconciliation moves a time, so the newest of them is when the running step began."""
    if (
        not isinstance(getattr(resource, "spec", None), Spec)
        or not spec_of(resource.kind, resource.api_version).controller
    ):
        return False
    began = newest(*(item.last_transition_time for item in conditions_of(resource) if item.status != "False"))
    return began is not None and now - began > timeout_of(resource) + _GRACE


def _ready(resource: Resource, _: Circumstances) -> Opinion | None:
    if is_true(resource, "Drifted"):
        return Opinion(Health.DEGRADED, "drifted", condition(resource, "Drifted"))
    if is_false(resource, "TestSuccess"):
        return Opinion(Health.DEGRADED, "test-failed", condition(resource, "TestSuccess"))
    return (
        Opinion(Health.READY, "ready", condition(resource, "Ready")) if has_status(resource, "Ready", "True") else None
    )


def interval_of(resource: Resource) -> timedelta:
    spec = getattr(resource, "spec", None)
    return (parse_duration(spec.interval) if isinstance(spec, Spec) else None) or DEFAULT_INTERVAL


def timeout_of(resource: Resource) -> timedelta:
    """`spec.timeout`, or the default of the kind: a Kustomization's is its interval, and never under 30 s."""
    spec = getattr(resource, "spec", None)
    own = parse_duration(spec.timeout) if isinstance(spec, Spec) else None
    if isinstance(resource, Kustomization):
        return max(own or interval_of(resource), SHORTEST_TIMEOUT)
    return own or (HELM_TIMEOUT if isinstance(resource, HelmRelease) else DEFAULT_TIMEOUT)


def settled_by_document(resource: Resource) -> Health | None:
    """The last verdict as far as the document itself still tells, for objects that were never observed before.

    A Ready condition about an earlier generation was the verdict then. Beside it only failures can be read:
    `status.history` holds nothing but attempts that reached the apply step, so it proves no success.
    """
    ready = condition(resource, "Ready")
    if ready and not is_about(resource, ready) and ready.status in {"True", "False"}:
        return Health.READY if ready.status == "True" else Health.FAILING
    match resource:
        case Kustomization(status=status) if status and status.history:
            newest_attempt = status.history[0].last_reconciled_status or ""
            has_failed = newest_attempt.endswith("Failed") or _has_failed_before_applying(resource, status)
            return Health.FAILING if has_failed else None
        case HelmRelease():
            released = condition(resource, "Released")
            is_unlocked = released is not None and released.reason == "PendingRelease"
            return None if is_unlocked else _failing_if(released, "False", resource)
        case Source():
            return _failing_if(condition(resource, "FetchFailed"), "True", resource)
    return None


def _has_failed_before_applying(resource: Kustomization, status: KustomizationStatus) -> bool:
    """It fetches again and has not come to an attempt, so the one that is named is an earlier one without success."""
    reconciling = condition(resource, "Reconciling")
    is_fetching = reconciling is not None and (reconciling.message or "").startswith("Fetching manifests")
    was_canceled = condition(resource, "Healthy") is not None
    return is_fetching and not was_canceled and status.last_attempted_revision != status.last_applied_revision


def _failing_if(found: Condition | None, status: str, resource: Resource) -> Health | None:
    return Health.FAILING if found and found.status == status and is_about(resource, found) else None
