"""The kinds of Flux itself, over every API version from 2.0 on: a field that a version lacks is None."""

from __future__ import annotations

from .base import Artifact, Document, Reference, Resource, Spec, Status

# --- sources ------------------------------------------------------------------------------------------------------


class SourceRefSpec(Document, frozen=True):
    branch: str | None = None
    tag: str | None = None
    semver: str | None = None
    name: str | None = None
    commit: str | None = None
    digest: str | None = None


class Include(Document, frozen=True):
    repository: Reference | None = None


class Verification(Document, frozen=True):
    secret_ref: Reference | None = None


class SourceSpec(Spec, frozen=True):
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


class SourceStatus(Status, frozen=True):
    artifact: Artifact | None = None


class Source(Resource, frozen=True):
    """GitRepository, OCIRepository, Bucket, HelmRepository and ExternalArtifact: whatever serves an artifact."""

    spec: SourceSpec | None = None
    status: SourceStatus | None = None


class GitRepository(Source, frozen=True):
    KIND = "GitRepository"


class OCIRepository(Source, frozen=True):
    KIND = "OCIRepository"


class Bucket(Source, frozen=True):
    KIND = "Bucket"


class HelmRepository(Source, frozen=True):
    KIND = "HelmRepository"


class ExternalArtifact(Source, frozen=True):
    KIND = "ExternalArtifact"


class HelmChartSpec(Spec, frozen=True):
    chart: str | None = None
    version: str | None = None
    source_ref: Reference | None = None


class HelmChart(Resource, frozen=True):
    KIND = "HelmChart"

    spec: HelmChartSpec | None = None
    status: SourceStatus | None = None


class ArtifactGeneratorSpec(Spec, frozen=True):
    sources: tuple[Reference, ...] | None = None


class ArtifactGenerator(Resource, frozen=True):
    KIND = "ArtifactGenerator"

    spec: ArtifactGeneratorSpec | None = None
    status: Status | None = None


# --- appliers -----------------------------------------------------------------------------------------------------


class Dependency(Reference, frozen=True):
    ready_expr: str | None = None


class KubeConfig(Document, frozen=True):
    secret_ref: Reference | None = None


class SubstituteReference(Document, frozen=True):
    kind: str | None = None
    name: str | None = None
    optional: bool | None = None


class PostBuild(Document, frozen=True):
    substitute_from: tuple[SubstituteReference, ...] | None = None


class Decryption(Document, frozen=True):
    provider: str | None = None
    secret_ref: Reference | None = None


class KustomizationSpec(Spec, frozen=True):
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


class InventoryItem(Document, frozen=True):
    id: str | None = None
    v: str | None = None


class Inventory(Document, frozen=True):
    entries: tuple[InventoryItem, ...] | None = None


class Reconciliation(Document, frozen=True):
    last_reconciled: str | None = None
    last_reconciled_status: str | None = None
    total_reconciliations: int | None = None
    metadata: dict[str, str | None] | None = None


class KustomizationStatus(Status, frozen=True):
    last_applied_revision: str | None = None
    last_attempted_revision: str | None = None
    last_applied_origin_revision: str | None = None
    inventory: Inventory | None = None
    history: tuple[Reconciliation, ...] | None = None


class Kustomization(Resource, frozen=True):
    KIND = "Kustomization"

    spec: KustomizationSpec | None = None
    status: KustomizationStatus | None = None


class ChartTemplateSpec(Document, frozen=True):
    chart: str | None = None
    version: str | None = None
    source_ref: Reference | None = None


class ChartTemplate(Document, frozen=True):
    spec: ChartTemplateSpec | None = None


class ValuesReference(Document, frozen=True):
    kind: str | None = None
    name: str | None = None
    optional: bool | None = None


class HelmReleaseSpec(Spec, frozen=True):
    chart: ChartTemplate | None = None
    chart_ref: Reference | None = None
    depends_on: tuple[Dependency, ...] | None = None
    release_name: str | None = None
    target_namespace: str | None = None
    storage_namespace: str | None = None
    service_account_name: str | None = None
    values_from: tuple[ValuesReference, ...] | None = None
    kube_config: KubeConfig | None = None


class ReleaseSnapshot(Document, frozen=True):
    chart_name: str | None = None
    chart_version: str | None = None
    app_version: str | None = None
    status: str | None = None
    version: int | None = None


class HelmReleaseStatus(Status, frozen=True):
    history: tuple[ReleaseSnapshot, ...] | None = None
    last_attempted_revision: str | None = None
    last_applied_revision: str | None = None
    last_release_revision: int | None = None
    failures: int | None = None
    install_failures: int | None = None
    upgrade_failures: int | None = None
    helm_chart: str | None = None
    inventory: Inventory | None = None


class HelmRelease(Resource, frozen=True):
    KIND = "HelmRelease"

    spec: HelmReleaseSpec | None = None
    status: HelmReleaseStatus | None = None


# --- images -------------------------------------------------------------------------------------------------------


class ImageRepositorySpec(Spec, frozen=True):
    image: str | None = None
    secret_ref: Reference | None = None
    cert_secret_ref: Reference | None = None


class ScanResult(Document, frozen=True):
    scan_time: str | None = None
    tag_count: int | None = None


class ImageRepositoryStatus(Status, frozen=True):
    last_scan_result: ScanResult | None = None
    canonical_image_name: str | None = None


class ImageRepository(Resource, frozen=True):
    KIND = "ImageRepository"

    spec: ImageRepositorySpec | None = None
    status: ImageRepositoryStatus | None = None


class ImagePolicySpec(Spec, frozen=True):
    image_repository_ref: Reference | None = None


class ImageRef(Document, frozen=True):
    name: str | None = None
    tag: str | None = None
    digest: str | None = None


class ImagePolicyStatus(Status, frozen=True):
    latest_ref: ImageRef | None = None
    latest_image: str | None = None


class ImagePolicy(Resource, frozen=True):
    KIND = "ImagePolicy"

    spec: ImagePolicySpec | None = None
    status: ImagePolicyStatus | None = None


class PushSpec(Document, frozen=True):
    branch: str | None = None


class GitSpec(Document, frozen=True):
    push: PushSpec | None = None


class UpdateSpec(Document, frozen=True):
    path: str | None = None


class ImageUpdateAutomationSpec(Spec, frozen=True):
    source_ref: Reference | None = None
    git: GitSpec | None = None
    update: UpdateSpec | None = None


class ImageUpdateAutomationStatus(Status, frozen=True):
    last_automation_run_time: str | None = None
    last_push_commit: str | None = None
    last_push_time: str | None = None


class ImageUpdateAutomation(Resource, frozen=True):
    KIND = "ImageUpdateAutomation"

    spec: ImageUpdateAutomationSpec | None = None
    status: ImageUpdateAutomationStatus | None = None


# --- notification -------------------------------------------------------------------------------------------------


class ReceiverSpec(Spec, frozen=True):
    type: str | None = None
    secret_ref: Reference | None = None


class Receiver(Resource, frozen=True):
    """Its `status.webhookPath` is a secret in all but name and is not read."""

    KIND = "Receiver"

    spec: ReceiverSpec | None = None
    status: Status | None = None


class AlertSpec(Spec, frozen=True):
    provider_ref: Reference | None = None


class Alert(Resource, frozen=True):
    KIND = "Alert"

    spec: AlertSpec | None = None
    status: Status | None = None


class ProviderSpec(Spec, frozen=True):
    type: str | None = None
    secret_ref: Reference | None = None


class Provider(Resource, frozen=True):
    KIND = "Provider"

    spec: ProviderSpec | None = None
    status: Status | None = None
