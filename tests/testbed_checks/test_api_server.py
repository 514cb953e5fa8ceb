"""The API server of a cluster: who may ask it, and what happens when it is away."""

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.testbed.fixtures import StartCluster
from tests.testbed.kubernetes import Cluster, KubectlError
from tests.testbed.processes import venv_program
from tests.testbed_checks.manifests import READER

pytestmark = pytest.mark.testbed


@pytest.fixture
def cluster(clusters: StartCluster) -> Cluster:
    return clusters("bare", crds=["source-controller", "kustomize-controller"])


def kubectl(kubeconfig: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(venv_program("kubectl")), "--kubeconfig", str(kubeconfig), *arguments]
    environment = os.environ | {"KUBECACHEDIR": str(kubeconfig.parent / "cache")}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_it_reports_the_version_that_is_pinned(cluster: Cluster) -> None:
    assert '"gitVersion": "v1.36.3"' in cluster.kubectl("get", "--raw", "/version")


def test_a_service_account_may_do_what_its_role_says_and_no_more(cluster: Cluster, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "reader.kubeconfig"
    kubeconfig.write_text(cluster.kubeconfig_for("reader", "reading", READER))
    assert "kube-system" in kubectl(kubeconfig, "get", "namespaces").stdout
    assert "Forbidden" in kubectl(kubeconfig, "get", "secrets", "--all-namespaces").stderr


def test_a_status_is_written_as_a_controller_writes_it(cluster: Cluster) -> None:
    cluster.apply(
        """
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: idle, namespace: flux-system}
spec: {interval: 1m, url: "https://127.0.0.1/none"}
"""
    )
    ready = {"type": "Ready", "status": "True", "reason": "Succeeded", "message": "stored artifact"}
    ready["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    cluster.patch_status("gitrepository", "flux-system", "idle", {"observedGeneration": 1, "conditions": [ready]})
    assert cluster.get("gitrepository", "flux-system", "idle")["status"]["conditions"] == [ready]
    cluster.wait_for("gitrepository", "flux-system", "idle", "Ready", timeout_seconds=5)


def test_while_stopped_it_refuses_connections_and_afterwards_it_has_not_forgotten(cluster: Cluster) -> None:
    cluster.kubectl("create", "namespace", "remembered")
    port = int(cluster.server.rpartition(":")[2])
    cluster.stop_api_server()
    with socket.socket() as client:
        assert client.connect_ex(("127.0.0.1", port)) != 0
    cluster.restart_api_server()
    assert cluster.get("namespace", "", "remembered")["status"]["phase"] == "Active"
    assert cluster.server.endswith(f":{port}")


def test_a_wrong_question_is_answered_in_kubectls_words(cluster: Cluster) -> None:
    with pytest.raises(KubectlError, match="doesn't have a resource type"):
        cluster.get("nonsense")


def test_two_clusters_have_authorities_of_their_own(cluster: Cluster, clusters: StartCluster) -> None:
    other = clusters("workloads", pods=True)
    assert other.ca_pem != cluster.ca_pem
    assert other.server != cluster.server


def test_an_ended_controller_can_be_started_again(clusters: StartCluster) -> None:
    cluster = clusters("workloads", pods=True)
    first = cluster.processes["kube-scheduler"].pid
    cluster.end_controller("kube-scheduler", signal.SIGKILL)
    assert not cluster.processes["kube-scheduler"].is_running()
    cluster.start_controller("kube-scheduler")
    assert cluster.processes["kube-scheduler"].is_running()
    assert cluster.processes["kube-scheduler"].pid != first
