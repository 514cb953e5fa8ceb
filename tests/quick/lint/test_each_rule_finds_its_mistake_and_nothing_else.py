"""For each rule a small tree that fails, with file and line, and its near misses, which pass."""

import json
from pathlib import Path

import pytest

from clusters_app.cli import main
from clusters_app.repo.lint import RULES, lint
from clusters_app.repo.scaffold import scaffold
from clusters_app.repo.tree import MemoryTree, Mode
from tests.quick.repo.fleets import fleet
from tests.quick.repo.layouts import URL, deployment, git, gotk, ks, kustomization, made

Files = dict[str, str]
PROD = gotk("clusters/prod")
ROOT = "clusters/prod/kustomization.yaml"
APPS_FILE = "clusters/prod/apps.yaml"
PATIENCE = """\
  patches:
    - target: {kind: Kustomization}
      patch: '[{op: add, path: /spec/timeout, value: 5m}, {op: add, path: /spec/retryInterval, value: 2m}]'
"""
LISTED = {"apps/kustomization.yaml": kustomization(["a.yaml"]), "apps/a.yaml": deployment("a")}
APPS = {APPS_FILE: ks("apps", "./apps"), **LISTED}


def found(files: Files) -> list[tuple[str, str, int]]:
    return [(each.id, each.file, each.line) for each in lint(made(files))]


def broken(text: str, *, listed: str = "resources") -> Files:
    """A tree in which a text stands in a file that a cluster applies."""
    return {
        **PROD,
        "clusters/prod/apps.yaml": ks("apps", "./apps"),
        "apps/kustomization.yaml": kustomization(["a.yaml"]).replace("resources", listed),
        "apps/a.yaml": text,
    }


def listed(text: str, *, kustomize: str = "", environment: str = "prod") -> Files:
    """A tree in which a cluster of an environment applies the objects of a text."""
    path = f"clusters/{environment}"
    return {
        **gotk(path),
        f"{path}/apps.yaml": ks("apps", "./apps"),
        "apps/kustomization.yaml": kustomization(["a.yaml"], kustomize),
        "apps/a.yaml": text,
    }


def guarded(version: str = "1.2.3", more: str = "") -> str:
    """A HelmRelease with everything that production asks for."""
    return f"""\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: desk, namespace: apps}}
spec:
  driftDetection: {{mode: enabled}}
  install: {{remediation: {{retries: 3}}}}
  upgrade: {{strategy: {{name: RetryOnFailure}}}}
  chart:
    spec: {{chart: desk, version: "{version}", sourceRef: {{kind: HelmRepository, name: charts}}}}
{more}"""


def stack(plan: str, *, source: str = "flux-system", more: str = "") -> str:
    return f"""\
apiVersion: infra.contrib.fluxcd.io/v1alpha2
kind: Terraform
metadata: {{name: network, namespace: flux-system}}
spec:
  approvePlan: {plan}
  sourceRef: {{kind: GitRepository, name: {source}}}
  path: ./apps
{more}"""


DESTROYS = "  destroyResourcesOnDeletion: true\n"
VOLUME = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: apps}\n"
KEEP = "kustomize.toolkit.fluxcd.io/prune"
OWN_SOURCE = git("modules", "https://git.example.org/team/modules")

