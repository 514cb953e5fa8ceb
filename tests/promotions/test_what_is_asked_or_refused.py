"""Where Flotilla does not know, a person is asked; where it must not, it refuses and names the reason."""

import pytest

from .fleets import KUSTOMIZATION, fleet, kustomization, plan

DIGESTS = ["sha256:" + letter * 64 for letter in "ab"]
SOURCE = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: {kind}
metadata: {{name: shop, namespace: shop}}
spec: {{ref: {ref}}}
"""


def images(*entries: str) -> dict[str, str]:
    lines = "".join(f"  - {{{entry}}}\n" for entry in entries)
    return {"kustomization.yaml": kustomization(f"images:\n{lines}")}


def codes(source: dict[str, str], target: dict[str, str]) -> tuple[list[str | None], list[str], list[str]]:
    found = plan(fleet(source, target))
    return (
        [edit.new for edit in found.edits],
        [ask.code for ask in found.asks],
        [refusal.code for refusal in found.refusals],
    )


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (["name: a, newTag: v2"], ["name: a, newTag: v1"], (["v2"], [], [])),
        (["name: a, newTag: v2"], [f"name: a, newTag: v1, digest: '{DIGESTS[0]}'"], ([], [], ["pinned"])),
        (
            [f"name: a, newTag: v2, digest: '{DIGESTS[1]}'"],
            ["name: a, newTag: v1"],
            ([], ["inherited", "pinned-source"], []),
        ),
        (
            [f"name: a, newTag: v2, digest: '{DIGESTS[1]}'"],
            [f"name: a, newTag: v1, digest: '{DIGESTS[0]}'"],
            (["v2", DIGESTS[1]], [], []),
        ),
        (
            [f"name: a, digest: '{DIGESTS[1]}'"],
            [f"name: a, newTag: v1, digest: '{DIGESTS[0]}'"],
            ([], ["left-behind"], []),
        ),
        (["name: a, newTag: v2"], ["name: a, newTag: v1", "name: a, newTag: v0"], ([], ["ambiguous"], [])),
        (["name: a, newTag: v2", "name: b, newTag: v2"], ["name: a, newTag: v1"], (["v2"], ["new-item"], [])),
        (["name: a, newTag: v2"], ["name: a, newTag: v1, newTag: v0"], ([], [], ["doubled-key"])),
    ],
)
def test_images_of_a_kustomization(
    source: list[str], target: list[str], expected: tuple[list[str], list[str], list[str]]
) -> None:
    assert codes(images(*source), images(*target)) == expected


@pytest.mark.parametrize(
    ("kind", "source", "target", "expected"),
    [
        ("OCIRepository", "{tag: '2'}", "{tag: '1'}", (["2"], [], [])),
        ("OCIRepository", "{tag: '2'}", "{tag: '1', semver: 1.x}", ([], [], ["pinned"])),
        ("OCIRepository", "{semver: 2.x}", "{semver: 1.x}", (["2.x"], [], [])),
        ("OCIRepository", "{semver: 2.x}", "{tag: 1.0.0}", ([], ["inherited"], [])),
        ("GitRepository", "{tag: '2'}", "{branch: main, tag: '1', commit: abc}", ([], [], ["pinned"])),
        ("GitRepository", "{tag: '2'}", "{branch: main, tag: '1'}", ([], ["left-behind"], [])),
        ("GitRepository", "{branch: dev}", "{branch: main}", ([], [], [])),
    ],
)
def test_references_of_sources(
    kind: str, source: str, target: str, expected: tuple[list[str], list[str], list[str]]
) -> None:
    listed = KUSTOMIZATION + "resources: [../../base, source.yaml]\n"
    both = [
        {"kustomization.yaml": listed, "source.yaml": SOURCE.format(kind=kind, ref=ref)} for ref in (source, target)
    ]
    assert codes(*both) == expected


def test_a_value_that_the_target_only_inherits_is_asked_about_and_the_base_is_left_alone() -> None:
    found = plan(fleet(images("name: reg.example/shop, newTag: v2"), {"kustomization.yaml": kustomization()}))
    assert not found.files
    assert {ask.code for ask in found.asks} == {"inherited"}


def test_suspend_and_secrets_stay_where_they_are() -> None:
    text = (
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: shop}}\nspec: {{suspend: {0}}}\n"
    )
    generator = "secretGenerator: [{{name: s, literals: [password={0}]}}]\npatches: [{{path: version.yaml}}]\n"
    both = [
        {"kustomization.yaml": kustomization(generator.format(word)), "version.yaml": text.format(flag)}
        for word, flag in (("hunter1", "true"), ("hunter2", "false"))
    ]
    found = plan(fleet(*both))
    assert {remark.code for remark in found.kept} == {"secret", "suspend"}
    assert not found.edits
    assert "hunter" not in str(found.as_json())


def test_an_encrypted_file_is_kept_whatever_its_clear_part_says() -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {{name: s, annotations: {{version: '{0}'}}}}\nsops: {{mac: x}}\n"
    listed = KUSTOMIZATION + "resources: [../../base, version.yaml]\n"
    both = [{"kustomization.yaml": listed, "version.yaml": secret.format(number)} for number in (2, 1)]
    assert [remark.code for remark in plan(fleet(*both)).kept] == ["encrypted"]


def test_a_template_is_no_yaml_and_stops_nothing() -> None:
    both = [images(f"name: reg.example/shop, newTag: {tag}") for tag in ("v2", "v1")]
    for overlay, word in zip(both, ("a", "b"), strict=True):
        overlay["values.yaml"] = "{{ if .x }}\n" + word + ": 1\n{{ end }}\n"
        overlay["kustomization.yaml"] += "configMapGenerator: [{name: x, files: [values.yaml]}]\n"
    assert codes(*both) == (["v2"], ["edit.not-yaml"], [])


@pytest.mark.parametrize(
    ("source", "target", "apps", "code"),
    [
        ("qa", "prod", ["shop"], "unknown-environment"),
        ("staging", "staging", ["shop"], "same-environment"),
        ("staging", "prod", ["pay"], "unknown-app"),
    ],
)
def test_what_is_not_there_is_refused_with_what_there_is(source: str, target: str, apps: list[str], code: str) -> None:
    files = fleet(images("name: reg.example/shop, newTag: v2"), images("name: reg.example/shop, newTag: v1"))
    found = plan(files, source=source, target=target, apps=apps)
    assert [refusal.code for refusal in found.refusals] == [code]


def test_several_apps_go_together_or_not_at_all() -> None:
    good = fleet(images("name: reg.example/shop, newTag: v2"), images("name: reg.example/shop, newTag: v1"))
    pinned = f"name: reg.example/shop, newTag: v1, digest: '{DIGESTS[0]}'"
    other = fleet(images("name: reg.example/shop, newTag: v2"), images(pinned), app="pay")
    files = good | other
    for env in ("staging", "prod"):
        files[f"clusters/{env}/kustomization.yaml"] = (
            KUSTOMIZATION + "resources: [flux-system, shop.yaml, pay.yaml]\n"
        ).encode()
    assert [edit.app for edit in plan(files).edits] == ["shop"]
    both = plan(files, apps=["shop", "pay"])
    assert (both.files, both.edits, [refusal.app for refusal in both.refusals]) == ({}, (), ["pay"])


def test_the_same_input_is_the_same_plan() -> None:
    files = fleet(images("name: reg.example/shop, newTag: v2"), images("name: reg.example/shop, newTag: v1"))
    one, two = plan(files), plan(dict(reversed(files.items())))
    assert (one.hash, one.as_json(), one.files) == (two.hash, two.as_json(), two.files)
    moved = files | {
        "apps/shop/overlays/prod/kustomization.yaml": files["apps/shop/overlays/staging/kustomization.yaml"]
    }
    assert plan(moved).hash != one.hash
