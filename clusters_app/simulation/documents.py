"""The documents that a simulated cluster serves: specs from Git, conditions in the words of Flux's controllers."""

import hashlib
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from clusters_app.flux.resources import KINDS
from clusters_app.flux.times import parse_duration
from clusters_app.repo.documents import mapping, text
from clusters_app.simulation.cluster import Applier, SimulatedCluster
from clusters_app.simulation.desired import DesiredObject
from clusters_app.simulation.faults import Suspended
from clusters_app.simulation.releases import Release, chart_name

type Document = dict[str, object]

CONTROLLERS = {
    "source-controller": "v1.9.4",
    "kustomize-controller": "v1.9.4",
    "helm-controller": "v1.6.3",
    "notification-controller": "v1.9.3",
}
FLUX_VERSION = "v2.9.5"
_LEASE_SECONDS = 35
_RENEWED_EVERY = 5
_SOURCES = ("GitRepository", "OCIRepository", "HelmRepository")


def documents_of(cluster: SimulatedCluster) -> Iterator[tuple[str, Document]]:
    """Every Flux object of the cluster with its kind, in a stable order."""
    for ref in sorted(cluster.appliers):
        yield "Kustomization", _kustomization(cluster, cluster.appliers[ref])
    for ref in sorted(cluster.releases):
        release = cluster.releases[ref]
        if release.desired is not None:
            yield "HelmRelease", _release(cluster, release)
            if text(release.desired.value, "spec", "chart", "spec", "chart"):
                yield "HelmChart", _chart(cluster, release)
    yield from _sources(cluster)


def _sources(cluster: SimulatedCluster) -> Iterator[tuple[str, Document]]:
    for _, applier in sorted(cluster.appliers.items()):
        for each in applier.brought:
            if each.kind in _SOURCES and each.is_flux:
                yield each.kind, _source(cluster, applier, each)


# --- kinds --------------------------------------------------------------------------------------------------------


def _kustomization(cluster: SimulatedCluster, applier: Applier) -> Document:
    desired = applier.desired
    spec: Document = dict(desired.spec)
    metadata = _metadata(cluster, desired.ref, desired.parent, applier.generation, applier.born_at)
    if applier.suspended is not None:
        spec["suspend"] = True
        metadata["managedFields"] = [_suspending(applier.suspended)]
    status: Document = {"conditions": _applier_conditions(applier), "observedGeneration": applier.observed}
    if applier.attempts:
        status["history"] = _history(cluster, applier)
    if applier.brought:
        status["inventory"] = {"entries": [{"id": each.inventory_id, "v": each.version} for each in applier.brought]}
    if applier.applied:
        status["lastAppliedRevision"] = _revision(applier.applied)
    if applier.attempted:
        status["lastAttemptedRevision"] = _revision(applier.attempted)
    return _document("Kustomization", metadata, spec, status)


def _history(cluster: SimulatedCluster, applier: Applier) -> list[Document]:
    """The newest attempt is repeated at every interval, as drift detection is; Flotilla takes it for a heartbeat."""
    repeats = _repeats(cluster, applier)
    interval = _interval(applier)
    return [
        {
            "digest": _digest(f"{applier.desired.ref}{each.commit}"),
            "firstReconciled": _time(each.at),
            "lastReconciled": _time(each.at + (interval * repeats if index == 0 else timedelta(0))),
            "lastReconciledDuration": "1.2s",
            "lastReconciledStatus": each.status,
            "metadata": {"revision": _revision(each.commit)},
            "totalReconciliations": 1 + (repeats if index == 0 else 0),
        }
        for index, each in enumerate(applier.attempts)
    ]


