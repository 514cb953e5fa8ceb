"""Wherever a version is written, it goes alone; what belongs to the environment stays."""

import pytest

from .fleets import DEPLOYMENT, KUSTOMIZATION, changed, fleet, kustomization, plan

PATCH = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  template:
    spec:
"""
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: shop, namespace: shop}
spec:
"""
HELM_BASE = {
    "kustomization.yaml": KUSTOMIZATION + "resources: [release.yaml]\n",
    "release.yaml": RELEASE + "  chart: {spec: {chart: shop, sourceRef: {kind: HelmRepository, name: shop}}}\n",
}
DIGESTS = ["sha256:" + letter * 64 for letter in "ab"]


def images(entry: str) -> dict[str, str]:
    return {"kustomization.yaml": kustomization(f"images:\n  - name: reg.example/shop\n    {entry}\n")}


def patched(text: str, name: str = "patch.yaml") -> dict[str, str]:
    return {"kustomization.yaml": kustomization(f"patches: [{{path: {name}}}]\n"), name: text}


@pytest.mark.parametrize(
    ("source", "target", "lines"),
    [
        ("newTag: v2 # s", "newTag: v1 # p", ["newTag: v1 # p => newTag: v2 # p"]),
        ("newTag: 1.10", "newTag: 1.9", ['newTag: 1.9 => newTag: "1.10"']),
        ('newTag: "553640e6"', "newTag: abc", ['newTag: abc => newTag: "553640e6"']),
        ("newName: r:5000/shop:2", "newName: p:5000/shop:1", ["newName: p:5000/shop:1 => newName: p:5000/shop:2"]),
        ("newName: r/shop", "newName: p/shop", []),
        (f"digest: {DIGESTS[0]}", f"digest: {DIGESTS[1]}", [f"digest: {DIGESTS[1]} => digest: {DIGESTS[0]}"]),
    ],
)
def test_of_an_image_tag_and_digest_go(source: str, target: str, lines: list[str]) -> None:
    files = fleet(images(source), images(target))
    assert changed(plan(files), files) == lines


def test_a_container_is_found_by_its_name_and_not_by_its_place() -> None:
    source = PATCH + "      containers:\n        - {name: web, image: 'r/web:2'}\n        - {name: m, image: 'r/m:1'}\n"
    target = PATCH + (
        "      containers:\n        - {name: istio, image: 'r/i:1'}\n        - {name: m, image: 'r/m:1'}\n"
        "        - {name: web, image: 'p/web:1'}\n"
    )
    files = fleet(patched(source), patched(target))
    assert changed(plan(files), files) == ["- {name: web, image: 'p/web:1'} => - {name: web, image: 'p/web:2'}"]


def test_a_json_patch_and_an_inline_patch_are_read_by_the_field_that_they_change() -> None:
    inline = """\
        patches:
          - target: {{kind: Deployment, name: shop}}
            patch: |-
              - {{op: replace, path: /spec/replicas, value: {count} }}
              - {{op: replace, path: /spec/template/spec/containers/0/image, value: 'reg.example/shop:{tag}'}}
          - patch: |
              apiVersion: apps/v1
              kind: Deployment
              metadata: {{name: other}}
              spec: {{template: {{spec: {{containers: [{{name: x, image: 'reg.example/x:{tag}'}}]}}}}}}
        """
    source, target = inline.format(count=1, tag="2"), inline.format(count=9, tag="1")
    files = fleet({"kustomization.yaml": kustomization(source)}, {"kustomization.yaml": kustomization(target)})
    found = plan(files)
    assert [edit.new for edit in found.edits] == ["reg.example/shop:2", "reg.example/x:2"]
    assert [remark.source for remark in found.kept] == ["1"]


def test_of_helm_values_versions_go_at_any_depth_and_hosts_and_sizes_stay() -> None:
    values = (
        "  chart: {{spec: {{version: {chart} }}}}\n"
        "  values:\n"
        "    replicaCount: {count}\n"
        "    image: {{repository: {reg}/shop, tag: {tag} }}\n"
        "    sidecar: {{proxy: {{repository: {reg}/proxy, tag: {tag} }}}}\n"
        "    ingress: {{host: {reg}.example}}\n"
        "    unknown: {count}\n"
    )
    source = RELEASE + values.format(chart="2.0.0", count=1, reg="s", tag="v2")
    target = RELEASE + values.format(chart="1.9.0", count=3, reg="p", tag="v1")
    found = plan(fleet(patched(source), patched(target), base=HELM_BASE))
    assert sorted(edit.new or "" for edit in found.edits) == ["2.0.0", "v2", "v2"]
    assert {remark.path[-1] for remark in found.kept} == {"replicaCount", "repository", "host"}
    assert [remark.path[-1] for remark in found.asks] == ["unknown"]


def test_values_in_a_block_scalar_of_a_config_map_are_edited_inside_it() -> None:
    text = """\
        apiVersion: v1
        kind: ConfigMap
        metadata: {{name: values, namespace: shop}}
        data:
          values.yaml: |
            # of {env}
            image:
              tag: {tag} # {env}
            motd: |
              \ttabs
        """
    overlay = {
        env: {
            "kustomization.yaml": KUSTOMIZATION + "resources: [../../base, cm.yaml]\n",
            "cm.yaml": text.format(env=env, tag=tag),
        }
        for env, tag in (("staging", "v2"), ("prod", "v1"))
    }
    files = fleet(overlay["staging"], overlay["prod"], base=HELM_BASE)
    assert changed(plan(files), files) == ["tag: v1 # prod => tag: v2 # prod"]


