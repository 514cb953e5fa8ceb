"""The layout that scaffolding writes: one app from an image, one from a chart, a promotion is one line."""

import pytest

from clusters_app.repo.graph import build_graph
from clusters_app.repo.release import promoted_values, version_of
from clusters_app.repo.scaffold import scaffold
from clusters_app.repo.tree import MemoryTree
from tests.quick.repo.fleets import fleet

from .fleets import changed, plan


@pytest.fixture
def released() -> dict[str, bytes]:
    """The fleet after somebody changed both versions in dev."""
    files = dict(scaffold(fleet()))
    for path, data in files.items():
        if path.startswith("clusters/dev/apps/") and path.endswith("version.yaml"):
            files[path] = data.replace(b"1.2.0", b"1.3.0").replace(b"0.3.0", b"0.4.0")
    return files


@pytest.mark.parametrize(("app", "old", "new"), [("web", "1.2.0", "1.3.0"), ("shop", "0.3.0", "0.4.0")])
def test_a_promotion_is_one_line_with_its_comment(released: dict[str, bytes], app: str, old: str, new: str) -> None:
    found = plan(released, apps=[app], source="dev", target="staging")
    assert list(found.files) == [f"clusters/staging/apps/{app}/version.yaml"]
    (line,) = changed(found, released)
    before, after = line.split(" => ")
    assert after == before.replace(old, new)
    assert after.endswith("# promoted from environment to environment")
    assert not found.asks


def test_running_it_again_changes_nothing(released: dict[str, bytes]) -> None:
    once = plan(released, apps=["web", "shop"], source="dev", target="staging")
    merged = released | {path: data or b"" for path, data in once.files.items()}
    again = plan(merged, apps=["web", "shop"], source="dev", target="staging")
    assert len(once.edits) == 2
    assert (again.edits, again.refusals, again.asks) == ((), (), ())


def test_both_clusters_of_prod_are_reached_by_one_edit(released: dict[str, bytes]) -> None:
    graph = build_graph(MemoryTree(released))
    (path,) = plan(released, apps=["shop"], source="staging", target="prod").files
    assert graph.files[path].clusters == ("prod-a", "prod-b")


def test_the_version_of_each_app_is_found(released: dict[str, bytes]) -> None:
    tree = MemoryTree(released)
    graph = build_graph(tree)
    shown = {
        (app, env): version_of(promoted_values(tree, graph, app, env))
        for app in ("web", "shop")
        for env in ("dev", "prod")
    }
    assert shown == {
        ("web", "dev"): "1.3.0",
        ("web", "prod"): "1.2.0",
        ("shop", "dev"): "0.4.0",
        ("shop", "prod"): "0.2.9",
    }
    settings = [value.path[-1] for value in promoted_values(tree, graph, "web", "dev") if value.kind == "setting"]
    assert settings == ["value"]
