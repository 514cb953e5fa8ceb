"""One small repository for each way to lay out a fleet: who is a cluster, what it reaches, what is an app."""

import pytest

from clusters_app.repo.graph import ClusterRoot, FleetGraph, build_graph
from clusters_app.repo.tree import MemoryTree, Mode
from tests.quick.repo.layouts import URL, deployment, git, gotk, ks, kustomization, made, release


def clusters(graph: FleetGraph) -> dict[str, str]:
    """Sync path and environment of each cluster."""
    return {each.path: each.environment for each in graph.clusters}


def apps(graph: FleetGraph) -> dict[str, dict[str, list[str]]]:
    return {
        app.name: {name: [place.path for place in places] for name, places in app.environments.items()}
        for app in graph.apps
    }


def own(name: str, url: str, path: str, *, branch: str = "main") -> str:
    """A Kustomization with a source of its own."""
    return f"{git(name, url, branch=branch)}---\n{ks(name, path, source=name)}"


def reasons(graph: FleetGraph) -> dict[str, str]:
    return {each.what: each.why for each in graph.unknown}


def test_one_kustomization_for_each_app_and_environment_without_bootstrap() -> None:
    graph = build_graph(
        made(
            {
                "flux/production/shop.yaml": own("shop", URL, "./apps/shop/overlays/production"),
                "flux/staging/shop.yaml": own("shop", URL, "./apps/shop/overlays/staging"),
                "apps/shop/base/kustomization.yaml": kustomization(["shop.yaml"]),
                "apps/shop/base/shop.yaml": deployment("shop"),
                "apps/shop/overlays/production/kustomization.yaml": kustomization(["../../base"]),
                "apps/shop/overlays/staging/kustomization.yaml": kustomization(["../../base"]),
            }
        )
    )  # fmt: skip
    assert clusters(graph) == {"flux/production": "production", "flux/staging": "staging"}
    assert [each.name for each in graph.environments] == ["staging", "production"]
    assert apps(graph) == {
        "shop": {"production": ["apps/shop/overlays/production"], "staging": ["apps/shop/overlays/staging"]}
    }
    assert graph.files["apps/shop/base/shop.yaml"].environments == ("staging", "production")


def test_numbered_clusters_in_directories_of_environments() -> None:
    files: dict[str, str] = {}
    for environment, number in (("c-dev", "01"), ("c-live", "01"), ("c-live", "02")):
        overlay = environment.removeprefix("c-")
        files[f"clusters/{environment}/{number}/kustomization.yaml"] = kustomization(["apps.yaml"])
        files[f"clusters/{environment}/{number}/apps.yaml"] = ks("apps", f"./apps/team/desk/{overlay}")
        files[f"apps/team/desk/{overlay}/kustomization.yaml"] = kustomization(["desk.yaml"])
        files[f"apps/team/desk/{overlay}/desk.yaml"] = deployment("desk")
    graph = build_graph(made(files))
    assert clusters(graph) == {"clusters/c-dev/01": "dev", "clusters/c-live/01": "live", "clusters/c-live/02": "live"}
    assert len({each.name for each in graph.clusters}) == 3
    assert apps(graph) == {"desk": {"dev": ["apps/team/desk/dev"], "live": ["apps/team/desk/live"]}}
    desk = graph.app("desk")
    assert desk is not None
    assert desk.environments["live"][0].clusters == tuple(each.name for each in graph.clusters_in("live"))


def test_words_nobody_knows_are_environments_by_their_place() -> None:
    files: dict[str, str] = {}
    for environment in ("blue", "green"):
        for name in ("a", "b"):
            files |= gotk(f"fleet/{environment}/{environment}-{name}")
    graph = build_graph(made(files))
    assert {each.environment for each in graph.clusters} == {"blue", "green"}
    assert not graph.environments[0].order_certain


def test_a_hub_beside_environments_is_an_environment_of_its_own() -> None:
    graph = build_graph(made({**gotk("clusters/hub"), **gotk("clusters/dev"), **gotk("clusters/prod")}))
    assert clusters(graph) == {"clusters/dev": "dev", "clusters/hub": "hub", "clusters/prod": "prod"}
    assert [each.name for each in graph.environments][-1] == "prod"
    assert not graph.environments[0].order_certain


