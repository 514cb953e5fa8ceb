"""Whatever stands in a repository, the graph and the rules answer: by a finding or an unknown, never by a crash."""

import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clusters_app.commands.graph import graph_document
from clusters_app.repo.graph import build_graph
from clusters_app.repo.lint import lint
from clusters_app.repo.tree import MemoryTree, Mode
from tests.quick.repo.layouts import deployment, gotk, ks, kustomization

PATHS = (
    "clusters/prod",
    "a",
    "a/b",
    "c",
    "../x",
    ".",
    "",
    "/etc",
    "${X}",
    "a/kustomization.yaml",
    "gone",
    "\0",
    "a//b",
)
WORDS = st.sampled_from(
    [*PATHS, "name", "Kustomization", "flux-system", "GitRepository", "v1", "{{ x }}", "<< inputs.a >>"]
)
KEYS = st.sampled_from(
    ["apiVersion", "kind", "metadata", "name", "namespace", "spec", "path", "sourceRef", "dependsOn", "patches",
     "patch", "target", "resources", "components", "labels", "postBuild", "substitute", "substituteFrom", "inputs",
     "chart", "op", "value", "items", "ref", "url", "include", "configMapGenerator", "files"]
)  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | WORDS | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=20
)
KINDS = st.sampled_from(
    [
        ("kustomize.toolkit.fluxcd.io/v1", "Kustomization"),
        ("kustomize.config.k8s.io/v1beta1", "Kustomization"),
        ("kustomize.config.k8s.io/v1alpha1", "Component"),
        ("source.toolkit.fluxcd.io/v1", "GitRepository"),
        ("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
        ("fluxcd.controlplane.io/v1", "FluxInstance"),
        ("fluxcd.controlplane.io/v1", "ResourceSet"),
        ("infra.contrib.fluxcd.io/v1alpha2", "Terraform"),
        ("argoproj.io/v1alpha1", "Application"),
        ("v1", "List"),
    ]
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """An object of a kind that the graph follows, with anything at all in it."""
    api_version, kind = draw(KINDS)
    body = draw(st.dictionaries(KEYS, VALUES, max_size=6))
    return json.dumps({**body, "apiVersion": api_version, "kind": kind})


FILES = st.dictionaries(
    st.sampled_from(
        ["clusters/prod/x.yaml", "clusters/prod/kustomization.yaml", "a/kustomization.yaml", "a/b/kustomization.yaml",
         "a/b/Kustomization", "c/x.yaml", "c/y.json", ".flotilla/fleet.yaml", ".sourceignore", "charts/x/Chart.yaml"]
    ),
    documents() | st.lists(documents(), max_size=3).map("\n---\n".join) | st.text(max_size=40) | VALUES.map(json.dumps),
    max_size=8,
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(files=FILES, links=st.sets(st.sampled_from(["a/b", "clusters/prod/link.yaml"])), rooted=st.booleans())
def test_anything_at_all(files: dict[str, str], links: set[str], rooted: bool) -> None:
    texts = {**(gotk("clusters/prod") if rooted else {}), **files}
    data = {path: text.encode("utf-8", "replace") for path, text in texts.items()}
    free = {link for link in links if not any(path.startswith(f"{link}/") for path in data)}
    tree = MemoryTree({**data, **dict.fromkeys(free, b"/etc")}, modes=dict.fromkeys(free, Mode.LINK))
    graph = build_graph(tree)
    assert json.dumps(graph_document(graph))
    assert set(graph.files) | set(graph.unreferenced) == set(tree.files())
    assert all(each.line >= 0 and each.message for each in lint(tree))


def test_a_chain_of_a_thousand_directories_ends() -> None:
    files = {f"d{number}/kustomization.yaml": kustomization([f"../d{number + 1}"]) for number in range(1000)}
    files |= {**gotk("clusters/prod"), "clusters/prod/a.yaml": ks("a", "./d0")}
    graph = build_graph(MemoryTree({path: text.encode() for path, text in files.items()}))
    assert any(each.why == "is too deep" for each in graph.unknown)


@pytest.mark.parametrize("field", ["resources", "components"])
def test_directories_that_list_each_other_many_times_end_soon(field: str) -> None:
    """Each of forty directories lists all later ones: followed naively, that is two to the power of forty."""
    names = [f"apps/overlays/{number:02}" for number in range(40)]
    files = {
        f"{name}/kustomization.yaml": f"{field}: {[f'../{other[-2:]}' for other in names[index + 1 :]]}\n"
        for index, name in enumerate(names)
    }
    last = f"{names[-1]}/kustomization.yaml"
    files |= {**gotk("clusters/prod"), "clusters/prod/a.yaml": ks("a", f"./{names[0]}"), last: "resources: [x.yaml]\n"}
    files[f"{names[-1]}/x.yaml"] = deployment("x")
    begun = time.monotonic()
    graph = build_graph(MemoryTree({path: text.encode() for path, text in files.items()}))
    assert time.monotonic() - begun < 10
    assert f"{names[-1]}/x.yaml" in graph.files


def test_a_pattern_that_backtracks_for_ever_selects_nothing() -> None:
    patch = "patches:\n- target: {name: (a+)+$}\n  patch: '[{op: remove, path: /spec/path}]'\n"
    files = {
        **gotk("clusters/prod"),
        "clusters/prod/kustomization.yaml": kustomization(["flux-system", "a.yaml"], patch),
    }
    files["clusters/prod/a.yaml"] = ks("a" * 60 + "b", "./a")
    begun = time.monotonic()
    build_graph(MemoryTree({path: text.encode() for path, text in files.items()}))
    assert time.monotonic() - begun < 2
