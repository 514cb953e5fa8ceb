"""Real Flux follows a real forge: what it applies becomes Ready, and what is broken is said to be broken."""

import signal
import time

import pytest
import yaml

from tests.testbed import flux
from tests.testbed.fixtures import StartCluster
from tests.testbed.gitea import Gitea
from tests.testbed.kubernetes import Cluster
from tests.testbed.registry import Registry
from tests.testbed_checks.manifests import CHART, deployment, kustomization

pytestmark = pytest.mark.testbed

CONTROLLERS = ("source-controller", "kustomize-controller", "helm-controller", "notification-controller")
REPOSITORY = "flux-checks/fleet"

FILES = {
    "clusters/one/apps.yaml": kustomization("web", path="./apps/web")
    + "---\n"
    + kustomization("typo", path="./apps/typo"),
    "clusters/one/podinfo.yaml": """
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: podinfo, namespace: flux-system}
spec:
  interval: 10m
  targetNamespace: default
  chart:
    spec:
      chart: ./charts/podinfo
      sourceRef: {kind: GitRepository, name: flux-system}
""",
    "apps/web/deployment.yaml": deployment("web", image="example/web:1.0.0"),
    "apps/typo/deployment.yaml": deployment("typo", image="example/web:1.0.1-broken", deadline_seconds=5),
} | {f"charts/podinfo/{path}": text for path, text in CHART.items()}


@pytest.fixture(scope="module")
def cluster(clusters: StartCluster, gitea: Gitea) -> Cluster:
    owner = gitea.create_user("flux-checks")
    url = gitea.create_repository(owner, "fleet", empty=False)
    gitea.commit_files(REPOSITORY, FILES, "Add two apps and a release")
    cluster = clusters("flux", pods=True, flux=CONTROLLERS)
    token = gitea.token(owner, ["read:repository"])
    flux.bootstrap(
        cluster, url=url, branch="main", path="clusters/one", username=owner.name, token=token, ca_pem=gitea.ca_pem
    )
    return cluster


def ready_message(cluster: Cluster, kind: str, name: str) -> str:
    conditions = cluster.get(kind, "flux-system", name)["status"]["conditions"]
    return next(str(condition["message"]) for condition in conditions if condition["type"] == "Ready")


def test_a_kustomization_from_the_forge_becomes_ready(cluster: Cluster, gitea: Gitea) -> None:
    cluster.wait_for("kustomization", "flux-system", "flux-system")
    cluster.wait_for("kustomization", "flux-system", "web")
    head = gitea.api("GET", f"/repos/{REPOSITORY}/branches/main")["commit"]["id"]
    applied = cluster.get("kustomization", "flux-system", "web")["status"]["lastAppliedRevision"]
    assert applied == f"main@sha1:{head}"
    assert cluster.get("deployment", "default", "web")["status"]["readyReplicas"] == 1


def test_a_helm_release_from_the_repository_becomes_ready(cluster: Cluster) -> None:
    cluster.wait_for("helmrelease", "flux-system", "podinfo")
    (current, *_) = cluster.get("helmrelease", "flux-system", "podinfo")["status"]["history"]
    # A chart from Git carries the revision it was packaged at.
    assert current["chartVersion"].startswith("1.2.3")
    assert current["status"] == "deployed"


def test_a_failing_health_check_names_the_deployment(cluster: Cluster) -> None:
    cluster.wait_for("kustomization", "flux-system", "typo", "Ready=False")
    assert "Deployment/default/typo" in ready_message(cluster, "kustomization", "typo")


def test_a_reader_learns_the_version_of_flux_from_its_deployments(cluster: Cluster) -> None:
    cluster.wait_for("deployment", "flux-system", "kustomize-controller", "Available")
    deployments = cluster.get("deployments", "flux-system")["items"]
    assert {item["metadata"]["name"] for item in deployments} == set(CONTROLLERS)
    assert {item["metadata"]["labels"]["app.kubernetes.io/version"] for item in deployments} == {flux.DISTRIBUTION}


