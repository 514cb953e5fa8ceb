"""Health of the kinds that stand beside Flux and do not follow its conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from .conditions import condition, conditions_of, is_true
from .leases import container_arguments
from .structs import (
    Application,
    Canary,
    Condition,
    Deployment,
    Module,
    ModuleConfig,
    NodeGroup,
    Resource,
    Terraform,
)
from .times import parse_time
from .verdicts import Health

Finding = tuple[Health, str, Condition | None]
KindRule = Callable[[Resource, datetime], Finding | None]

_ON_ITS_WAY = frozenset(
    {"Creating", "Deleting", "Provisioning", "Issuing", "Pending", "InProgress", "Progressing", "Waiting"}
)
_FLUX_V1_SETTINGS = ("git-url", "git-branch", "git-path", "sync-interval")
_FLUX_V1_IMAGES = ("fluxcd/flux", "weaveworks/flux")


def by_conditions(resource: Resource, _: datetime) -> Finding | None:
    """Ready, Synced and Available, whichever there are: one False fails, one that is not known yet is in progress."""
    present = [item for item in conditions_of(resource) if item.type in {"Ready", "Synced", "Available"}]
    if not present:
        return None
    if false := next((item for item in present if item.status == "False"), None):
        is_on_its_way = false.reason in _ON_ITS_WAY or is_true(resource, "Issuing")
        return (Health.PROGRESSING, "in-progress", false) if is_on_its_way else (Health.FAILING, "failing", false)
    if unknown := next((item for item in present if item.status != "True"), None):
        return Health.PROGRESSING, "in-progress", unknown
    stale = next((item for item in present if _is_old(resource, item)), None)
    return (Health.PROGRESSING, "not-observed", stale) if stale else (Health.READY, "ready", present[0])


def _is_old(resource: Resource, found: Condition) -> bool:
    status = getattr(resource, "status", None)
    observed = found.observed_generation or getattr(status, "observed_generation", None)
    return observed is not None and observed < (resource.metadata.generation or 0)


def terraform(resource: Resource, _: datetime) -> Finding | None:
    """tofu-controller: a plan that waits for a person, drift that it saw; everything else as Flux has it."""
    if not isinstance(resource, Terraform) or not resource.status:
        return None
    ready = condition(resource, "Ready")
    if ready and ready.status == "Unknown" and ready.reason == "TerraformPlannedWithChanges" and pending_plan(resource):
        return Health.PENDING_APPROVAL, "approval", ready
    is_ready = ready is not None and ready.status == "True" and not _is_old(resource, ready)
    return (
        (Health.DEGRADED, "drifted", condition(resource, "Apply") or ready)
        if is_ready and has_drifted(resource)
        else None
    )


def pending_plan(resource: Terraform) -> str:
    """The id of the plan that waits for approval; empty when none does."""
    plan = resource.status.plan if resource.status else None
    approval = resource.spec.approve_plan if resource.spec else None
    pending = (plan.pending if plan else None) or ""
    return "" if approval in {"auto", pending} else pending


def can_approve(resource: Terraform) -> bool:
    """Only a plan of the generation that stands now may be offered for approval."""
    planned = resource.status.last_planned_generation if resource.status else None
    return bool(pending_plan(resource)) and planned == resource.metadata.generation


def has_drifted(resource: Terraform) -> bool:
    """Drift was seen after the last apply."""
    seen = parse_time(resource.status.last_drift_detected_at) if resource.status else None
    applied = condition(resource, "Apply")
    applied_at = parse_time(applied.last_transition_time) if applied else None
    return seen is not None and (applied_at is None or seen > applied_at)


_CANARY_PHASES: Mapping[str, Health] = {
    "Initialized": Health.READY,
    "Succeeded": Health.READY,
    "Waiting": Health.PENDING_APPROVAL,
    "WaitingPromotion": Health.PENDING_APPROVAL,
    "Failed": Health.DEGRADED,
    "Terminating": Health.TERMINATING,
    "Terminated": Health.TERMINATING,
}


def canary(resource: Resource, _: datetime) -> Finding | None:
    """Flagger's phase; a failed one is Degraded, because the primary still serves."""
    phase = (resource.status.phase if isinstance(resource, Canary) and resource.status else None) or ""
    if not phase:
        return None
    health = _CANARY_PHASES.get(phase, Health.PROGRESSING)
    found = condition(resource, "Promoted")
    return (
        health,
        _CANARY_RULES.get(health, "in-progress"),
        found or Condition("phase", "Unknown", phase, f"phase {phase}"),
    )


_CANARY_RULES = {
    Health.READY: "ready",
    Health.PENDING_APPROVAL: "approval",
    Health.DEGRADED: "canary-failed",
    Health.TERMINATING: "terminating",
}