def _repeats(cluster: SimulatedCluster, applier: Applier) -> int:
    until = applier.suspended.since if applier.suspended else cluster.clock
    return max(0, (until - applier.attempts[0].at) // _interval(applier))


def _interval(applier: Applier) -> timedelta:
    return parse_duration(text(applier.desired.spec, "interval")) or timedelta(minutes=10)


def _applier_conditions(applier: Applier) -> list[Document]:
    at, generation = applier.changed_at, applier.generation
    if applier.is_running:
        did = "Running health checks for revision" if applier.is_checking else "Detecting drift for revision"
        timeout = text(applier.desired.spec, "timeout") or "5m"
        text_ = f"{did} {_revision(applier.attempted)} with a timeout of {timeout}0s"
        running = [_condition("Reconciling", "True", "Progressing", text_, generation, at)]
        running.append(_condition("Ready", "Unknown", "Progressing", "Reconciliation in progress", generation, at))
        if applier.is_checking:
            running.append(_condition("Healthy", "Unknown", "Progressing", text_, generation, at))
        return running
    if applier.waits:
        return [_condition("Ready", "False", "DependencyNotReady", applier.waits, generation, at)]
    if applier.failure:
        retrying = f"Running health checks for revision {_revision(applier.attempted)} with a timeout of 5m0s"
        failed = [
            _condition("Reconciling", "True", "ProgressingWithRetry", retrying, generation, at),
            _condition("Ready", "False", applier.reason, applier.failure, generation, at),
        ]
        if applier.reason == "HealthCheckFailed":
            why = applier.failure.partition(": ")[2]
            failed.append(_condition("Healthy", "False", applier.reason, why, generation, at))
        return failed
    if not applier.applied:
        return []
    # Suspending raises the generation and changes no condition.
    about = generation - 1 if applier.suspended is not None else generation
    applied = f"Applied revision: {_revision(applier.applied)}"
    ready = [_condition("Ready", "True", "ReconciliationSucceeded", applied, about, at)]
    if applier.desired.waits_for_health:
        ready.append(_condition("Healthy", "True", "Succeeded", "Health check passed in 1.9s", about, at))
    return ready


def _suspending(fault: Suspended) -> Document:
    return {
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:suspend": {}}},
        "manager": fault.manager,
        "operation": "Update",
        "time": _time(fault.since),
    }


def _source(cluster: SimulatedCluster, applier: Applier, each: DesiredObject) -> Document:
    spec = mapping(each.value, "spec")
    metadata = _metadata(cluster, each.ref, applier.desired.ref, 1, applier.born_at)
    at = applier.born_at
    if each.kind == "HelmRepository":
        if text(spec, "type") == "oci":
            return _document(each.kind, metadata, dict(spec), {})
        if cluster.is_untrusted(each.ref):
            url = f"{text(spec, 'url').rstrip('/')}/index.yaml"
            why = (
                "failed to fetch Helm repository index: failed to cache index to temporary file: "
                f'Get "{url}": tls: failed to verify certificate: x509: certificate signed by unknown authority'
            )
            return _document(each.kind, metadata, dict(spec), _fetch_failed("Failed", why, 1, at))
        digest = _digest(each.ref)
        return _document(
            each.kind, metadata, dict(spec), _stored(digest, f"stored artifact: revision '{digest}'", 1, at)
        )
    if each.kind == "OCIRepository":
        return _oci_repository(cluster, applier, each)
    commit = cluster.fetched.commit if cluster.fetched else ""
    revision = _revision(commit)
    text_ = f"stored artifact for revision '{revision}'"
    return _document(each.kind, metadata, dict(spec), _stored(revision, text_, 1, cluster.fetched_at))


def _oci_repository(cluster: SimulatedCluster, applier: Applier, each: DesiredObject) -> Document:
    """Its tag comes from Git, its artifact when the release that refers to it has pulled it."""
    spec = mapping(each.value, "spec")
    tag = text(spec, "ref", "tag")
    user = next((release for release in cluster.releases.values() if release.repository == each.ref), None)
    pulled = user.pulled if user else tag
    generation = user.generation_of_source if user else 1
    metadata = _metadata(cluster, each.ref, applier.desired.ref, generation, applier.born_at)
    if not pulled:
        return _document(each.kind, metadata, dict(spec), {"observedGeneration": -1})
    revision = f"{pulled}@{_digest(each.ref + pulled)}"
    observed = generation if pulled == tag else generation - 1
    at = (user.changed_at if user else None) or applier.born_at
    said = f"stored artifact for digest '{revision}'"
    return _document(each.kind, metadata, dict(spec), _stored(revision, said, observed, at))


def _release(cluster: SimulatedCluster, release: Release) -> Document:
    desired = release.desired
    assert desired is not None
    metadata = _metadata(cluster, release.ref, release.owner, release.generation, release.born_at)
    status: Document = {
        "conditions": _release_conditions(release, desired),
        "observedGeneration": release.observed,
        "storageNamespace": desired.namespace,
    }
    if text(desired.value, "spec", "chart", "spec", "chart"):
        namespace, name = _chart_name(desired)
        status["helmChart"] = f"{namespace}/{name}"
    if release.snapshots:
        status["history"] = [
            {
                "appVersion": each.version,
                "chartName": chart_name(desired),
                "chartVersion": _chart_version(desired, each.version),
                "configDigest": _digest("values"),
                "digest": _digest(f"{release.ref}{each.number}"),
                "firstDeployed": _time(release.snapshots[-1].at),
                "lastDeployed": _time(each.at),
                "name": desired.name,
                "namespace": desired.namespace,
                "status": "deployed" if index == 0 else "superseded",
                "version": each.number,
            }
            for index, each in enumerate(release.snapshots)
        ]
        place = f"{desired.namespace}_{desired.name}"
        status["inventory"] = {"entries": [{"id": f"{place}_apps_Deployment", "v": "v1"}]}
    if release.pulled:
        status["lastAttemptedRevision"] = _chart_version(desired, release.pulled)
        status["lastAttemptedGeneration"] = max(release.observed, 1)
        status["lastAttemptedReleaseAction"] = "upgrade" if release.snapshots else "install"
    return _document("HelmRelease", metadata, dict(mapping(desired.value, "spec")), status)


def _release_conditions(release: Release, desired: DesiredObject) -> list[Document]:
    at, generation = release.changed_at or release.born_at, release.generation
    action = "upgrade" if release.snapshots else "install"
    if release.is_untrusted and not release.snapshots:
        namespace, name = _chart_name(desired)
        why = f"HelmChart '{namespace}/{name}' is not ready: {_no_artifact(release)}"
        return [
            _condition("Reconciling", "True", "Progressing", "Fulfilling prerequisites", generation, at),
            _condition("Ready", "False", "SourceNotReady", why, generation, at),
        ]
    if release.is_upgrading:
        doing = f"Running '{action}' action with timeout of 5m0s"
        return [
            _condition("Reconciling", "True", "Progressing", doing, generation, at),
            _condition("Ready", "Unknown", "Progressing", doing, generation, at),
        ]
    if release.failure:
        name = f"{desired.namespace}/{desired.name}"
        chart = f"{chart_name(desired)}@{_chart_version(desired, release.wanted)}"
        why = f"Helm {action} failed for release {name} with chart {chart}: {release.failure}"
        reason = f"{action.title()}Failed"
        return [
            _condition("Ready", "False", reason, why, generation, at),
            _condition("Released", "False", reason, why, generation, at),
        ]
    if not release.snapshots:
        return []
    newest = release.snapshots[0]
    done = "upgrade" if newest.number > 1 else "install"
    chart = f"{chart_name(desired)}@{_chart_version(desired, newest.version)}"
    said = f"Helm {done} succeeded for release {desired.namespace}/{desired.name}.v{newest.number} with chart {chart}"
    about = max(release.observed, 1)
    return [
        _condition("Ready", "True", f"{done.title()}Succeeded", said, about, at),
        _condition("Released", "True", f"{done.title()}Succeeded", said, about, at),
    ]


def _chart(cluster: SimulatedCluster, release: Release) -> Document:
    desired = release.desired
    assert desired is not None
    namespace, name = _chart_name(desired)
    metadata = _metadata(cluster, f"HelmChart/{namespace}/{name}", None, release.generation, release.born_at)
    metadata["labels"] = {
        "helm.toolkit.fluxcd.io/name": desired.name,
        "helm.toolkit.fluxcd.io/namespace": desired.namespace,
    }
    spec = dict(mapping(desired.value, "spec", "chart", "spec"))
    at = release.changed_at or release.born_at
    if release.is_untrusted and not release.pulled:
        status = _fetch_failed("NoSourceArtifact", _no_artifact(release), release.generation, at)
    elif not release.pulled:
        status = {"observedGeneration": -1}
    else:
        said = f"pulled '{chart_name(desired)}' chart with version '{release.pulled}'"
        about = release.generation if release.pulled == release.wanted else release.generation - 1
        status = _stored(release.pulled, said, about, at, reason="ChartPullSucceeded")
    return _document("HelmChart", metadata, spec, status)


def _no_artifact(release: Release) -> str:
    kind, _, name = release.repository.split("/")
    return f"no artifact available for {kind} source '{name}'"


def _chart_name(desired: DesiredObject) -> tuple[str, str]:
    beside = text(desired.value, "spec", "chart", "spec", "sourceRef", "namespace") or desired.namespace
    return beside, f"{desired.namespace}-{desired.name}"


def _chart_version(desired: DesiredObject, version: str) -> str:
    """helm-controller adds the digest of an OCI artifact as build metadata."""
    if not text(desired.value, "spec", "chartRef", "name"):
        return version
    reference = mapping(desired.value, "spec", "chartRef")
    namespace = text(reference, "namespace") or desired.namespace
    source = f"{text(reference, 'kind')}/{namespace}/{text(reference, 'name')}"
    return f"{version}+{_digest(source + version)[7:19]}"


# --- beside Flux' own objects -------------------------------------------------------------------------------------


def leases(cluster: SimulatedCluster, now: datetime) -> list[Document]:
    """Renewed every five seconds, as of `now`."""
    renewed = now - timedelta(seconds=now.timestamp() % _RENEWED_EVERY)
    return [
        {
            "metadata": _plain_metadata(cluster, "Lease", f"{name}-leader-election"),
            "spec": {
                "acquireTime": _micro_time(cluster.born_at),
                "holderIdentity": f"{name}-{_digest(cluster.name + name)[7:16]}",
                "leaseDurationSeconds": _LEASE_SECONDS,
                "leaseTransitions": 0,
                "renewTime": _micro_time(renewed),
            },
        }
        for name in CONTROLLERS
    ]


def deployments(cluster: SimulatedCluster) -> list[Document]:
    """The controllers, labelled as the install manifest labels them."""
    labels = {"app.kubernetes.io/part-of": "flux", "app.kubernetes.io/version": FLUX_VERSION}
    return [
        {
            "metadata": _plain_metadata(cluster, "Deployment", name) | {"generation": 1, "labels": labels},
            "spec": {
                "replicas": 1,
                "template": {"spec": {"containers": [{"name": "manager", "image": f"fluxcd/{name}:{version}"}]}},
            },
            "status": {"observedGeneration": 1, "replicas": 1, "readyReplicas": 1, "availableReplicas": 1},
        }
        for name, version in CONTROLLERS.items()
    ]


def uid_of(cluster: str, ref: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"flotilla-simulation/{cluster}/{ref}"))


