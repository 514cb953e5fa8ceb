"""What scaffolding writes, kustomize builds: every Kustomization of every cluster, with its variables."""

import pytest

from clusters_app.render import Rendered, Renderer
from clusters_app.repo.graph import build_graph
from clusters_app.repo.model import model_from
from clusters_app.repo.scaffold import scaffold
from clusters_app.repo.tree import MemoryTree

MODEL = model_from(
    {
        "repository": {"url": "https://git.lab/team/fleet.git", "branch": "main", "forge": "gitea"},
        "environments": [{"name": "dev"}, {"name": "prod"}],
        "clusters": [
            {"name": "dev", "environment": "dev"},
            {"name": "prod-a", "environment": "prod"},
            {"name": "prod-b", "environment": "prod"},
        ],
        "apps": [{"name": "web", "version": "1.2.0", "image": {"name": "registry:5000/web", "port": 9898}}],
    }
)


@pytest.fixture(scope="module")
def tree() -> MemoryTree:
    return MemoryTree(scaffold(MODEL))


def test_every_path_that_a_cluster_follows_renders(tree: MemoryTree) -> None:
    graph = build_graph(tree)
    paths = {each.path for cluster in graph.clusters for each in cluster.kustomizations if each.path is not None}
    results = Renderer(tree).render_all(sorted(paths))
    assert len(results) >= 3
    assert {path: result for path, result in results.items() if not isinstance(result, Rendered)} == {}


def test_the_version_line_decides_what_runs(tree: MemoryTree) -> None:
    rendered = Renderer(tree).render("clusters/dev/apps", {"CLUSTER_NAME": "dev", "ENVIRONMENT": "dev"}, strict=True)
    assert "image: registry:5000/web:1.2.0" in rendered.text
    assert {"Deployment", "Service"} <= {each["kind"] for each in rendered.documents}
