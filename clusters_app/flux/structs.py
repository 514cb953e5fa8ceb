"""The documents that are read, as typed structs: only the fields that a verdict needs, unknown ones are skipped.

Field names and meanings are those of the Flux, Flagger, tofu-controller, Deckhouse and Argo CD APIs. `spec.values`,
`postBuild.substitute` and every other field that may carry a secret are left out, so they are never even decoded.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta, Struct, field

from .identity import ObjectRef


class _Document(Struct, frozen=True, rename="camel"):
    """How every document is read: values, and names as JSON spells them."""


# --- what all kinds share -------------------------------------------------------------------------------------------


class Annotations(_Document):
    """The annotations that matter; the last applied configuration, which repeats the whole object, is not read."""

    requested_at: str | None = field(default=None, name="reconcile.fluxcd.io/requestedAt")
    reconcile: str | None = field(default=None, name="kustomize.toolkit.fluxcd.io/reconcile")


class Owned(_Document):
    """`{}`: the field is owned."""


class OwnedSpec(_Document):
    suspend: Owned | None = field(default=None, name="f:suspend")


class OwnedFields(_Document):
    spec: OwnedSpec | None = field(default=None, name="f:spec")


class ManagedField(_Document):
    """Who wrote what when; of all fields only whether `spec.suspend` is among them is read."""

    manager: str | None = None
    time: str | None = None
    fields: OwnedFields | None = field(default=None, name="fieldsV1")

    @property
    def is_suspension(self) -> bool:
        return bool(self.fields and self.fields.spec and self.fields.spec.suspend is not None)


class Metadata(_Document):
    name: Annotated[str, Meta(min_length=1)]
    namespace: str | None = None
    uid: str | None = None
    generation: int | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    finalizers: tuple[str, ...] | None = None
    labels: dict[str, str | None] | None = None
    annotations: Annotations | None = None
    managed_fields: tuple[ManagedField, ...] | None = None


class Condition(_Document):
    type: str | None = None
    status: str | None = None
    reason: str | None = None
    message: str | None = None
    observed_generation: int | None = None
    last_transition_time: str | None = None


class Artifact(_Document):
    revision: str | None = None
    digest: str | None = None
    last_update_time: str | None = None
    metadata: dict[str, str | None] | None = None


class Reference(_Document):
    """A reference to another object; an absent namespace is the referrer's own, an absent kind the field's default."""

    name: str | None = None
    kind: str | None = None
    namespace: str | None = None


class Spec(_Document):
    suspend: bool | None = None
    interval: str | None = None
    timeout: str | None = None


class Status(_Document):
    conditions: tuple[Condition, ...] | None = None
    observed_generation: int | None = None
    last_handled_reconcile_at: str | None = None


class Resource(_Document):
    """What every observed object has. `ref` is its identity; the struct of each kind adds its own spec and status."""

    KIND: ClassVar[str] = ""

    metadata: Metadata
    api_version: str | None = None

    @property
    def kind(self) -> str:
        return self.KIND

    @property
    def ref(self) -> ObjectRef:
        return ObjectRef(self.kind, self.metadata.namespace or "", self.metadata.name)


# --- sources --------------------------------------------------------------------------------------------------------


class SourceRefSpec(_Document):
    branch: str | None = None
    tag: str | None = None
    semver: str | None = None
    name: str | None = None
    commit: str | None = None
    digest: str | None = None


class Include(_Document):
    repository: Reference | None = None


class Verification(_Document):
    secret_ref: Reference | None = None


class SourceSpec(Spec):
    url: str | None = None
    endpoint: str | None = None
    bucket_name: str | None = None
    type: str | None = None
    ref: SourceRefSpec | None = None
    secret_ref: Reference | None = None
    cert_secret_ref: Reference | None = None
    include: tuple[Include, ...] | None = None
    verify: Verification | None = None
    ignore: str | None = None


class SourceStatus(Status):
    artifact: Artifact | None = None


class Source(Resource):
    """GitRepository, OCIRepository, Bucket, HelmRepository and ExternalArtifact: whatever serves an artifact."""

    spec: SourceSpec | None = None
    status: SourceStatus | None = None


class GitRepository(Source):
    KIND = "GitRepository"


class OCIRepository(Source):
    KIND = "OCIRepository"


class Bucket(Source):
    KIND = "Bucket"


class HelmRepository(Source):
    KIND = "HelmRepository"


class ExternalArtifact(Source):
    KIND = "ExternalArtifact"


class HelmChartSpec(Spec):
    chart: str | None = None
    version: str | None = None
    source_ref: Reference | None = None


class HelmChart(Resource):
    KIND = "HelmChart"

    spec: HelmChartSpec | None = None
    status: SourceStatus | None = None


class ArtifactGeneratorSpec(Spec):
    sources: tuple[Reference, ...] | None = None


class ArtifactGenerator(Resource):
    KIND = "ArtifactGenerator"

    spec: ArtifactGeneratorSpec | None = None
    status: Status | None = None


# --- appliers -------------------------------------------------------------------------------------------------------


class Dependency(Reference):
    ready_expr: str | None = None


class KubeConfig(_Document):
    secret_ref: Reference | None = None


class SubstituteReference(_Document):
    kind: str | None = None
    name: str | None = None
    optional: bool | None = None


class PostBuild(_Document):
    substitute_from: tuple[SubstituteReference, ...] | None = None


class Decryption(_Document):
    provider: str | None = None
    secret_ref: Reference | None = None


class KustomizationSpec(Spec):
    path: str | None = None
    prune: bool | None = None
    wait: bool | None = None
    source_ref: Reference | None = None
    depends_on: tuple[Dependency, ...] | None = None
    target_namespace: str | None = None
    service_account_name: str | None = None
    retry_interval: str | None = None
    kube_config: KubeConfig | None = None
    decryption: Decryption | None = None
    post_build: PostBuild | None = None


class InventoryItem(_Document):
    id: str | None = None
    v: str | None = None


class Inventory(_Document):
    entries: tuple[InventoryItem, ...] | None = None


class Reconciliation(_Document):
    last_reconciled: str | None = None
    last_reconciled_status: str | None = None
    metadata: dict[str, str | None] | None = None


class KustomizationStatus(Status):
    last_applied_revision: str | None = None
    last_attempted_revision: str | None = None
    last_applied_origin_revision: str | None = None
    inventory: Inventory | None = None
    history: tuple[Reconciliation, ...] | None = None


class Kustomization(Resource):
    KIND = "Kustomization"

    spec: KustomizationSpec | None = None
    status: KustomizationStatus | None = None


class ChartTemplateSpec(_Document):
    chart: str | None = None
    version: str | None = None
    source_ref: Reference | None = None


class ChartTemplate(_Document):
    spec: ChartTemplateSpec | None = None


class ValuesReference(_Document):
    kind: str | None = None
    name: str | None = None
    optional: bool | None = None


class HelmReleaseSpec(Spec):
    chart: ChartTemplate | None = None
    chart_ref: Reference | None = None
    depends_on: tuple[Dependency, ...] | None = None
    release_name: str | None = None
    target_namespace: str | None = None
    storage_namespace: str | None = None
    service_account_name: str | None = None
    values_from: tuple[ValuesReference, ...] | None = None
    kube_config: KubeConfig | None = None


class ReleaseSnapshot(_Document):
    chart_name: str | None = None
    chart_version: str | None = None
    app_version: str | None = None
    status: str | None = None
    version: int | None = None


class HelmReleaseStatus(Status):
    history: tuple[ReleaseSnapshot, ...] | None = None
    last_attempted_revision: str | None = None
    last_applied_revision: str | None = None
    last_release_revision: int | None = None
    failures: int | None = None
    install_failures: int | None = None
    upgrade_failures: int | None = None
    helm_chart: str | None = None
    inventory: Inventory | None = None


class HelmRelease(Resource):
    KIND = "HelmRelease"

    spec: HelmReleaseSpec | None = None
    status: HelmReleaseStatus | None = None


# --- images ---------------------------------------------------------------------------------------------------------


class ImageRepositorySpec(Spec):
    image: str | None = None
    secret_ref: Reference | None = None
    cert_secret_ref: Reference | None = None


class ScanResult(_Document):
    scan_time: str | None = None
    tag_count: int | None = None


class ImageRepositoryStatus(Status):
    last_scan_result: ScanResult | None = None
    canonical_image_name: str | None = None


class ImageRepository(Resource):
    KIND = "ImageRepository"

    spec: ImageRepositorySpec | None = None
    status: ImageRepositoryStatus | None = None


class ImagePolicySpec(Spec):
    image_repository_ref: Reference | None = None


class ImageRef(_Document):
    name: str | None = None
    tag: str | None = None
    digest: str | None = None


class ImagePolicyStatus(Status):
    latest_ref: ImageRef | None = None
    latest_image: str | None = None


class ImagePolicy(Resource):
    KIND = "ImagePolicy"

    spec: ImagePolicySpec | None = None
    status: ImagePolicyStatus | None = None


class PushSpec(_Document):
    branch: str | None = None


class GitSpec(_Document):
    push: PushSpec | None = None


class UpdateSpec(_Document):
    path: str | None = None


class ImageUpdateAutomationSpec(Spec):
    source_ref: Reference | None = None
    git: GitSpec | None = None
    update: UpdateSpec | None = None


class ImageUpdateAutomationStatus(Status):
    last_automation_run_time: str | None = None
    last_push_commit: str | None = None
    last_push_time: str | None = None


class ImageUpdateAutomation(Resource):
    KIND = "ImageUpdateAutomation"

    spec: ImageUpdateAutomationSpec | None = None
    status: ImageUpdateAutomationStatus | None = None


# --- notification ---------------------------------------------------------------------------------------------------


class ReceiverSpec(Spec):
    type: str | None = None
    secret_ref: Reference | None = None


class Receiver(Resource):
    """Its `status.webhookPath` is a secret in all but name and is not read."""

    KIND = "Receiver"

    spec: ReceiverSpec | None = None
    status: Status | None = None


class AlertSpec(Spec):
    provider_ref: Reference | None = None


class Alert(Resource):
    KIND = "Alert"

    spec: AlertSpec | None = None
    status: Status | None = None


class ProviderSpec(Spec):
    type: str | None = None
    secret_ref: Reference | None = None


class Provider(Resource):
    KIND = "Provider"

    spec: ProviderSpec | None = None
    status: Status | None = None


# --- beside Flux ----------------------------------------------------------------------------------------------------


class GenericResource(Resource):
    """A kind that is read by the conditions Ready, Synced and Available alone; `kind` comes from the document."""

    document_kind: str = field(default="", name="kind")
    spec: Spec | None = None
    status: Status | None = None

    @property
    def kind(self) -> str:
        return self.document_kind


class TerraformSpec(Spec):
    approve_plan: str | None = None
    path: str | None = None
    source_ref: Reference | None = None
    depends_on: tuple[Dependency, ...] | None = None


class TerraformPlan(_Document):
    pending: str | None = None
    last_applied: str | None = None
    is_destroy_plan: bool | None = None


class TerraformStatus(Status):
    plan: TerraformPlan | None = None
    last_applied_revision: str | None = None
    last_attempted_revision: str | None = None
    last_planned_revision: str | None = None
    last_planned_generation: int | None = None
    last_plan_at: str | None = None
    last_drift_detected_at: str | None = None


class Terraform(Resource):
    """tofu-controller's `infra.contrib.fluxcd.io`."""

    KIND = "Terraform"

    spec: TerraformSpec | None = None
    status: TerraformStatus | None = None


