"""Which revision an object is about: for each kind, where its status keeps it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .conditions import condition
from .structs import (
    Application,
    HelmChart,
    HelmRelease,
    ImagePolicy,
    ImageUpdateAutomation,
    Kustomization,
    KustomizationStatus,
    Module,
    Resource,
    Source,
    SourceStatus,
    Terraform,
)

ORIGIN_REVISION = "org.opencontainers.image.revision"
_APPLIED_BUT_NOT_HEALTHY = frozenset({"HealthCheckFailed", "HealthCheckCanceled", "PruneFailed"})
_DIGEST = re.compile(r"\b(sha1|sha256|sha384|sha512):([0-9a-f]{8})[0-9a-f]+")
_COMMIT = re.compile(r"\b([0-9a-f]{8})[0-9a-f]{32}\b")


@dataclass(frozen=True, slots=True)
class Revisions:
    """`revision` is what Flux shows for the kind; `applied` what the cluster holds, also after a failed check."""

    revision: str | None = None
    applied: str | None = None
    attempted: str | None = None
    deployed: str | None = None
    origin: str | None = None


NO_REVISIONS = Revisions()


def revisions_of(resource: Resource) -> Revisions:
    """None where the object has none, or none yet."""
    match resource:
        case Kustomization(status=status) if status:
            return _of_kustomization(resource, status)
        case HelmRelease(status=status) if status:
            deployed = deployed_version(resource)
            return Revisions(status.last_attempted_revision, deployed, status.last_attempted_revision, deployed)
        case Source(status=status) | HelmChart(status=status) if status:
            return _of_artifact(status)
        case Terraform(status=status) if status:
            return Revisions(status.last_applied_revision, status.last_applied_revision, status.last_attempted_revision)
    return Revisions(_plain_revision(resource))


def _plain_revision(resource: Resource) -> str | None:
    """Of the kinds that have one revision and no more."""
    match resource:
        case ImagePolicy():
            return image_of(resource)
        case ImageUpdateAutomation(status=status) if status:
            return status.last_push_commit
        case Application(status=status) if status and status.sync:
            return status.sync.revision
        case Module(properties=properties) if properties:
            return properties.version
    return None


def _of_kustomization(resource: Kustomization, status: KustomizationStatus) -> Revisions:
    ready = condition(resource, "Ready")
    is_applied = ready is not None and ready.reason in _APPLIED_BUT_NOT_HEALTHY
    applied = status.last_attempted_revision if is_applied else None
    return Revisions(
        status.last_applied_revision,
        applied or status.last_applied_revision,
        status.last_attempted_revision,
        origin=status.last_applied_origin_revision,
    )


def _of_artifact(status: SourceStatus) -> Revisions:
    if not status.artifact:
        return NO_REVISIONS
    return Revisions(status.artifact.revision, origin=(status.artifact.metadata or {}).get(ORIGIN_REVISION))


def deployed_version(release: HelmRelease) -> str | None:
    """The chart version of the newest release that is `deployed`; v2beta1 has no history but the applied revision."""
    if not release.status:
        return None
    history = release.status.history or ()
    deployed = next((snapshot.chart_version for snapshot in history if snapshot.status == "deployed"), None)
    return deployed if history else release.status.last_applied_revision


def image_of(policy: ImagePolicy) -> str | None:
    """`name:tag[@digest]`; before v1beta2 had `latestRef`, the text of `latestImage`."""
    if not policy.status or not policy.status.latest_ref:
        return policy.status.latest_image if policy.status else None
    latest = policy.status.latest_ref
    tag = f":{latest.tag}" if latest.tag else ""
    digest = f"@{latest.digest}" if latest.digest else ""
    return f"{latest.name or ''}{tag}{digest}" or None


def short(revision: str | None) -> str | None:
    """A revision for people: every hash cut to 8 digits."""
    if revision is None:
        return None
    return _COMMIT.sub(r"\1", _DIGEST.sub(r"\1:\2", revision))