def test_the_whole_repository_may_be_the_sync_path() -> None:
    graph = build_graph(made({**gotk(""), "apps/desk.yaml": release("desk"), "README.md": "# hi\n"}))
    assert clusters(graph) == {"": "default"}
    assert "apps/desk.yaml" in graph.files
    assert list(apps(graph)) == ["desk"]


def test_a_flux_instance_implies_its_source_and_its_kustomization() -> None:
    instance = """\
apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {name: flux, namespace: flux-system}
spec:
  sync: {kind: OCIRepository, url: "oci://registry.example.org/fleet", ref: latest, path: clusters/eu1}
"""
    graph = build_graph(
        made(
            {
                "clusters/eu1/flux-system/flux-instance.yaml": instance,
                "clusters/eu1/apps.yaml": ks("apps", "./apps/eu").replace("GitRepository", "OCIRepository"),
                "apps/eu/desk.yaml": deployment("desk"),
                **gotk("clusters/us1"),
            }
        )
    )
    assert set(clusters(graph)) == {"clusters/eu1", "clusters/us1"}
    root, inner = graph.cluster("eu1").kustomizations  # type: ignore[union-attr]
    assert (root.ref, root.implied, root.path) == ("Kustomization/flux-system/flux-system", True, "clusters/eu1")
    assert root.source == "OCIRepository/flux-system/flux-system"
    assert inner.path == "apps/eu"
    assert graph.unknown == ()


def test_another_repository_is_outside_and_other_spellings_of_this_one_are_not() -> None:
    graph = build_graph(
        made(
            {
                **gotk("clusters/prod"),
                "clusters/prod/csi.yaml": own("csi", "https://git.example.org/other/csi", "./deploy"),
                "clusters/prod/same.yaml": own("same", "https://git.example.org/team/fleet", "./apps/one"),
                "clusters/prod/scp.yaml": own("scp", "git@git.example.org:team/fleet.git", "./apps/two"),
                "clusters/prod/old.yaml": own("old", URL, "./apps/one", branch="old"),
                "apps/one/a.yaml": deployment("one"),
                "apps/two/a.yaml": deployment("two"),
            }
        )
    )  # fmt: skip
    nodes = {each.name: each for each in graph.cluster("prod").kustomizations}  # type: ignore[union-attr]
    assert {name: (node.path, node.outside) for name, node in nodes.items()} == {
        "flux-system": ("clusters/prod", False),
        "csi": (None, True),
        "same": ("apps/one", False),
        "scp": ("apps/two", False),
        "old": (None, True),
    }
    assert reasons(graph)["Kustomization/flux-system/csi"] == "its source is outside this repository"


def test_a_second_cluster_nested_in_the_first_is_a_cluster() -> None:
    graph = build_graph(made({**gotk("clusters/prod"), **gotk("clusters/prod/dr")}))
    assert clusters(graph) == {"clusters/prod": "prod", "clusters/prod/dr": "prod"}


def test_a_kustomization_that_holds_itself_inside_a_cluster_is_no_second_one() -> None:
    files = {**gotk("clusters/home"), "clusters/home/apps/all.yaml": ks("all", "./clusters/home/apps")}
    graph = build_graph(made(files))
    assert clusters(graph) == {"clusters/home": "default"}
    assert [each.name for each in graph.cluster("home").kustomizations] == ["flux-system", "all"]  # type: ignore[union-attr]


def test_variables_and_patches_decide_where_a_path_leads() -> None:
    vars_ = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: vars, namespace: flux-system}\ndata: {STAGE: dev}\n"
    patch = ks("patched", "./apps/patched/dev").replace("spec:\n  interval: 10m\n", "spec:\n")
    graph = build_graph(
        made(
            {
                **gotk("clusters/dev"),
                "clusters/dev/vars.yaml": vars_,
                "clusters/dev/layer.yaml": ks(
                    "layer", "./layers", extra="  postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}\n"
                ),
                "layers/app.yaml": ks("substituted", "./apps/${STAGE}"),
                "layers/default.yaml": ks("defaulted", "./apps/${OTHER:=prod}"),
                "layers/lost.yaml": ks("lost", "./apps/${NOBODY_KNOWS}"),
                "clusters/dev/patched/kustomization.yaml": kustomization(
                    ["../../../base/ks.yaml"],
                    "patches:\n- path: patch.yaml\n- target: {name: json}\n  path: json.yaml\n",
                ),
                "clusters/dev/patched/patch.yaml": patch,
                "clusters/dev/patched/json.yaml": "- {op: replace, path: /spec/path, value: ./apps/json}\n",
                "base/ks.yaml": f"{ks('patched', './placeholder')}---\n{ks('json', './placeholder')}",
                "apps/dev/a.yaml": deployment("a"),
                "apps/prod/a.yaml": deployment("a"),
                "apps/patched/dev/b.yaml": deployment("b"),
                "apps/json/c.yaml": deployment("c"),
            }
        )
    )
    paths = {each.name: each.path for each in graph.cluster("dev").kustomizations}  # type: ignore[union-attr]
    assert paths == {
        "flux-system": "clusters/dev",
        "layer": "layers",
        "substituted": "apps/dev",
        "defaulted": "apps/prod",
        "lost": None,
        "patched": "apps/patched/dev",
        "json": "apps/json",
    }
    assert reasons(graph)["Kustomization/flux-system/lost"] == "its path has a variable that is not in Git"