class CanaryStatus(Status):
    phase: str | None = None
    canary_weight: int | None = None
    failed_checks: int | None = None
    last_transition_time: str | None = None


class Canary(Resource):
    KIND = "Canary"

    spec: Spec | None = None
    status: CanaryStatus | None = None


class ModuleConfigStatus(_Document):
    message: str | None = None
    version: str | None = None


class ModuleConfigSpec(_Document):
    enabled: bool | None = None


class ModuleConfig(Resource):
    KIND = "ModuleConfig"

    spec: ModuleConfigSpec | None = None
    status: ModuleConfigStatus | None = None


class ModuleStatus(Status):
    phase: str | None = None


class ModuleProperties(_Document):
    version: str | None = None


class Module(Resource):
    KIND = "Module"

    properties: ModuleProperties | None = None
    status: ModuleStatus | None = None


class NodeGroupStatus(Status):
    error: str | None = None
    ready: int | None = None
    nodes: int | None = None
    up_to_date: int | None = None


class NodeGroup(Resource):
    KIND = "NodeGroup"

    spec: Spec | None = None
    status: NodeGroupStatus | None = None


class IngressNginxController(Resource):
    KIND = "IngressNginxController"

    spec: Spec | None = None
    status: Status | None = None


class ArgoHealth(_Document):
    status: str | None = None
    message: str | None = None


