"""Whole files: copied with the line that lists them, removed with it, or asked about."""

from clusters_app.repo.graph import build_graph
from clusters_app.repo.plan import plan_promotion
from clusters_app.repo.rules import Action, Rule, Rules
from clusters_app.repo.tree import MemoryTree, Mode

from .fleets import DEPLOYMENT, KUSTOMIZATION, Commits, changed, fleet, kustomization, plan

SETTINGS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata:\n"
BASE = {
    "deployment.yaml": DEPLOYMENT,
    "settings.yaml": SETTINGS + "  A: a\n",
    "kustomization.yaml": KUSTOMIZATION + "resources: [deployment.yaml, settings.yaml]\n",
}
ENV = {"env.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\nspec: {replicas: 3}\n"}


def overlay(names: list[str], **files: str) -> dict[str, str]:
    patches = "patches:\n" + "".join(f"  - path: {name}\n" for name in names)
    return {
        "kustomization.yaml": kustomization(patches),
        **ENV,
        **{f"{name}.yaml": text for name, text in files.items()},
    }


def prod(name: str) -> str:
    return f"apps/shop/overlays/prod/{name}"


def test_a_new_promoted_file_is_copied_and_listed_behind_the_same_neighbour() -> None:
    files = fleet(
        overlay(["settings.yaml", "env.yaml"], settings=SETTINGS + "  A: b\n"), overlay(["env.yaml"]), base=BASE
    )
    found = plan(files)
    assert found.files[prod("settings.yaml")] == files["apps/shop/overlays/staging/settings.yaml"]
    assert b"patches:\n  - path: settings.yaml\n  - path: env.yaml\n" in (
        found.files[prod("kustomization.yaml")] or b""
    )
    assert [edit.kind for edit in found.edits] == ["insert", "create"]


def test_two_new_files_keep_their_order() -> None:
    version = DEPLOYMENT.replace("reg.example/shop", "reg.example/shop:2")
    source = overlay(["env.yaml", "version.yaml", "settings.yaml"], version=version, settings=SETTINGS + "  A: b\n")
    files = fleet(source, overlay(["env.yaml"]), base=BASE)
    listed = plan(files).files[prod("kustomization.yaml")] or b""
    assert listed.endswith(b"  - path: env.yaml\n  - path: version.yaml\n  - path: settings.yaml\n")


def test_a_list_that_the_target_lacks_gets_only_what_is_copied() -> None:
    files = fleet(
        overlay(["settings.yaml", "env.yaml"], settings=SETTINGS + "  A: b\n"),
        {"kustomization.yaml": kustomization()},
        base=BASE,
    )
    found = plan(files)
    assert (found.files[prod("kustomization.yaml")] or b"").endswith(b"patches:\n  - path: settings.yaml\n")
    assert prod("env.yaml") not in found.files


def test_a_file_that_nothing_lists_and_a_file_that_no_rule_knows_are_not_copied() -> None:
    source = overlay(["env.yaml"], settings=SETTINGS + "  A: b\n", other="a: 1\n")
    source["kustomization.yaml"] += "configMapGenerator: [{name: x, files: [other.yaml]}]\n"
    found = plan(fleet(source, overlay(["env.yaml"]), base=BASE))
    assert not found.files
    assert ("unlisted", prod("settings.yaml")) in {(remark.code, remark.file) for remark in found.kept}
    assert ("new-file", prod("other.yaml")) in {(remark.code, remark.file) for remark in found.asks}


def test_a_new_secret_is_never_copied() -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter2}\n"
    found = plan(fleet(overlay(["settings.yaml", "env.yaml"], settings=secret), overlay(["env.yaml"]), base=BASE))
    assert not found.files
    assert "hunter2" not in str(found.as_json())


def test_a_new_file_loses_image_policy_markers_and_no_other_comment() -> None:
    settings = SETTINGS + '  A: b # {"$imagepolicy": "flux-system:a:tag"}\n  B: c # kept\n'
    found = plan(fleet(overlay(["settings.yaml", "env.yaml"], settings=settings), overlay(["env.yaml"]), base=BASE))
    assert (found.files[prod("settings.yaml")] or b"").endswith(b"  A: b\n  B: c # kept\n")


