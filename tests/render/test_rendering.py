"""A directory becomes what kustomize, as Flux calls it, makes of it."""

import pytest

from clusters_app.render import Renderer, RenderError, RenderRefused, render
from clusters_app.render.builds import Rendered
from clusters_app.repo.tree import MemoryTree

CONFIG = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\ndata:\n  port: ${PORT:-80}\n  zone: ${ZONE}\n"
FILES = {
    "base/kustomization.yaml": b"resources: [one.yaml]\n",
    "base/one.yaml": CONFIG,
    "shared/label.yaml": b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\n  labels: {team: blue}\n",
    "prod/kustomization.yaml": b"resources: [../base]\nnamespace: shop\npatches: [{path: ../shared/label.yaml}]\n",
    "plain/b.yaml": b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n",
    "plain/deeper/a.yml": b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n",
    "plain/overlay/kustomization.yaml": b"resources: [../../base]\nnamePrefix: my-\n",
    "plain/notes.txt": b"not a manifest",
}


@pytest.fixture
def renderer() -> Renderer:
    return Renderer(MemoryTree(FILES))


def test_a_base_and_a_patch_from_elsewhere_in_the_repository_are_read(renderer: Renderer) -> None:
    (one,) = renderer.render("./prod/").documents
    assert one["metadata"] == {"name": "one", "namespace": "shop", "labels": {"team": "blue"}}


def test_a_directory_without_kustomization_is_built_as_flux_would(renderer: Renderer) -> None:
    names = [each["metadata"]["name"] for each in renderer.render("plain").documents]  # type: ignore[index, call-overload]
    assert sorted(map(str, names)) == ["a", "b", "my-one"]


def test_variables_are_put_in_after_the_build(renderer: Renderer) -> None:
    assert "port: ${PORT:-80}" in renderer.render("prod").text
    text = renderer.render("prod", {"ZONE": "eu"}).text
    assert "port: 80" in text
    assert "zone: eu" in text
    with pytest.raises(RenderRefused) as refused:
        renderer.render("prod", {"OTHER": "x"}, strict=True)
    assert refused.value.code == "substitute.unset"


def test_the_same_contents_are_built_once(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    first = renderer.render("prod")
    monkeypatch.setattr("clusters_app.render.kustomize.run", _must_not_run)
    unrelated = MemoryTree({**FILES, "elsewhere/x.yaml": b"x"})
    assert render(unrelated, "prod") == first
    changed = MemoryTree({**FILES, "shared/label.yaml": FILES["shared/label.yaml"].replace(b"blue", b"red")})
    with pytest.raises(AssertionError, match="was started"):
        render(changed, "prod")


def test_many_are_rendered_each_with_its_own_result(renderer: Renderer) -> None:
    results = renderer.render_all(["prod", "plain", "nowhere", "prod"])
    assert list(results) == ["nowhere", "plain", "prod"]
    assert isinstance(results["prod"], Rendered)
    assert isinstance(results["plain"], Rendered)
    assert isinstance(results["nowhere"], RenderError)
    assert results["nowhere"].code == "render.no-directory"


def test_what_kustomize_says_is_passed_on_without_our_own_paths() -> None:
    tree = MemoryTree({"a/kustomization.yaml": b"resources: [missing.yaml]\n"})
    with pytest.raises(RenderRefused) as refused:
        render(tree, "a")
    assert refused.value.code == "render.kustomize"
    assert "missing.yaml" in refused.value.problem
    assert "flotilla-render" not in str(refused.value)


def test_the_root_of_the_repository_is_a_directory_too() -> None:
    tree = MemoryTree({"kustomization.yaml": b"resources: [one.yaml]\n", "one.yaml": CONFIG})
    assert "name: one" in render(tree, "").text
    assert "name: one" in render(MemoryTree({"one.yaml": CONFIG}), ".").text


def _must_not_run(*_: object) -> str:
    raise AssertionError("kustomize was started")
