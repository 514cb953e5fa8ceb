"""Documents as a cluster would hold them, as small as a test needs them, and judging them in one line."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from clusters_app.flux.identity import ObjectRef
from clusters_app.flux.resources import Unreadable, decode_object
from clusters_app.flux.status import Memory, Verdict, judge
from clusters_app.flux.structs import Deployment, Lease, Resource

NOW = datetime(2026, 11, 30, 17, 0, tzinfo=UTC)
Document = dict[str, Any]

API_VERSIONS = {
    "Kustomization": "kustomize.toolkit.fluxcd.io/v1",
    "HelmRelease": "helm.toolkit.fluxcd.io/v2",
    "ImageRepository": "image.toolkit.fluxcd.io/v1",
    "ImagePolicy": "image.toolkit.fluxcd.io/v1",
    "ImageUpdateAutomation": "image.toolkit.fluxcd.io/v1",
    "Receiver": "notification.toolkit.fluxcd.io/v1",
    "Alert": "notification.toolkit.fluxcd.io/v1beta3",
    "Provider": "notification.toolkit.fluxcd.io/v1beta3",
    "Terraform": "infra.contrib.fluxcd.io/v1alpha2",
    "Canary": "flagger.app/v1beta1",
    "Deployment": "apps/v1",
    "Lease": "coordination.k8s.io/v1",
    "Application": "argoproj.io/v1alpha1",
    "ModuleConfig": "deckhouse.io/v1alpha1",
    "Module": "deckhouse.io/v1alpha1",
    "NodeGroup": "deckhouse.io/v1",
    "Certificate": "cert-manager.io/v1",
    "ExternalSecret": "external-secrets.io/v1",
}
SOURCES = "source.toolkit.fluxcd.io/v1"
FLEET = {"kind": "GitRepository", "name": "fleet"}


def ago(seconds: float) -> str:
    return (NOW - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def document(
    kind: str,
    name: str,
    *conditions: Document,
    namespace: str = "flux-system",
    spec: Document | None = None,
    status: Document | None = None,
    generation: int = 1,
    created: float = 3600,
    **metadata: Any,
) -> Document:
    """An object, created an hour ago unless told otherwise."""
    own = {"name": name, "namespace": namespace, "generation": generation, "creationTimestamp": ago(created)}
    return {
        "apiVersion": API_VERSIONS.get(kind, SOURCES),
        "kind": kind,
        "metadata": own | metadata,
        "spec": {"interval": "5m", "timeout": "1m", **(spec or {})},
        "status": {**(status or {}), **({"conditions": list(conditions)} if conditions else {})},
    }


def condition(
    type_: str, status: str, reason: str = "", message: str = "", *, generation: int = 1, since: float = 60
) -> Document:
    return {
        "type": type_,
        "status": status,
        "reason": reason,
        "message": message,
        "observedGeneration": generation,
        "lastTransitionTime": ago(since),
    }


def ready(message: str = "done", *, generation: int = 1, since: float = 60) -> Document:
    return condition("Ready", "True", "ReconciliationSucceeded", message, generation=generation, since=since)


def failing(reason: str, message: str, *, generation: int = 1, since: float = 60) -> Document:
    return condition("Ready", "False", reason, message, generation=generation, since=since)


def running(message: str = "Reconciliation in progress", *, generation: int = 1, since: float = 20) -> Document:
    return condition("Ready", "Unknown", "Progressing", message, generation=generation, since=since)


def kustomization(name: str, *conditions: Document, spec: Document | None = None, **more: Any) -> Document:
    return document(
        "Kustomization", name, *conditions, spec={"sourceRef": FLEET, "path": "./apps", **(spec or {})}, **more
    )


def helm_release(name: str, *conditions: Document, spec: Document | None = None, **more: Any) -> Document:
    chart = {"spec": {"chart": "web", "version": "1.0.0", "sourceRef": {"kind": "HelmRepository", "name": "charts"}}}
    return document("HelmRelease", name, *conditions, spec={"chart": chart, **(spec or {})}, **more)


def git_repository(
    name: str = "fleet", *conditions: Document, revision: str = "main@sha1:" + "a" * 40, **more: Any
) -> Document:
    """A source that has an artifact unless `revision` is empty."""
    artifact = {"artifact": {"revision": revision, "lastUpdateTime": ago(120)}} if revision else {}
    status = {**artifact, **more.pop("status", {})}
    return document("GitRepository", name, *(conditions or (ready(),)), status=status, **more)


def lease(controller: str, *, renewed: float = 5, holder: str = "pod-1", suffix: str = "") -> Document:
    name = f"{controller}-leader-election{suffix}"
    spec = {"holderIdentity": holder, "renewTime": ago(renewed), "leaseDurationSeconds": 35}
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name, "namespace": "flux-system"},
        "spec": spec,
    }


def judged(
    *documents: Mapping[str, Any],
    memory: Mapping[ObjectRef, Memory] | None = None,
    now: datetime = NOW,
    **options: Any,
) -> dict[str, Verdict]:
    """Verdicts by the text of the identity; Leases and Deployments among the documents play their part."""
    items = [decode_object(item) for item in documents]
    leases = [item for item in items if isinstance(item, Lease)]
    deployments = [item for item in items if isinstance(item, Deployment)]
    objects: Sequence[Resource | Unreadable] = [item for item in items if not isinstance(item, Lease)]
    verdicts = judge(objects, leases, memory or {}, now, deployments=deployments, **options)
    return {str(ref): verdict for ref, verdict in verdicts.items()}


def verdict_of(subject: Mapping[str, Any], *others: Mapping[str, Any], **options: Any) -> Verdict:
    """The verdict of the first document, with the others around it."""
    return next(iter(judged(subject, *others, **options).values()))
