"""HelmReleases of a simulated cluster, and the charts and OCI artifacts that belong to them."""

from clusters_app.repo.documents import mapping, text
from clusters_app.simulation.cluster import Applier, SimulatedCluster
from clusters_app.simulation.desired import DesiredObject
from clusters_app.simulation.parts import (
    Document,
    condition_of,
    digest_of,
    document_of,
    fetch_failed,
    metadata_of,
    stored,
    time_of,
)
from clusters_app.simulation.releases import Release, chart_name


def oci_repository(cluster: SimulatedCluster, applier: Applier, each: DesiredObject) -> Document:
    """Its tag comes from Git, its artifact when the release that refers to it has pulled it."""
    spec = mapping(each.value, "spec")
    tag = text(spec, "ref", "tag")
    user = next((release for release in cluster.releases.values() if release.repository == each.ref), None)
    pulled = user.pulled if user else tag
    generation = user.generation_of_source if user else 1
    metadata = metadata_of(cluster.name, each.ref, applier.desired.ref, generation, applier.born_at)
    if not pulled:
        return document_of(each.kind, metadata, dict(spec), {"observedGeneration": -1})
    revision = f"{pulled}@{digest_of(each.ref + pulled)}"
    observed = generation if pulled == tag else generation - 1
    at = (user.changed_at if user else None) or applier.born_at
    said = f"stored artifact for digest '{revision}'"
    return document_of(each.kind, metadata, dict(spec), stored(revision, said, observed, at))


def helm_release(cluster: SimulatedCluster, release: Release) -> Document:
    desired = release.desired
    assert desired is not None
    metadata = metadata_of(cluster.name, release.ref, release.owner, release.generation, release.born_at)
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
                "configDigest": digest_of("values"),
                "digest": digest_of(f"{release.ref}{each.number}"),
                "firstDeployed": time_of(release.snapshots[-1].at),
                "lastDeployed": time_of(each.at),
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
    return document_of("HelmRelease", metadata, dict(mapping(desired.value, "spec")), status)


def _release_conditions(release: Release, desired: DesiredObject) -> list[Document]:
    at, generation = release.changed_at or release.born_at, release.generation
    action = "upgrade" if release.snapshots else "install"
    if release.is_untrusted and not release.snapshots:
        namespace, name = _chart_name(desired)
        why = f"HelmChart '{namespace}/{name}' is not ready: {_no_artifact(release)}"
        return [
            condition_of("Reconciling", "True", "Progressing", "Fulfilling prerequisites", generation, at),
            condition_of("Ready", "False", "SourceNotReady", why, generation, at),
        ]
    if release.is_upgrading:
        doing = f"Running '{action}' action with timeout of 5m0s"
        return [
            condition_of("Reconciling", "True", "Progressing", doing, generation, at),
            condition_of("Ready", "Unknown", "Progressing", doing, generation, at),
        ]
    if release.failure:
        name = f"{desired.namespace}/{desired.name}"
        chart = f"{chart_name(desired)}@{_chart_version(desired, release.wanted)}"
        why = f"Helm {action} failed for release {name} with chart {chart}: {release.failure}"
        reason = f"{action.title()}Failed"
        return [
            condition_of("Ready", "False", reason, why, generation, at),
            condition_of("Released", "False", reason, why, generation, at),
        ]
    if not release.snapshots:
        return []
    newest = release.snapshots[0]
    done = "upgrade" if newest.number > 1 else "install"
    chart = f"{chart_name(desired)}@{_chart_version(desired, newest.version)}"
    said = f"Helm {done} succeeded for release {desired.namespace}/{desired.name}.v{newest.number} with chart {chart}"
    about = max(release.observed, 1)
    return [
        condition_of("Ready", "True", f"{done.title()}Succeeded", said, about, at),
        condition_of("Released", "True", f"{done.title()}Succeeded", said, about, at),
    ]


def helm_chart(cluster: SimulatedCluster, release: Release) -> Document:
    desired = release.desired
    assert desired is not None
    namespace, name = _chart_name(desired)
    metadata = metadata_of(cluster.name, f"HelmChart/{namespace}/{name}", None, release.generation, release.born_at)
    metadata["labels"] = {
        "helm.toolkit.fluxcd.io/name": desired.name,
        "helm.toolkit.fluxcd.io/namespace": desired.namespace,
    }
    spec: Document = dict(mapping(desired.value, "spec", "chart", "spec"))
    at = release.changed_at or release.born_at
    if release.is_untrusted and not release.pulled:
        status = fetch_failed("NoSourceArtifact", _no_artifact(release), release.generation, at)
    elif not release.pulled:
        status = {"observedGeneration": -1}
    else:
        said = f"pulled '{chart_name(desired)}' chart with version '{release.pulled}'"
        about = release.generation if release.pulled == release.wanted else release.generation - 1
        status = stored(release.pulled, said, about, at, reason="ChartPullSucceeded")
    return document_of("HelmChart", metadata, spec, status)


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
    return f"{version}+{digest_of(source + version)[7:19]}"