def test_what_the_source_removed_after_a_promotion_goes_with_its_line() -> None:
    both = overlay(["settings.yaml", "env.yaml"], settings=SETTINGS + "  A: b\n")
    before, now = fleet(both, both, base=BASE), fleet(overlay(["env.yaml"]), both, base=BASE)
    trailers = {"Flotilla-Promotion": "1", "Flotilla-Source": "0"}
    history = Commits((before, {}), (before | {prod("settings.yaml"): b"x: 1\n"}, {}), (before, trailers), (now, {}))
    found = plan(now, history=history)
    assert found.files[prod("settings.yaml")] is None
    assert changed(found, now)[:2] == ["- - path: settings.yaml", "- apiVersion: v1"]


def test_what_the_target_alone_has_is_kept_when_no_promotion_wrote_it() -> None:
    found = plan(fleet(overlay(["env.yaml"]), overlay(["settings.yaml", "env.yaml"], settings=SETTINGS), base=BASE))
    assert not found.files
    assert "only-in-target" in [remark.code for remark in found.kept]


def test_settings_are_promoted_by_values_and_the_target_keeps_its_comments_and_its_own() -> None:
    source = SETTINGS + "  A: a\n  NEW: 'true'\n  NEWER: x\n  B: b2\n  replicas: \"3\"\n"
    target = SETTINGS + '  # of prod\n  A: a\n  B: b1   # mine\n  replicas: "5"\n  OWN: x\n'
    names = ["settings.yaml", "env.yaml"]
    files = fleet(overlay(names, settings=source), overlay(names, settings=target), base=BASE)
    after = plan(files).files[prod("settings.yaml")] or b""
    kept = "  # of prod\n  A: a\n  NEW: 'true'\n  NEWER: x\n  B: b2   # mine\n  replicas: \"3\"\n  OWN: x\n"
    assert after.decode() == SETTINGS + kept


def test_a_new_list_item_of_settings_is_asked_about() -> None:
    text = """\
        apiVersion: apps/v1
        kind: Deployment
        metadata: {{name: shop}}
        spec: {{template: {{spec: {{containers: [{{name: shop, env: [{}]}}]}}}}}}
        """
    names, one, two = ["settings.yaml", "env.yaml"], "{name: A, value: 1}", "{name: B, value: 2}"
    source = overlay(names, settings=text.format(f"{one}, {two}"))
    found = plan(fleet(source, overlay(names, settings=text.format(one)), base=BASE))
    assert [ask.code for ask in found.asks] == ["new-item"]
    assert not found.edits


def test_a_binary_file_is_asked_about() -> None:
    files = fleet(overlay(["env.yaml"]), overlay(["env.yaml"]), base=BASE)
    for env, data in (("staging", b"\0one"), ("prod", b"\0two")):
        files[f"apps/shop/overlays/{env}/logo.bin"] = data
        path = f"apps/shop/overlays/{env}/kustomization.yaml"
        files[path] += b"configMapGenerator: [{name: x, files: [logo.bin]}]\n"
    assert [ask.code for ask in plan(files).asks] == ["edit.binary"]


def test_an_executable_bit_and_a_link_are_asked_about() -> None:
    names = ["settings.yaml", "env.yaml"]
    files = fleet(overlay(names, settings=SETTINGS), overlay(names, settings=SETTINGS), base=BASE)
    for mode in (Mode.EXECUTABLE, Mode.LINK):
        tree = MemoryTree(files, modes={"apps/shop/overlays/staging/settings.yaml": mode})
        found = plan_promotion(tree, build_graph(tree), ["shop"], "staging", "prod")
        assert not found.files
        assert [ask.code for ask in found.asks] == ["mode"]


def test_a_directory_that_a_rule_promotes_is_copied_whole() -> None:
    files = fleet(overlay(["env.yaml"]), overlay(["env.yaml"]), base=BASE)
    files["apps/shop/overlays/staging/dashboards/a.json"] = b'{"a": 1}'
    for env in ("staging", "prod"):
        files[f"apps/shop/overlays/{env}/kustomization.yaml"] += (
            b"configMapGenerator: [{name: x, files: [dashboards/a.json]}]\n"
        )
    rules = Rules((Rule(Action.PROMOTE, files=("**/dashboards/**",)),))
    assert plan(files, rules=rules).files == {prod("dashboards/a.json"): b'{"a": 1}'}


def test_a_new_app_with_facts_of_its_environment_is_asked_about_and_nothing_is_written() -> None:
    files = fleet(overlay(["env.yaml"]), None, base=BASE)
    found = plan(files)
    assert not found.files
    assert found.asks
