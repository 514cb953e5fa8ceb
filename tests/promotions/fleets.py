"""A small fleet with one app in staging and prod, made of texts: what most promotions look like."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from textwrap import dedent

from clusters_app.repo.graph import build_graph
from clusters_app.repo.history import PastCommit
from clusters_app.repo.plan import plan_promotion
from clusters_app.repo.plan_model import Plan
from clusters_app.repo.rules import Rules
from clusters_app.repo.tree import MemoryTree, Tree

SYNC = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: flux-system, namespace: flux-system}}
spec: {{interval: 1m, url: "ssh://git@git.shop.example/fleet", ref: {{branch: main}}}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: flux-system, namespace: flux-system}}
spec: {{interval: 10m, path: ./clusters/{env}, prune: true, sourceRef: {{kind: GitRepository, name: flux-system}}}}
"""
FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: {app}, namespace: flux-system}}
spec:
  interval: 10m
  prune: true
  path: ./apps/{app}/overlays/{env}
  sourceRef: {{kind: GitRepository, name: flux-system}}
{more}"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      containers:
        - {name: shop, image: reg.example/shop}
"""
KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"

type Files = Mapping[str, str]


def kustomization(*lists: str) -> str:
    return KUSTOMIZATION + "resources:\n  - ../../base\n" + "".join(dedent(each) for each in lists)


def fleet(
    staging: Files | None,
    prod: Files | None,
    *,
    base: Files | None = None,
    flux: Mapping[str, str] | None = None,
    more: Mapping[str, str | bytes] | None = None,
    app: str = "shop",
    environments: Sequence[str] = ("staging", "prod"),
) -> dict[str, bytes]:
    """A fleet in the layout `apps/<app>/overlays/<env>`; `flux` adds to the spec of the Flux Kustomization."""
    files: dict[str, str | bytes] = {}
    for env, overlay in zip(environments, (staging, prod), strict=True):
        files[f"clusters/{env}/flux-system/gotk-sync.yaml"] = SYNC.format(env=env)
        files[f"clusters/{env}/flux-system/kustomization.yaml"] = KUSTOMIZATION + "resources: [gotk-sync.yaml]\n"
        listed = ["flux-system"] + ([f"{app}.yaml"] if overlay is not None else [])
        files[f"clusters/{env}/kustomization.yaml"] = KUSTOMIZATION + f"resources: [{', '.join(listed)}]\n"
        if overlay is not None:
            files[f"clusters/{env}/{app}.yaml"] = FLUX.format(app=app, env=env, more=(flux or {}).get(env, ""))
            files |= {f"apps/{app}/overlays/{env}/{name}": dedent(text) for name, text in overlay.items()}
    base = base or {
        "deployment.yaml": DEPLOYMENT,
        "kustomization.yaml": KUSTOMIZATION + "resources: [deployment.yaml]\n",
    }
    files |= {f"apps/{app}/base/{name}": dedent(text) for name, text in base.items()}
    files |= more or {}
    return {path: text if isinstance(text, bytes) else text.encode() for path, text in files.items()}


def plan(
    files: Mapping[str, bytes],
    *,
    apps: Sequence[str] = ("shop",),
    source: str = "staging",
    target: str = "prod",
    rules: Rules | None = None,
    history: "Commits | None" = None,
    answers: Iterable[str] = (),
    render: Callable[[Tree, str], str] | None = None,
) -> Plan:
    tree = MemoryTree(files)
    graph = build_graph(tree)
    return plan_promotion(
        tree, graph, apps, source, target, rules=rules, history=history, answers=answers, render=render
    )


class Commits:
    """A history in memory: messages' trailers and whole trees, oldest first."""

    def __init__(self, *commits: tuple[Mapping[str, bytes], dict[str, str]]) -> None:
        self._commits = [
            (str(number), dict(files), tuple(trailers.items())) for number, (files, trailers) in enumerate(commits)
        ]

    def touching(self, paths: Sequence[str]) -> Iterable[PastCommit]:
        before: list[Mapping[str, bytes]] = [{}, *(files for _, files, _ in self._commits)]
        for number in reversed(range(len(self._commits))):
            sha, files, trailers = self._commits[number]
            if any(files.get(path) != before[number].get(path) for path in paths):
                yield PastCommit(sha, trailers)

    def tree(self, sha: str) -> Tree | None:
        return next((MemoryTree(files) for each, files, _ in self._commits if each == sha), None)


def changed(plan_: Plan, files: Mapping[str, bytes]) -> list[str]:
    """Each changed line as `old => new`, `+ new` or `- old`."""
    import difflib

    found = []
    for path, data in sorted(plan_.files.items()):
        before = files.get(path, b"").decode().splitlines()
        after = (data or b"").decode().splitlines()
        for tag, i, j, k, m in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if tag == "replace" and j - i == m - k:
                found += [f"{old.strip()} => {new.strip()}" for old, new in zip(before[i:j], after[k:m], strict=True)]
            elif tag != "equal":
                found += [f"- {line.strip()}" for line in before[i:j]] + [f"+ {line.strip()}" for line in after[k:m]]
    return found