def module_config(resource: Resource, _: datetime) -> Finding | None:
    """It has no conditions: a message is a warning, and the verdict on what it configures stands on Module."""
    if not isinstance(resource, ModuleConfig):
        return None
    message = (resource.status.message if resource.status else None) or ""
    if message:
        return Health.DEGRADED, "message", Condition("message", "False", "Message", message)
    return Health.STATIC, "static", None


_MODULE_PHASES: Mapping[str, Health] = {
    "Ready": Health.READY,
    "Available": Health.STATIC,
    "Unavailable": Health.FAILING,
    "Error": Health.FAILING,
    "Conflict": Health.FAILING,
    "DownloadingError": Health.FAILING,
    "HooksDisabled": Health.STATIC,
    "Disabled": Health.STATIC,
}


def module(resource: Resource, now: datetime) -> Finding | None:
    """Deckhouse's phase; conditions tell why it is not Ready."""
    phase = (resource.status.phase if isinstance(resource, Module) and resource.status else None) or ""
    if not phase:
        return by_conditions(resource, now)
    health = _MODULE_PHASES.get(phase, Health.PROGRESSING)
    rule = {Health.READY: "ready", Health.STATIC: "static", Health.FAILING: "failing"}.get(health, "in-progress")
    why = next((item for item in conditions_of(resource) if item.status == "False" and item.message), None)
    return health, rule, why or Condition("phase", "Unknown", phase, f"phase {phase}")


def node_group(resource: Resource, _: datetime) -> Finding | None:
    """Ready when there is no error and all nodes are ready and up to date; `conditionSummary.ready` is a string."""
    status = resource.status if isinstance(resource, NodeGroup) else None
    if not status or (status.nodes is None and not status.error):
        return None
    if status.error:
        return Health.FAILING, "failing", Condition("error", "False", "Error", status.error)
    nodes, ready, fresh = status.nodes or 0, status.ready or 0, status.up_to_date or 0
    if ready == nodes == fresh:
        return Health.READY, "ready", condition(resource, "Ready")
    text = f"{ready} of {nodes} nodes are ready, {fresh} are up to date"
    return Health.PROGRESSING, "in-progress", Condition("nodes", "Unknown", "NodesNotReady", text)


_ARGO_HEALTH: Mapping[str, Health] = {
    "Healthy": Health.READY,
    "Degraded": Health.DEGRADED,
    "Progressing": Health.PROGRESSING,
    "Missing": Health.DEGRADED,
}


def argo(resource: Resource, _: datetime) -> Finding | None:
    """Argo CD's two words, shown as they are; out of sync is not green."""
    status = resource.status if isinstance(resource, Application) else None
    if not status or not status.health or not status.health.status:
        return None
    sync = (status.sync.status if status.sync else None) or "Unknown"
    health = _ARGO_HEALTH.get(status.health.status, Health.UNKNOWN)
    if health is Health.READY and sync != "Synced":
        health = Health.DEGRADED
    details = [status.health.message, *(item.message for item in status.conditions or ())]
    text = "\n".join([f"{sync}, {status.health.status}", *(detail for detail in details if detail)])
    rule = "ready" if health is Health.READY else "argo"
    return health, rule, Condition("health", "Unknown", status.health.status, text)


def deployment(resource: Resource, now: datetime) -> Finding | None:
    """Flux v1 is a Deployment and nothing else, and past its end of life; other Deployments by Available."""
    if not isinstance(resource, Deployment):
        return None
    if is_flux_v1(resource):
        return Health.DEGRADED, "flux-v1", Condition("image", "False", "EndOfLife", "Flux v1 is past its end of life")
    progressing = condition(resource, "Progressing")
    if progressing and progressing.status == "False":
        return Health.FAILING, "failing", progressing
    found = by_conditions(resource, now)
    if found and found[0] is Health.FAILING and progressing and progressing.status == "True":
        return Health.PROGRESSING, "in-progress", progressing
    return found or (Health.UNKNOWN, "unknown", None)


def is_flux_v1(resource: Deployment) -> bool:
    template = resource.spec.template if resource.spec else None
    containers = (template.spec.containers if template and template.spec else None) or ()
    images = [(container.image or "").partition("@")[0] for container in containers]
    return any(_repository(image).endswith(_FLUX_V1_IMAGES) for image in images)


def flux_v1_settings(resource: Deployment) -> dict[str, str]:
    """What Flux v1 follows, from its arguments: git-url, git-branch, git-path, sync-interval; only what is set."""
    pairs = (argument.removeprefix("--").partition("=") for argument in container_arguments(resource))
    return {name: value for name, _, value in pairs if name in _FLUX_V1_SETTINGS and value}


def _repository(image: str) -> str:
    """An image without its tag; the colon of a registry's port is in front of a slash."""
    head, slash, last = image.rpartition("/")
    return f"{head}{slash}{last.partition(':')[0]}"


RULES: Mapping[str, KindRule] = {
    "conditions": by_conditions,
    "terraform": terraform,
    "canary": canary,
    "module-config": module_config,
    "module": module,
    "node-group": node_group,
    "argo": argo,
    "deployment": deployment,
}
