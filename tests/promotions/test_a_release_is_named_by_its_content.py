"""What an environment would hand on: its promoted values, the version that a page shows, and one name for them all."""

from clusters_app.repo.graph import build_graph
from clusters_app.repo.release import promoted_values, release_of, version_of
from clusters_app.repo.tree import MemoryTree

from .fleets import fleet, kustomization, plan


def files(staging: str, prod: str) -> dict[str, bytes]:
    entry = "images:\n  - {{name: reg.example/shop, newTag: {} }}\nreplicas: [{{name: shop, count: 3}}]\n"
    return fleet(
        {"kustomization.yaml": kustomization(entry.format(staging))},
        {"kustomization.yaml": kustomization(entry.format(prod))},
    )


def test_the_version_of_an_app_is_that_of_its_image() -> None:
    tree = MemoryTree(files("v2", "v1"))
    graph = build_graph(tree)
    values = promoted_values(tree, graph, "shop", "staging")
    assert [(value.kind, value.name, value.version) for value in values] == [("image", "shop", "v2")]
    assert version_of(values) == "v2"
    assert promoted_values(tree, graph, "pay", "staging") == ()
    assert version_of(()) == ""


def test_a_tag_is_shown_and_not_the_digest_beside_it() -> None:
    tree = MemoryTree(files(f"v2, digest: 'sha256:{'a' * 64}'", "v1"))
    assert version_of(promoted_values(tree, build_graph(tree), "shop", "staging")) == "v2"


def test_the_same_values_have_the_same_name_in_every_environment() -> None:
    before = MemoryTree(files("v2", "v1"))
    graph = build_graph(before)
    names = [release_of(before, graph, ["shop"], name) for name in ("staging", "prod")]
    assert names[0] != names[1]
    after = MemoryTree(files("v2", "v1") | {path: data or b"" for path, data in plan(files("v2", "v1")).files.items()})
    assert release_of(after, build_graph(after), ["shop"], "prod") == names[0]
    assert plan(files("v2", "v1")).release == names[0]


def test_a_fact_of_the_environment_is_no_part_of_the_name() -> None:
    one, two = files("v2", "v1"), files("v2", "v1")
    two = {path: data.replace(b"count: 3", b"count: 9") for path, data in two.items()}
    found = [release_of(tree, build_graph(tree), ["shop"], "staging") for tree in (MemoryTree(one), MemoryTree(two))]
    assert found[0] == found[1]
