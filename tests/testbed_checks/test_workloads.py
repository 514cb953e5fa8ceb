"""A cluster with pods runs workloads as a cluster with nodes does."""

import json
from typing import Any

import pytest

from tests.testbed.fixtures import StartCluster
from tests.testbed.kubernetes import Cluster, KubectlError
from tests.testbed_checks.manifests import deployment, job

pytestmark = pytest.mark.testbed


@pytest.fixture
def cluster(clusters: StartCluster) -> Cluster:
    return clusters("workloads", pods=True)


def pods_of(cluster: Cluster, app: str) -> list[dict[str, Any]]:
    listed = json.loads(cluster.kubectl("get", "pods", "--selector", f"app={app}", "-o", "json"))
    return list(listed["items"])


def test_a_deployment_becomes_available(cluster: Cluster) -> None:
    cluster.apply(deployment("web", image="example/web:1.0.0"))
    cluster.wait_for("deployment", "default", "web", "Available")
    assert [pod["status"]["phase"] for pod in pods_of(cluster, "web")] == ["Running"]


def test_a_job_completes(cluster: Cluster) -> None:
    cluster.apply(job("migrate"))
    cluster.wait_for("job", "default", "migrate", "Complete")


def test_an_image_with_a_broken_tag_is_never_pulled(cluster: Cluster) -> None:
    cluster.apply(deployment("typo", image="example/web:1.0.1-broken", deadline_seconds=5))
    cluster.wait_for("deployment", "default", "typo", "Progressing=False", timeout_seconds=30)
    (pod,) = pods_of(cluster, "typo")
    assert pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] == "ImagePullBackOff"


def test_a_deleted_namespace_goes_away_with_its_workloads(cluster: Cluster) -> None:
    cluster.kubectl("create", "namespace", "passing")
    cluster.apply(deployment("web", image="example/web:1.0.0", namespace="passing"))
    cluster.wait_for("deployment", "passing", "web", "Available")
    cluster.kubectl("delete", "namespace", "passing", "--timeout=60s")
    with pytest.raises(KubectlError, match="NotFound"):
        cluster.get("namespace", "", "passing")
