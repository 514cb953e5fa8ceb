"""The documents that a simulated cluster serves: specs from Git, conditions in the words of Flux's controllers."""

from collections.abc import Iterator
from datetime import timedelta

from clusters_app.flux.times import parse_duration
from clusters_app.repo.documents import mapping, text
from clusters_app.simulation.cluster import Applier, SimulatedCluster
from clusters_app.simulation.desired import DesiredObject
from clusters_app.simulation.faults import Suspended
from clusters_app.simulation.helm_documents import helm_chart, helm_release, oci_repository
from clusters_app.simulation.parts import (
    Document,
    condition_of,
    digest_of,
    document_of,
    fetch_failed,
    metadata_of,
    revision_of,
    stored,
    time_of,
)

_SOURCES = ("GitRepository", "OCIRepository", "HelmRepository")


def documents_of(cluster: SimulatedCluster) -> Iterator[tuple[str, Document]]:
    """Every Flux object of the cluster with its kind, in a stable order."""
    for ref in sorted(cluster.appliers):
        yield "Kustomization", _kustomization(cluster, cluster.appliers[ref])
    for ref in sorted(cluster.releases):
        release = cluster.releases[ref]
        if release.desired is not None:
            yield "HelmRelease", helm_release(cluster, release)
            if text(release.desired.value, "spec", "chart", "spec", "chart"):
                yield "HelmChart", helm_chart(cluster, release)
    yield from _sources(cluster)


def _sources(cluster: SimulatedCluster) -> Iterator[tuple[str, Document]]:
    for _, applier in sorted(cluster.appliers.items()):
        for each in applier.brought:
            if each.kind in _SOURCES and each.is_flux:
                yield each.kind, _source(cluster, applier, each)


def _kustomization(cluster: SimulatedCluster, applier: Applier) -> Document:
    desired = applier.desired
    spec: Document = dict(desired.spec)
    metadata = metadata_of(cluster.name, desired.ref, desired.parent, applier.generation, applier.born_at)
    if applier.suspended is not None:
        spec["suspend"] = True
        metadata["managedFields"] = [_suspending(applier.suspended)]
    status: Document = {"conditions": _applier_conditions(applier), "observedGeneration": applier.observed}
    if applier.attempts:
        status["history"] = _history(cluster, applier)
    if applier.brought:
        status["inventory"] = {"entries": [{"id": each.inventory_id, "v": each.version} for each in applier.brought]}
    if applier.applied:
        status["lastAppliedRevision"] = revision_of(applier.applied)
    if applier.attempted:
        status["lastAttemptedRevision"] = revision_of(applier.attempted)
    return document_of("Kustomization", metadata, spec, status)


def _history(cluster: SimulatedCluster, applier: Applier) -> list[Document]:
    """The newest attempt is repeated at every interval, as drift detection is; Flotilla takes it for a heartbeat."""
    repeats = _repeats(cluster, applier)
    interval = _interval(applier)
    return [
        {
            "digest": digest_of(f"{applier.desired.ref}{each.commit}"),
            "firstReconciled": time_of(each.at),
            "lastReconciled": time_of(each.at + (interval * repeats if index == 0 else timedelta(0))),
            "lastReconciledDuration": "1.2s",
            "lastReconciledStatus": each.status,
            "metadata": {"revision": revision_of(each.commit)},
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
        text_ = f"{did} {revision_of(applier.attempted)} with a timeout of {timeout}0s"
        running = [condition_of("Reconciling", "True", "Progressing", text_, generation, at)]
        running.append(condition_of("Ready", "Unknown", "Progressing", "Reconciliation in progress", generation, at))
        if applier.is_checking:
            running.append(condition_of("Healthy", "Unknown", "Progressing", text_, generation, at))
        return running
    if applier.waits:
        return [condition_of("Ready", "False", "DependencyNotReady", applier.waits, generation, at)]
    if applier.failure:
        retrying = f"Running health checks for revision {revision_of(applier.attempted)} with a timeout of 5m0s"
        failed = [
            condition_of("Reconciling", "True", "ProgressingWithRetry", retrying, generation, at),
            condition_of("Ready", "False", applier.reason, applier.failure, generation, at),
        ]
        if applier.reason == "HealthCheckFailed":
            why = applier.failure.partition(": ")[2]
            failed.append(condition_of("Healthy", "False", applier.reason, why, generation, at))
        return failed
    if not applier.applied:
        return []
    # Suspending raises the generation and changes no condition.
    about = generation - 1 if applier.suspended is not None else generation
    applied = f"Applied revision: {revision_of(applier.applied)}"
    ready = [condition_of("Ready", "True", "ReconciliationSucceeded", applied, about, at)]
    if applier.desired.waits_for_health:
        ready.append(condition_of("Healthy", "True", "Succeeded", "Health check passed in 1.9s", about, at))
    return ready


def _suspending(fault: Suspended) -> Document:
    return {
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:suspend": {}}},
        "manager": fault.manager,
        "operation": "Update",
        "time": time_of(fault.since),
    }


def _source(cluster: SimulatedCluster, applier: Applier, each: DesiredObject) -> Document:
    spec = mapping(each.value, "spec")
    metadata = metadata_of(cluster.name, each.ref, applier.desired.ref, 1, applier.born_at)
    at = applier.born_at
    if each.kind == "HelmRepository":
        if text(spec, "type") == "oci":
            return document_of(each.kind, metadata, dict(spec), {})
        if cluster.is_untrusted(each.ref):
            url = f"{text(spec, 'url').rstrip('/')}/index.yaml"
            why = (
                "failed to fetch Helm repository index: failed to cache index to temporary file: "
                f'Get "{url}": tls: failed to verify certificate: x509: certificate signed by unknown authority'
            )
            return document_of(each.kind, metadata, dict(spec), fetch_failed("Failed", why, 1, at))
        digest = digest_of(each.ref)
        return document_of(
            each.kind, metadata, dict(spec), stored(digest, f"stored artifact: revision '{digest}'", 1, at)
        )
    if each.kind == "OCIRepository":
        return oci_repository(cluster, applier, each)
    commit = cluster.fetched.commit if cluster.fetched else ""
    revision = revision_of(commit)
    text_ = f"stored artifact for revision '{revision}'"
    return document_of(each.kind, metadata, dict(spec), stored(revision, text_, 1, cluster.fetched_at))