def test_the_flux_command_says_the_same(cluster: Cluster) -> None:
    cluster.wait_for("kustomization", "flux-system", "web")
    listed = flux.command(cluster, "get", "kustomizations", "--no-header")
    ready = {line.split("\t")[0].strip(): line.split("\t")[3].strip() for line in listed.splitlines()}
    assert ready["web"] == "True"
    assert ready["typo"] == "False"


def test_a_commit_is_followed_within_seconds(cluster: Cluster, gitea: Gitea) -> None:
    cluster.wait_for("kustomization", "flux-system", "flux-system")
    changed = {"clusters/one/note.yaml": yaml.safe_dump(flux_note("second"))}
    commit = gitea.commit_files(REPOSITORY, changed, "Add a note")
    cluster.wait_for(
        "kustomization",
        "flux-system",
        "flux-system",
        f"jsonpath={{.status.lastAppliedRevision}}=main@sha1:{commit}",
        timeout_seconds=30,
    )
    assert cluster.get("configmap", "default", "note")["data"] == {"text": "second"}


def flux_note(text: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "note", "namespace": "default"},
        "data": {"text": text},
    }


def test_an_artifact_and_a_chart_from_the_registry_are_pulled(cluster: Cluster, registry: Registry) -> None:
    digest = registry.push_manifests("manifests/note", "v1", {"note.yaml": yaml.safe_dump(flux_note("from oci"))})
    registry.push_chart("charts/podinfo", CHART, name="podinfo", version="1.2.3")
    cluster.apply(
        f"""
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {{name: note, namespace: flux-system}}
spec: {{interval: 1m, insecure: true, url: "oci://{registry.address}/manifests/note", ref: {{tag: v1}}}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {{name: charts, namespace: flux-system}}
spec: {{type: oci, insecure: true, url: "oci://{registry.address}/charts"}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: from-registry, namespace: flux-system}}
spec:
  interval: 10m
  targetNamespace: default
  chart:
    spec:
      chart: podinfo
      version: 1.2.3
      sourceRef: {{kind: HelmRepository, name: charts}}
"""
    )
    cluster.wait_for("ocirepository", "flux-system", "note")
    assert cluster.get("ocirepository", "flux-system", "note")["status"]["artifact"]["revision"] == f"v1@{digest}"
    cluster.wait_for("helmrelease", "flux-system", "from-registry")


def renewed_at(cluster: Cluster, controller: str) -> str:
    lease = cluster.get("lease", "flux-system", f"{controller}-leader-election")
    return str(lease["spec"]["renewTime"])


def test_a_killed_controller_stops_renewing_its_lease_and_the_others_go_on(cluster: Cluster) -> None:
    cluster.wait_for("lease", "flux-system", "helm-controller-leader-election", "jsonpath={.spec.renewTime}")
    cluster.end_controller("helm-controller", signal.SIGKILL)
    dead, alive = renewed_at(cluster, "helm-controller"), renewed_at(cluster, "kustomize-controller")
    time.sleep(7)  # each living controller renews every 5 s
    assert renewed_at(cluster, "helm-controller") == dead
    assert renewed_at(cluster, "kustomize-controller") > alive
    cluster.start_controller("helm-controller")


def test_flux_carries_on_after_the_api_server_was_away(cluster: Cluster, gitea: Gitea) -> None:
    cluster.stop_api_server()
    commit = gitea.commit_files(
        REPOSITORY, {"clusters/one/note.yaml": yaml.safe_dump(flux_note("third"))}, "Change the note"
    )
    cluster.restart_api_server()
    cluster.wait_for(
        "kustomization",
        "flux-system",
        "flux-system",
        f"jsonpath={{.status.lastAppliedRevision}}=main@sha1:{commit}",
        timeout_seconds=60,
    )