# --- parts --------------------------------------------------------------------------------------------------------


def _document(kind: str, metadata: Document, spec: Document, status: Document) -> Document:
    group, version = KINDS[kind].group, KINDS[kind].versions[0]
    return {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": metadata, "spec": spec, "status": status}


def _plain_metadata(cluster: SimulatedCluster, kind: str, name: str) -> Document:
    uid = uid_of(cluster.name, f"{kind}/{name}")
    return {"name": name, "namespace": "flux-system", "uid": uid, "creationTimestamp": _time(cluster.born_at)}


def _metadata(cluster: SimulatedCluster, ref: str, owner: str | None, generation: int, born_at: datetime) -> Document:
    _, namespace, name = ref.split("/")
    metadata: Document = {
        "creationTimestamp": _time(born_at),
        "finalizers": ["finalizers.fluxcd.io"],
        "generation": generation,
        "name": name,
        "namespace": namespace,
        "uid": uid_of(cluster.name, ref),
    }
    if owner:
        _, owner_namespace, owner_name = owner.split("/")
        metadata["labels"] = {
            "kustomize.toolkit.fluxcd.io/name": owner_name,
            "kustomize.toolkit.fluxcd.io/namespace": owner_namespace,
        }
    return metadata


def _stored(revision: str, message: str, about: int, at: datetime, *, reason: str = "Succeeded") -> Document:
    return {
        "artifact": {"digest": _digest(revision), "lastUpdateTime": _time(at), "revision": revision, "size": 2963},
        "conditions": [
            _condition("Ready", "True", reason, message, about, at),
            _condition("ArtifactInStorage", "True", reason, message, about, at),
        ],
        "observedGeneration": about,
    }


def _fetch_failed(reason: str, message: str, about: int, at: datetime) -> Document:
    return {
        "conditions": [
            _condition("Reconciling", "True", "ProgressingWithRetry", "building artifact", about, at),
            _condition("Ready", "False", reason, message, about, at),
            _condition("FetchFailed", "True", reason, message, about, at),
        ],
        "observedGeneration": -1,
    }


def _condition(kind: str, status: str, reason: str, message: str, about: int, at: datetime) -> Document:
    return {
        "lastTransitionTime": _time(at),
        "message": message,
        "observedGeneration": about,
        "reason": reason,
        "status": status,
        "type": kind,
    }


def _revision(commit: str) -> str:
    return f"main@sha1:{commit}"


def _digest(text_: str) -> str:
    return f"sha256:{hashlib.sha256(text_.encode()).hexdigest()}"


def _time(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _micro_time(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
