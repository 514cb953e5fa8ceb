"""What changes nothing that a cluster would run is refused, and the file that has the last word is named."""

import pytest

from clusters_app.render import RenderError, render
from clusters_app.repo.flux_build import Render, RenderFailed
from clusters_app.repo.tree import Tree

from .fleets import DEPLOYMENT, KUSTOMIZATION, fleet, kustomization, plan


def build(tree: Tree, path: str) -> str:
    try:
        return render(tree, path).text
    except RenderError as error:
        raise RenderFailed(str(error)) from error


IMAGES = "  images: [{name: reg.example/shop, newTag: 1.4.0}]\n"
PATCHES = """\
  patches:
    - target: {kind: Deployment, name: shop}
      patch: |
        - {op: replace, path: /spec/template/spec/containers/0/image, value: "reg.example/shop:1.4.0"}
"""
VERSION = DEPLOYMENT.replace("reg.example/shop", "'reg.example/shop:TAG'")


def patched(tag: str, **files: str) -> dict[str, str]:
    names = ["version.yaml", *(f"{name}.yaml" for name in files)]
    listed = kustomization("patches:\n" + "".join(f"  - path: {name}\n" for name in names))
    more = {f"{name}.yaml": text for name, text in files.items()}
    return {"kustomization.yaml": listed, "version.yaml": VERSION.replace("TAG", tag), **more}


@pytest.mark.parametrize("spec", [PATCHES, IMAGES])
def test_the_flux_kustomization_has_the_last_word(spec: str) -> None:
    found = plan(fleet(patched("2"), patched("1"), flux={"prod": spec}), render=build)
    assert not found.files
    assert [refusal.code for refusal in found.refusals] == ["no-effect"]
    assert "clusters/prod/shop.yaml" in found.refusals[0].why
    assert "1.4.0" in found.refusals[0].why


@pytest.mark.parametrize("render_", [build, None])
def test_a_later_patch_has_the_last_word_also_when_nothing_can_be_built(render_: Render | None) -> None:
    files = fleet(patched("2", env=DEPLOYMENT), patched("1", env=VERSION.replace("TAG", "1-hotfix")))
    found = plan(files, render=render_)
    assert [refusal.code for refusal in found.refusals] == ["no-effect"]
    assert "overlays/prod/env.yaml" in found.refusals[0].why


def test_without_a_build_a_patch_and_an_image_of_the_flux_kustomization_are_seen_too() -> None:
    entry = "images: [{{name: reg.example/shop, newTag: {} }}]\n"
    listed = [{"kustomization.yaml": kustomization(entry.format(tag))} for tag in ("v2", "v1")]
    for files in (
        fleet(patched("2"), patched("1"), flux={"prod": PATCHES}),
        fleet(listed[0], listed[1], flux={"prod": IMAGES}),
    ):
        found = plan(files)
        assert [refusal.code for refusal in found.refusals] == ["no-effect"]
        assert "clusters/prod/shop.yaml" in found.refusals[0].why


def test_a_digest_that_another_file_sets_pins_the_tag() -> None:
    source = (
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: shop, namespace: shop}\nspec: "
    )
    base = {
        "source.yaml": source + "{interval: 1h}\n",
        "deployment.yaml": DEPLOYMENT,
        "kustomization.yaml": KUSTOMIZATION + "resources: [deployment.yaml, source.yaml]\n",
    }
    listed = kustomization("patches: [{path: version.yaml}, {path: env.yaml}]\n")
    digest = {"staging": "{interval: 1h}\n", "prod": f"{{ref: {{digest: 'sha256:{'a' * 64}'}}}}\n"}
    overlays = [
        {
            "kustomization.yaml": listed,
            "version.yaml": f"{source}{{ref: {{tag: {tag}}}}}\n",
            "env.yaml": source + digest[env],
        }
        for env, tag in (("staging", "v2"), ("prod", "v1"))
    ]
    found = plan(fleet(*overlays, base=base), render=build)
    assert [refusal.code for refusal in found.refusals] == ["no-effect"]
    assert "env.yaml" in found.refusals[0].why


def test_of_two_edits_with_the_same_value_the_one_without_effect_is_found() -> None:
    two = "images:\n  - {{name: reg.example/shop, newTag: {0} }}\n  - {{name: reg.example/gone, newTag: {0} }}\n"
    files = fleet(
        {"kustomization.yaml": kustomization(two.format("v2"))}, {"kustomization.yaml": kustomization(two.format("v1"))}
    )
    refused = plan(files, render=build).refusals
    assert [dict(step.fields) for step in refused[0].path if not isinstance(step, str)] == [
        {"name": "reg.example/gone"}
    ]
    assert len(refused) == 1


def test_a_cluster_with_a_pin_of_its_own_is_mentioned_and_the_others_go() -> None:
    files = fleet(patched("2"), patched("1"))
    for path, data in list(files.items()):
        if path.startswith("clusters/prod/"):
            files[path.replace("/prod/", "/prod/b/")] = data.replace(b"./clusters/prod", b"./clusters/prod/b")
            files[path.replace("/prod/", "/prod/a/")] = data.replace(b"./clusters/prod", b"./clusters/prod/a")
            del files[path]
    files["clusters/prod/b/shop.yaml"] += IMAGES.encode()
    found = plan(files, render=build)
    assert [edit.new for edit in found.edits] == ["reg.example/shop:2"]
    pins = [remark for remark in found.kept if remark.code == "cluster-pin"]
    assert [remark.why for remark in pins] == ["b stays on 1.4.0: pinned in clusters/prod/b/shop.yaml"]


def test_what_cannot_be_built_is_not_claimed_and_said() -> None:
    broken = KUSTOMIZATION + "resources: [../../base, missing.yaml]\nimages: [{name: reg.example/shop, newTag: %s}]\n"
    files = fleet({"kustomization.yaml": broken % "v2"}, {"kustomization.yaml": broken % "v1"})
    found = plan(files, render=build)
    assert [edit.new for edit in found.edits] == ["v2"]
    assert [remark.code for remark in found.kept] == ["not-built"]