def test_a_substitution_whose_name_says_version_goes_and_its_neighbours_stay() -> None:
    spec = "  postBuild:\n    substitute: {{IMAGE_TAG: '{tag}', HOST: {env}.example, shop_version: '{tag}'}}\n"
    flux = {env: spec.format(env=env, tag=tag) for env, tag in (("staging", "2.0"), ("prod", "1.0"))}
    deployment = DEPLOYMENT.replace("reg.example/shop}", '"reg.example/shop:${IMAGE_TAG}"}')
    base = {"deployment.yaml": deployment, "kustomization.yaml": KUSTOMIZATION + "resources: [deployment.yaml]\n"}
    overlay = {"kustomization.yaml": kustomization()}
    found = plan(fleet(overlay, overlay, base=base, flux=flux))
    assert [edit.path[-1] for edit in found.edits] == ["IMAGE_TAG", "shop_version"]


def test_images_of_the_flux_kustomization_go_too() -> None:
    spec = "  images: [{{name: reg.example/shop, newTag: {tag} }}]\n"
    flux = {env: spec.format(tag=tag) for env, tag in (("staging", "v2"), ("prod", "v1"))}
    overlay = {"kustomization.yaml": kustomization()}
    found = plan(fleet(overlay, overlay, flux=flux))
    assert [(edit.file, edit.new) for edit in found.edits] == [("clusters/prod/shop.yaml", "v2")]


def test_a_value_that_an_image_policy_marks_in_the_source_is_a_version() -> None:
    text = "apiVersion: x/v1\nkind: Thing\nmetadata: {{name: t}}\nspec:\n  img: {image}{one}\n  ver: {tag}{two}\n"
    marks = {"one": ' # {"$imagepolicy": "flux-system:a"}', "two": ' # {"$imagepolicy": "flux-system:a:tag"}'}
    listed = KUSTOMIZATION + "resources: [../../base, thing.yaml]\n"
    files = fleet(
        {"kustomization.yaml": listed, "thing.yaml": text.format(image="reg/a:2", tag="2.0", **marks)},
        {"kustomization.yaml": listed, "thing.yaml": text.format(image="prd/a:1", tag="'1.0'", one="", two=" # mine")},
    )
    assert changed(plan(files), files) == ["img: prd/a:1 => img: prd/a:2", "ver: '1.0' # mine => ver: '2.0' # mine"]


@pytest.mark.parametrize(
    ("source", "target", "carried"),
    [
        ("&t v2}}\n    worker: {image: {tag: *t", "&t v1}}\n    worker: {image: {tag: *t", ["v2"]),
        ("v2}}\n    worker: {image: {tag: v2", "&t v1}}\n    worker: {image: {tag: *t", ["v2"]),
        ("v2}}\n    worker: {image: {tag: v1", "&t v1}}\n    worker: {image: {tag: *t", []),
    ],
)
def test_a_shared_value_goes_when_all_who_share_it_go(source: str, target: str, carried: list[str]) -> None:
    both = [RELEASE + f"  values:\n    web: {{image: {{tag: {each}}}}}\n" for each in (source, target)]
    found = plan(fleet(patched(both[0]), patched(both[1]), base=HELM_BASE))
    assert [edit.new for edit in found.edits] == carried
    assert [ask.code for ask in found.asks] == ([] if carried else ["shared"])


def test_an_app_takes_its_own_release_out_of_a_file_that_holds_several() -> None:
    release = RELEASE + "  chart: {spec: {chart: c, version: VERSION, sourceRef: {kind: HelmRepository, name: y}}}\n"
    files = fleet(None, None)
    for env, version, names in (("staging", "2.0.0", ["pay", "shop"]), ("prod", "1.0.0", ["shop", "pay"])):
        text = "---\n".join(release.replace("shop", name).replace("VERSION", version) for name in names)
        files[f"clusters/{env}/all.yaml"] = text.encode()
        files[f"clusters/{env}/kustomization.yaml"] = (KUSTOMIZATION + "resources: [flux-system, all.yaml]\n").encode()
    found = plan(files)
    assert [edit.new for edit in found.edits] == ["2.0.0"]
    changed_file = (found.files["clusters/prod/all.yaml"] or b"").decode().split("---")
    assert "2.0.0" in changed_file[0]
    assert "1.0.0" in changed_file[1]


def test_a_byte_order_mark_and_foreign_line_ends_stay() -> None:
    files = fleet(images("newTag: v2"), images("newTag: v1"))
    path = "apps/shop/overlays/prod/kustomization.yaml"
    files[path] = b"\xef\xbb\xbf" + files[path].replace(b"\n", b"\r\n").rstrip()
    assert plan(files).files[path] == files[path].replace(b"newTag: v1", b"newTag: v2")


def test_every_region_of_the_target_is_reached_also_one_that_the_source_lacks() -> None:
    files = fleet(images("newTag: v2"), images("newTag: v1"))
    for path, data in list(files.items()):
        if "/prod/" in path:
            files[path.replace("/prod/", "/prod-oslo/")] = data.replace(b"/prod", b"/prod-oslo")
    assert {path.split("/")[3] for path in plan(files).files} == {"prod", "prod-oslo"}
