"""A scaffolded fleet, committed to a real forge and followed by real Flux: every layer and every app becomes Ready."""

import pytest

from clusters_app.repo.model import model_from
from clusters_app.repo.scaffold import scaffold
from tests.testbed import flux
from tests.testbed.fixtures import StartCluster
from tests.testbed.gitea import Gitea
from tests.testbed.kubernetes import Cluster
from tests.testbed.registry import Registry
from tests.testbed_checks.manifests import CHART

pytestmark = pytest.mark.testbed

REPOSITORY = "scaffolding/fleet"


@pytest.fixture(scope="module")
def cluster(clusters: StartCluster, gitea: Gitea, registry: Registry) -> Cluster:
    owner = gitea.create_user("scaffolding")
    url = gitea.create_repository(owner, "fleet", empty=False)
    registry.push_chart("charts/shop", CHART, name="podinfo", version="1.2.3")
    model = model_from(
        {
            "repository": {"url": url, "forge": "gitea"},
            "environments": [{"name": "dev", "source_interval": "10s", "timeout": "1m"}, {"name": "prod"}],
            "clusters": [{"name": "one", "environment": "dev"}, {"name": "two", "environment": "prod"}],
            "apps": [
                {"name": "web", "version": "1.0.0", "image": {"name": "example/web"}},
                {
                    "name": "shop",
                    "version": "1.2.3",
                    "chart": {
                        "source": "OCIRepository",
                        "url": f"oci://{registry.address}/charts/shop",
                        "insecure": True,
                    },
                },
                {"name": "own", "version": "1.0", "chart": {"source": "GitRepository", "name": "charts/own"}},
            ],
        }
    )
    files = {path: data.decode() for path, data in scaffold(model).items()}
    files |= {f"charts/own/{path}": text for path, text in CHART.items()}
    gitea.commit_files(REPOSITORY, files, "Scaffold the fleet")
    controllers = ("source-controller", "kustomize-controller", "helm-controller")
    cluster = clusters("scaffolding", pods=True, flux=controllers)
    token = gitea.token(owner, ["read:repository"])
    flux.bootstrap(
        cluster, url=url, branch="main", path="clusters/dev", username=owner.name, token=token, ca_pem=gitea.ca_pem
    )
    return cluster


@pytest.mark.parametrize("name", ["flux-system", "infra-controllers", "infra-configs", "apps"])
def test_every_layer_becomes_ready(cluster: Cluster, name: str) -> None:
    cluster.wait_for("kustomization", "flux-system", name, timeout_seconds=120)
    head = cluster.get("gitrepository", "flux-system", "flux-system")["status"]["artifact"]["revision"]
    assert cluster.get("kustomization", "flux-system", name)["status"]["lastAppliedRevision"] == head


def test_the_image_app_runs_with_the_values_of_its_cluster(cluster: Cluster) -> None:
    cluster.wait_for("deployment", "web", "web", "Available", timeout_seconds=120)
    container = cluster.get("deployment", "web", "web")["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "example/web:1.0.0"
    assert {"name": "CLUSTER_NAME", "value": "one"} in container["env"]


@pytest.mark.parametrize("name", ["shop", "own"])
def test_a_chart_is_released_from_a_registry_and_from_the_repository(cluster: Cluster, name: str) -> None:
    cluster.wait_for("helmrelease", name, name, timeout_seconds=120)
    release = cluster.get("helmrelease", name, name)
    assert release["status"]["history"][0]["status"] == "deployed"
    assert release["spec"]["driftDetection"]["ignore"]


def test_the_catalogue_of_ignored_fields_is_on_the_layers(cluster: Cluster) -> None:
    assert cluster.get("kustomization", "flux-system", "apps")["spec"]["ignore"]


def test_a_version_that_is_committed_is_deployed(cluster: Cluster, gitea: Gitea) -> None:
    path = "clusters/dev/apps/web/version.yaml"
    text = gitea.read_file(REPOSITORY, path)
    gitea.commit_files(REPOSITORY, {path: text.replace("web:1.0.0", "web:1.1.0")}, "Release 1.1.0")
    image = "jsonpath={.spec.template.spec.containers[0].image}=example/web:1.1.0"
    cluster.wait_for("deployment", "web", "web", image, timeout_seconds=90)
    cluster.wait_for("kustomization", "flux-system", "apps", timeout_seconds=90)