FAILING: dict[str, tuple[Files, str, int]] = {
    "GRP009-nested": (
        {**PROD, **gotk("clusters/prod/dr")},
        "clusters/prod/dr/flux-system/kustomization.yaml",
        1,
    ),
    "GRP009-overlay": (
        {
            **PROD,
            "clusters/prod/apps.yaml": ks("apps", "./clusters/prod/apps"),
            "clusters/prod/apps/kustomization.yaml": kustomization(["a.yaml"]),
            "clusters/prod/apps/a.yaml": deployment("a"),
        },
        "clusters/prod/apps/kustomization.yaml",
        1,
    ),
    "GRP009-plain": (
        {
            **PROD,
            "clusters/prod/apps.yaml": ks("apps", "./clusters/prod/apps"),
            "clusters/prod/apps/a.yaml": deployment("a"),
        },
        "clusters/prod/apps/a.yaml",
        1,
    ),
    "GRP010": (
        {**PROD, **APPS, ROOT: kustomization(["apps.yaml"])},
        ROOT,
        4,
    ),
    "GRP001": (
        {
            **PROD,
            **APPS,
            "clusters/prod/b.yaml": ks("b", "./b", extra="  wait: true\n  dependsOn: [{name: c}]\n"),
            "clusters/prod/c.yaml": ks("c", "./b", extra="  wait: true\n  dependsOn: [{name: apps}, {name: b}]\n"),
            APPS_FILE: ks("apps", "./apps", extra="  wait: true\n"),
            "b/kustomization.yaml": kustomization(["b.yaml"]),
            "b/b.yaml": deployment("b"),
        },
        "clusters/prod/b.yaml",
        16,
    ),
    "GRP003": (
        {**PROD, **APPS, "clusters/prod/b.yaml": ks("b", "./apps", extra="  dependsOn: [{name: apps}]\n")},
        APPS_FILE,
        1,
    ),
    "HLM002": (listed(guarded().replace("mode: enabled", "mode: disabled")), "apps/a.yaml", 1),
    "HLM002-upgrade": (listed(guarded().replace("upgrade:", "test:")), "apps/a.yaml", 1),
    "HLM004": (listed(guarded("1.x")), "apps/a.yaml", 9),
    "HLM004-any": (listed(guarded("*")), "apps/a.yaml", 9),
    "KST007": (listed(VOLUME), "apps/a.yaml", 1),
    "TF001": (listed(stack('""')), "apps/a.yaml", 5),
    "TF002": (listed(stack("auto")), "apps/a.yaml", 5),
    "TF002-destroy": (
        listed(f"{stack('plan-1', source='modules', more=DESTROYS)}---\n{OWN_SOURCE}"),
        "apps/a.yaml",
        8,
    ),
    "PTH004-values": (
        {**PROD, APPS_FILE: ks("apps", "./apps"), "apps/values.yaml": "a: 1\n"},
        "apps/values.yaml",
        1,
    ),
    "PTH004": ({**PROD, APPS_FILE: ks("apps", "./apps"), "apps/a.yaml": deployment("a")}, APPS_FILE, 8),
    "PTH001": ({**PROD, "clusters/prod/apps.yaml": ks("apps", "./gone")}, "clusters/prod/apps.yaml", 8),
    "PTH001-ignored": (
        {**PROD, **APPS, ".sourceignore": "/apps\n"},
        "clusters/prod/apps.yaml",
        8,
    ),
    "PTH002": (
        {**PROD, ROOT: kustomization(["flux-system", "gone.yaml"])},
        ROOT,
        5,
    ),
    "PTH002-outside": (
        {**PROD, ROOT: kustomization(["flux-system", "../../../etc/passwd"])},
        ROOT,
        5,
    ),
    "YML001-twice": (broken("kind: A\napiVersion: v1\nmetadata: {name: a}\nkind: B\n"), "apps/a.yaml", 4),
    "YML001-tab": (broken("kind: A\napiVersion: v1\nmetadata:\n\tname: a\n"), "apps/a.yaml", 4),
    "YML001-list": (
        {**PROD, ROOT: "resources: [flux-system]\nkind: Kustomization\napiVersion: v1\nresources: [flux-system]\n"},
        ROOT,
        4,
    ),
    "YML001-both": (
        {**PROD, ROOT: kustomization(["flux-system"]), ROOT.replace("yaml", "yml"): kustomization(["flux-system"])},
        "clusters/prod/kustomization.yml",
        1,
    ),
    "KST001": (
        {**PROD, **APPS, APPS_FILE: ks("apps", "./apps").replace("prune: true", "prune: false")},
        APPS_FILE,
        9,
    ),
    "KST002-often": (
        {**PROD, **APPS, APPS_FILE: ks("apps", "./apps").replace("interval: 10m", "interval: 30s")},
        APPS_FILE,
        7,
    ),
    "KST002-patience": (
        {**PROD, **APPS, APPS_FILE: ks("apps", "./apps").replace("  timeout: 5m\n", "")},
        APPS_FILE,
        1,
    ),
    "KST010": ({**PROD, ROOT: kustomization(["flux-system", "git.example.org/team/base//web?ref=v1"])}, ROOT, 5),
    "KST001-missing": (
        {**PROD, **APPS, APPS_FILE: ks("apps", "./apps").replace("  prune: true\n", "")},
        APPS_FILE,
        1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FAILING)
def test_it_finds_the_mistake(case: str) -> None:
    files, file, line = FAILING[case]
    # Other rules may have their say about the same directory: a plain overlay is also a generated one.
    assert (case.partition("-")[0], file, line) in found(files)
    assert {rule for rule, _, _ in found(files)} <= {case.partition("-")[0], "PTH004"}


PASSING: dict[str, Files] = {
    "a generated root with its own flux-system": PROD,
    "a generated root that holds variables in a directory": {
        **PROD,
        "clusters/prod/vars/vars.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: v}\n",
    },
    "an overlay below an explicit root": {
        **PROD,
        ROOT: kustomization(["flux-system", "apps.yaml"]),
        "clusters/prod/apps.yaml": ks("apps", "./clusters/prod/apps"),
        "clusters/prod/apps/kustomization.yaml": kustomization(["a.yaml"]),
        "clusters/prod/apps/a.yaml": deployment("a"),
    },
    "a path in another repository": {
        **PROD,
        "clusters/prod/csi.yaml": git("csi", "https://git.example.org/csi")
        + "---\n"
        + ks("csi", "./deploy", source="csi"),
    },
    "a path with a variable": {**PROD, "clusters/prod/a.yaml": ks("a", "./apps/${NOBODY}")},
    "a file outside of the directory": {
        **PROD,
        ROOT: kustomization(["flux-system", "../../apps/a.yaml"]),
        "apps/a.yaml": deployment("a"),
    },
    "what an include brings": {
        **PROD,
        "clusters/prod/flux-system/gotk-sync.yaml": git(
            "flux-system", URL, extra="  include: [{repository: {name: bases}, fromPath: k8s, toPath: vendor/bases}]\n"
        )
        + "---\n"
        + ks("flux-system", "./clusters/prod"),
        ROOT: kustomization(["flux-system", "../../vendor/bases/web"]),
    },
    "a guarded release in production": listed(guarded()),
    "a floating release before production": {
        **listed(guarded("*").replace("enabled", "disabled"), environment="staging"),
        **gotk("clusters/prod"),
    },
    "a release that production's overlay pins": listed(
        guarded("*"),
        kustomize="patches:\n- target: {kind: HelmRelease}\n  patch: |\n"
        "    - {op: replace, path: /spec/chart/spec/version, value: 1.2.3}\n",
    ),
    "a volume that is kept by a label": listed(VOLUME.replace("namespace: apps", f"labels: {{{KEEP}: Disabled}}")),
    "volumes that a transformer keeps": listed(VOLUME, kustomize=f"commonAnnotations: {{{KEEP}: disabled}}\n"),
    "volumes that the Kustomization keeps": {
        **listed(VOLUME),
        APPS_FILE: ks("apps", "./apps", extra=f"  commonMetadata: {{annotations: {{{KEEP}: disabled}}}}\n"),
    },
    "an approval from a source of its own": listed(f"{stack('plan-1', source='modules')}---\n{OWN_SOURCE}"),
    "an automatic plan before production": {**listed(stack("auto"), environment="dev"), **gotk("clusters/prod")},
    "a dependency with health checks": {
        **PROD,
        APPS_FILE: ks("apps", "./apps", extra="  healthChecks: [{kind: Deployment, name: a}]\n"),
        **LISTED,
        "clusters/prod/b.yaml": ks("b", "./apps", extra="  dependsOn: [{name: apps}]\n"),
    },
    "patience from the parent's patch": {
        **PROD,
        "clusters/prod/all.yaml": ks("all", "./all", extra=PATIENCE),
        "all/kustomization.yaml": kustomization(["apps.yaml"]),
        "all/apps.yaml": ks("apps", "./apps").replace("  retryInterval: 2m\n  timeout: 5m\n", ""),
        **LISTED,
    },
    "a merge key beside its key": broken("kind: A\napiVersion: v1\nx: &x {app: a}\ny: {<<: *x, app: b}\n"),
    "content of a generator": broken("a: 1\na: 2\n", listed="configMapGenerator:\n- files"),
    "values that are no object": {**broken("kind: A\napiVersion: v1\n"), "apps/values.txt": "a: [\n"},
}


@pytest.mark.parametrize("files", PASSING.values(), ids=PASSING.keys())
def test_it_is_silent_about_a_near_miss(files: Files) -> None:
    assert found(files) == []


def test_a_link_in_a_kustomization_is_found_and_a_submodule_is_not() -> None:
    data = {path: text.encode() for path, text in PROD.items()}
    data[ROOT] = kustomization(["flux-system", "link.yaml", "../../vendor/x"]).encode()
    tree = MemoryTree(
        {**data, "clusters/prod/link.yaml": b"/etc/passwd", "vendor": b"0" * 40},
        modes={"clusters/prod/link.yaml": Mode.LINK, "vendor": Mode.SUBMODULE},
    )
    assert [(each.id, each.line) for each in lint(tree)] == [("PTH002", 5)]


def test_every_rule_has_a_failing_tree() -> None:
    assert {case.partition("-")[0] for case in FAILING} == {rule.id for rule in RULES}


def test_every_rule_is_explained_where_its_findings_point() -> None:
    page = (Path(__file__).parents[3] / "docs/rules.md").read_text()
    explained = [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")]
    assert explained[:-1] == [rule.id for rule in RULES]
    assert all(f": {rule.title}." in page for rule in RULES)
    finding = lint(made({**PROD, "clusters/prod/apps.yaml": ks("apps", "./gone")}))[0]
    assert finding.link == "docs/rules.md#pth001"


def test_a_finding_says_what_and_how_to_mend_it() -> None:
    finding = lint(made({**PROD, "clusters/prod/apps.yaml": ks("apps", "./gone")}))[0]
    assert finding.message == "Kustomization/flux-system/apps follows ./gone, which is not there"
    assert (finding.object, finding.remedy) == (
        "Kustomization/flux-system/apps",
        "correct the path, or add the directory",
    )
    twice = lint(made(broken("kind: A\napiVersion: v1\nkind: B\n")))[0]
    assert twice.message == "kind stands here and in line 1; in a resource the build fails"


@pytest.mark.parametrize(
    ("comment", "left"),
    [
        ("  # flotilla:ignore PTH001 comes with the next merge\n", 0),
        ("  # flotilla:ignore PTH001\n", 1),
        ("  # flotilla:ignore PTH002 another rule\n", 1),
    ],
)
def test_a_comment_with_a_reason_suppresses(comment: str, left: int) -> None:
    text = ks("apps", "./gone").replace("  path:", f"{comment}  path:")
    assert len(found({**PROD, "clusters/prod/apps.yaml": text})) == left


def test_what_scaffolding_writes_has_no_finding() -> None:
    assert lint(MemoryTree(scaffold(fleet()))) == ()


def test_the_command_prints_findings_and_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path, text in {**PROD, "clusters/prod/apps.yaml": ks("apps", "./gone")}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert main(["lint", str(tmp_path), "-o", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["counts"] == {"error": 1, "warning": 0, "info": 0}
    assert document["findings"][0].keys() == {"id", "severity", "file", "line", "object", "message", "remedy", "link"}
    assert main(["lint", str(tmp_path)]) == 1
    assert "error      PTH001   clusters/prod/apps.yaml   8 " in capsys.readouterr().out
    assert main(["lint", str(tmp_path / "nowhere")]) == 2