def test_inline_inputs_of_a_resource_set_are_expanded_and_a_provider_is_unknown() -> None:
    resource_set = """\
apiVersion: fluxcd.controlplane.io/v1
kind: ResourceSet
metadata: {name: tenants, namespace: flux-system}
spec:
  inputs:
    - tenant: red
    - tenant: blue
  resources:
    - apiVersion: kustomize.toolkit.fluxcd.io/v1
      kind: Kustomization
      metadata: {name: << inputs.tenant >>}
      spec:
        path: ./tenants/<< inputs.tenant >>
        sourceRef: {kind: GitRepository, name: flux-system}
"""
    provider = """\
apiVersion: fluxcd.controlplane.io/v1
kind: ResourceSet
metadata: {name: previews, namespace: flux-system}
spec:
  inputsFrom: [{kind: ResourceSetInputProvider, name: pulls}]
  resourcesTemplate: |
    << range >>
"""
    graph = build_graph(
        made(
            {
                **gotk("clusters/prod"),
                "clusters/prod/sets.yaml": f"{resource_set}---\n{provider}",
                "tenants/red/a.yaml": deployment("a"),
                "tenants/blue/b.yaml": deployment("b"),
            }
        )
    )
    paths = {each.name: each.path for each in graph.cluster("prod").kustomizations}  # type: ignore[union-attr]
    assert paths == {"flux-system": "clusters/prod", "red": "tenants/red", "blue": "tenants/blue"}
    assert reasons(graph) == {
        "ResourceSet/flux-system/previews": "its inputs come from a provider: known only in the cluster"
    }


def test_every_name_of_a_kustomization_file_and_json_manifests_count() -> None:
    graph = build_graph(
        made(
            {
                **gotk("clusters/prod"),
                "clusters/prod/apps.yaml": ks("apps", "./apps"),
                "apps/kustomization.yml": kustomization(["one", "two", "three.json"]),
                "apps/one/Kustomization": kustomization(["a.yaml"]),
                "apps/one/a.yaml": deployment("one"),
                "apps/two/kustomization.yaml": kustomization(["b.yaml"], "configMapGenerator:\n- files: [x=f.txt]\n"),
                "apps/two/b.yaml": deployment("two"),
                "apps/two/f.txt": "x\n",
                "apps/three.json": '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"three"}}',
            }
        )
    )
    assert graph.unreferenced == ()
    assert list(apps(graph)) == ["one", "three", "two"]


def test_components_change_what_their_parent_lists() -> None:
    component = kustomization([]).replace("kind: Kustomization", "kind: Component").replace("resources:\n", "")
    graph = build_graph(
        made(
            {
                **gotk("clusters/prod"),
                "clusters/prod/apps.yaml": ks("apps", "./apps/desk", extra="  components: [../../components/extra]\n"),
                "apps/desk/kustomization.yaml": kustomization(["a.yaml"], "components: [../../components/one]\n"),
                "apps/desk/a.yaml": f"{deployment('desk')}---\n{ks('inner', './nowhere')}",
                "components/one/kustomization.yaml": component
                + "patches:\n- target: {kind: Kustomization, name: inn.*}\n"
                + "  patch: |\n    - {op: replace, path: /spec/path, value: ./inner}\n",
                "components/extra/kustomization.yaml": component + "resources: [extra.yaml]\n",
                "components/extra/extra.yaml": deployment("extra"),
                "inner/b.yaml": deployment("b"),
            }
        )
    )  # fmt: skip
    nodes = {each.name: each.path for each in graph.cluster("prod").kustomizations}  # type: ignore[union-attr]
    assert nodes["inner"] == "inner"
    assert "components/extra/extra.yaml" in graph.files