class ArgoSync(_Document):
    status: str | None = None
    revision: str | None = None


class ArgoCondition(_Document):
    type: str | None = None
    message: str | None = None


class ApplicationStatus(_Document):
    sync: ArgoSync | None = None
    health: ArgoHealth | None = None
    conditions: tuple[ArgoCondition, ...] | None = None
    reconciled_at: str | None = None


class Application(Resource):
    """Argo CD's `argoproj.io`; its sync and health are shown as they are."""

    KIND = "Application"

    status: ApplicationStatus | None = None


class Container(_Document):
    name: str | None = None
    image: str | None = None
    args: tuple[str, ...] | None = None


class PodSpec(_Document):
    containers: tuple[Container, ...] | None = None


class PodTemplate(_Document):
    spec: PodSpec | None = None


class DeploymentSpec(_Document):
    replicas: int | None = None
    template: PodTemplate | None = None


class Deployment(Resource):
    """The controllers themselves, and Flux v1, which is a Deployment and nothing else."""

    KIND = "Deployment"

    spec: DeploymentSpec | None = None
    status: Status | None = None


class LeaseSpec(_Document):
    holder_identity: str | None = None
    renew_time: str | None = None
    lease_duration_seconds: int | None = None


class Lease(Resource):
    KIND = "Lease"

    spec: LeaseSpec | None = None
