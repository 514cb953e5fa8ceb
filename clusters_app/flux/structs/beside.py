"""The kinds that stand beside Flux: tofu-controller, Flagger, Deckhouse, Argo CD, and whatever has conditions."""

from __future__ import annotations

from msgspec import field

from .base import Document, Reference, Resource, Spec, Status
from .flux import Dependency


class GenericResource(Resource, frozen=True):
    """A kind that is read by the conditions Ready, Synced and Available alone; `kind` comes from the document."""

    document_kind: str = field(default="", name="kind")
    spec: Spec | None = None
    status: Status | None = None

    @property
    def kind(self) -> str:
        return self.document_kind


class TerraformSpec(Spec, frozen=True):
    approve_plan: str | None = None
    path: str | None = None
    source_ref: Reference | None = None
    depends_on: tuple[Dependency, ...] | None = None


class TerraformPlan(Document, frozen=True):
    pending: str | None = None
    last_applied: str | None = None
    is_destroy_plan: bool | None = None


class TerraformStatus(Status, frozen=True):
    plan: TerraformPlan | None = None
    last_applied_revision: str | None = None
    last_attempted_revision: str | None = None
    last_planned_revision: str | None = None
    last_planned_generation: int | None = None
    last_plan_at: str | None = None
    last_drift_detected_at: str | None = None


class Terraform(Resource, frozen=True):
    """tofu-controller's `infra.contrib.fluxcd.io`."""

    KIND = "Terraform"

    spec: TerraformSpec | None = None
    status: TerraformStatus | None = None


class CanaryStatus(Status, frozen=True):
    phase: str | None = None
    canary_weight: int | None = None
    failed_checks: int | None = None
    last_transition_time: str | None = None


class Canary(Resource, frozen=True):
    KIND = "Canary"

    spec: Spec | None = None
    status: CanaryStatus | None = None


class ModuleConfigStatus(Document, frozen=True):
    message: str | None = None
    version: str | None = None


class ModuleConfigSpec(Document, frozen=True):
    enabled: bool | None = None


class ModuleConfig(Resource, frozen=True):
    KIND = "ModuleConfig"

    spec: ModuleConfigSpec | None = None
    status: ModuleConfigStatus | None = None


class ModuleStatus(Status, frozen=True):
    phase: str | None = None


class ModuleProperties(Document, frozen=True):
    version: str | None = None


class Module(Resource, frozen=True):
    KIND = "Module"

    properties: ModuleProperties | None = None
    status: ModuleStatus | None = None


class NodeGroupStatus(Status, frozen=True):
    error: str | None = None
    ready: int | None = None
    nodes: int | None = None
    up_to_date: int | None = None


class NodeGroup(Resource, frozen=True):
    KIND = "NodeGroup"

    spec: Spec | None = None
    status: NodeGroupStatus | None = None


class IngressNginxController(Resource, frozen=True):
    KIND = "IngressNginxController"

    spec: Spec | None = None
    status: Status | None = None


class ArgoHealth(Document, frozen=True):
    status: str | None = None
    message: str | None = None


class ArgoSync(Document, frozen=True):
    status: str | None = None
    revision: str | None = None


class ArgoCondition(Document, frozen=True):
    type: str | None = None
    message: str | None = None


class ApplicationStatus(Document, frozen=True):
    sync: ArgoSync | None = None
    health: ArgoHealth | None = None
    conditions: tuple[ArgoCondition, ...] | None = None
    reconciled_at: str | None = None


class Application(Resource, frozen=True):
    """Argo CD's `argoproj.io`; its sync and health are shown as they are."""

    KIND = "Application"

    status: ApplicationStatus | None = None