def test_what_the_artifact_leaves_out_is_not_reached() -> None:
    files = {
        **gotk("clusters/prod"),
        "clusters/prod/apps.yaml": ks("apps", "./apps"),
        "apps/a.yaml": deployment("a"),
        "apps/secret/b.yaml": deployment("b"),
        "apps/secret/c.yaml": deployment("c"),
        "apps/secret/.sourceignore": "/b.yaml\n",
        ".sourceignore": "!/apps/\n[1-0]\n!\n",
    }
    graph = build_graph(made(files))
    assert "apps/secret/b.yaml" not in graph.files
    assert "apps/secret/c.yaml" in graph.files


def test_source_code_beside_manifests_is_nobodys() -> None:
    graph = build_graph(
        made(
            {
                **gotk("deploy/clusters/prod"),
                "src/main.py": "print()\n",
                "charts/desk/Chart.yaml": "name: desk\n",
                "charts/desk/templates/ks.yaml": ks("from-chart", "./deploy"),
                "charts/desk/values.yaml": "a: 1\n",
                "deploy/clusters/prod/desk.yaml": release("desk").replace(
                    "chart: desk\n      version: 1.0.0\n      sourceRef: {kind: HelmRepository, name: charts}",
                    "chart: ./charts/desk\n"
                    "      sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}",
                ),
            }
        )
    )
    assert clusters(graph) == {"deploy/clusters/prod": "prod"}
    assert "charts/desk/values.yaml" in graph.files
    assert graph.unreferenced == ("src/main.py",)


def test_cycles_links_and_missing_files_are_said_and_survived() -> None:
    files = {
        **gotk("clusters/prod"),
        "clusters/prod/apps.yaml": ks("apps", "./a"),
        "a/kustomization.yaml": kustomization(["../b", "gone.yaml", "../../outside", "link.yaml", "https://git.example.org/x//y"]),
        "b/kustomization.yaml": kustomization(["../a"]),
    }  # fmt: skip
    data = {path: text.encode() for path, text in files.items()}
    graph = build_graph(MemoryTree({**data, "a/link.yaml": b"x"}, modes={"a/link.yaml": Mode.LINK}))
    assert reasons(graph) == {
        "../a": "leads back to where it comes from",
        "gone.yaml": "is not there",
        "../../outside": "is outside of this repository",
        "link.yaml": "is a symbolic link, which Flux does not fetch",
        "https://git.example.org/x//y": "is fetched from elsewhere",
    }


def test_files_that_nobody_can_read_never_empty_the_graph() -> None:
    data = {path: text.encode() for path, text in gotk("clusters/prod").items()}
    data |= {
        "clusters/prod/broken.yaml": b"a: [\n",
        "clusters/prod/latin.yaml": b"a: \xff\n",
        "clusters/prod/crlf.yaml": ks("apps", "./apps").replace("\n", "\r\n").encode(),
        "clusters/prod/bom.yaml": b"\xef\xbb\xbf" + ks("more", "./more").encode(),
        "apps/a.yaml": deployment("a").encode(),
        "more/b.yaml": deployment("b").encode(),
    }
    graph = build_graph(MemoryTree(data))
    assert {each.name for each in graph.cluster("prod").kustomizations} == {"flux-system", "apps", "more"}  # type: ignore[union-attr]


def test_registered_clusters_are_taken_as_they_are_given() -> None:
    files = {
        "sync/one/apps.yaml": ks("apps", "./apps/one"),
        "apps/one/a.yaml": deployment("a"),
        **gotk("clusters/other"),
    }
    given = [ClusterRoot("berlin", "./sync/one/", "prod"), ClusterRoot("ghost", "sync/two", "prod")]
    graph = build_graph(made(files), given)
    assert [(each.name, each.environment, each.path) for each in graph.clusters] == [
        ("berlin", "prod", "sync/one"),
        ("ghost", "prod", "sync/two"),
    ]
    assert graph.files["apps/one/a.yaml"].clusters == ("berlin",)
    assert reasons(graph) == {"Kustomization/flux-system/flux-system": "its path ./sync/two is not there"}


@pytest.mark.parametrize("name", ["dev-portal", "test-runner", "livestream"])
def test_an_app_may_have_an_environments_word_in_its_name(name: str) -> None:
    files: dict[str, str] = {}
    for environment in ("dev", "prod"):
        files |= gotk(f"clusters/{environment}")
        files[f"clusters/{environment}/apps.yaml"] = ks("apps", f"./apps/{environment}")
        files[f"apps/{environment}/kustomization.yaml"] = kustomization([name])
        files[f"apps/{environment}/{name}/kustomization.yaml"] = kustomization(["a.yaml"])
        files[f"apps/{environment}/{name}/a.yaml"] = deployment(name)
    graph = build_graph(made(files))
    assert apps(graph) == {name: {each: [f"apps/{each}/{name}"] for each in ("dev", "prod")}}


def test_an_empty_repository_has_an_empty_graph() -> None:
    graph = build_graph(made({"README.md": "# Hi\n"}))
    assert (graph.environments, graph.clusters, graph.apps, graph.files) == ((), (), (), {})
    assert graph.unreferenced == ("README.md",)


def test_a_word_in_every_path_says_nothing() -> None:
    graph = build_graph(made({**gotk("live/dev/one"), **gotk("live/prod/one")}))
    assert clusters(graph) == {"live/dev/one": "dev", "live/prod/one": "prod"}


def test_a_variable_of_the_cluster_names_its_environment() -> None:
    settings = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: runtime, namespace: flux-system}\ndata: {ENVIRONMENT: %s}\n"
    )
    from_settings = "  postBuild: {substituteFrom: [{kind: ConfigMap, name: runtime}]}\n"
    files: dict[str, str] = {
        "tenants/desk.yaml": ks("desk", "./desk/${ENVIRONMENT}"),
        "desk/production/a.yaml": deployment("a"),
    }
    for name, environment in (("eu-1", "staging"), ("eu-2", "production"), ("us-1", "production")):
        files |= gotk(f"clusters/{name}")
        files[f"clusters/{name}/runtime.yaml"] = settings % environment
        files[f"clusters/{name}/tenants.yaml"] = ks("tenants", "./tenants", extra=from_settings)
    graph = build_graph(made(files))
    assert clusters(graph) == {
        "clusters/eu-1": "staging",
        "clusters/eu-2": "production",
        "clusters/us-1": "production",
    }
    assert graph.files["desk/production/a.yaml"].clusters == ("eu-2", "us-1")


def test_flux_objects_in_a_chart_are_known_only_after_a_template() -> None:
    home = (
        "chart: ./charts/fleet\n      valuesFiles: [charts/fleet/prod.yaml]\n"
        "      sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}"
    )
    graph = build_graph(
        made(
            {
                **gotk("clusters/prod"),
                "charts/fleet/Chart.yaml": "name: fleet\n",
                "charts/fleet/prod.yaml": "a: 1\n",
                "charts/fleet/templates/ks.yaml": "{{ range .Values.apps }}\n"
                + ks("{{ .name }}", "./apps/{{ .name }}"),
                "clusters/prod/fleet.yaml": release("fleet").replace(
                    "chart: fleet\n      version: 1.0.0\n      sourceRef: {kind: HelmRepository, name: charts}", home
                ),
            }
        )
    )
    assert reasons(graph) == {"HelmRelease/apps/fleet": "its chart brings Flux objects: known only after a template"}
    assert "charts/fleet/prod.yaml" in graph.files
    assert apps(graph) == {"fleet": {"prod": ["clusters/prod/fleet.yaml"]}}


def test_a_release_in_another_repository_is_an_app_when_its_version_is_pinned_here() -> None:
    pinned = (
        "kind: OCIRepository\napiVersion: source.toolkit.fluxcd.io/v1\nmetadata: {name: desk, namespace: flux-system}\n"
    )
    pinned += 'spec: {url: "oci://registry.example.org/desk", ref: {tag: %s}}\n---\n'
    files: dict[str, str] = {}
    for environment in ("staging", "prod"):
        files |= gotk(f"clusters/{environment}")
        inner = ks("desk", "./", source="desk").replace("kind: GitRepository", "kind: OCIRepository")
        files[f"clusters/{environment}/desk.yaml"] = pinned % "1.0.0" + inner
        files[f"clusters/{environment}/tenant.yaml"] = own("tenant", "https://git.example.org/tenant", "./deploy")
    graph = build_graph(made(files))
    assert apps(graph) == {"desk": {name: [f"clusters/{name}/desk.yaml"] for name in ("prod", "staging")}}
