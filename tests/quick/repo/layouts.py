"""Short ways to write the trees of the tests: a Flux Kustomization, a source, a kustomization file, a workload."""

from collections.abc import Sequence

from clusters_app.repo.tree import MemoryTree


def made(files: dict[str, str]) -> MemoryTree:
    return MemoryTree({path: text.encode() for path, text in files.items()})


def ks(name: str, path: str, *, source: str = "flux-system", extra: str = "", namespace: str = "flux-system") -> str:
    """A Flux Kustomization; `extra` is more of its spec, indented by two."""
    return f"""\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: {name}
  namespace: {namespace}
spec:
  interval: 10m
  path: {path}
  prune: true
  sourceRef:
    kind: GitRepository
    name: {source}
  retryInterval: 2m
  timeout: 5m
{extra}"""


def git(name: str, url: str, *, branch: str = "main", extra: str = "") -> str:
    return f"""\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: {name}
  namespace: flux-system
spec:
  interval: 1m
  url: {url}
  ref:
    branch: {branch}
{extra}"""


URL = "ssh://git@git.example.org/team/fleet.git"


def gotk(path: str, *, url: str = URL, branch: str = "main") -> dict[str, str]:
    """What bootstrap leaves in a sync path."""
    listed = kustomization(["gotk-components.yaml", "gotk-sync.yaml"])
    sync = f"{git('flux-system', url, branch=branch)}---\n{ks('flux-system', f'./{path}')}"
    components = (
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: flux-system\n  labels: {app.kubernetes.io/part-of: flux}\n"
    )
    prefix = f"{path}/flux-system" if path else "flux-system"
    return {
        f"{prefix}/gotk-components.yaml": components,
        f"{prefix}/gotk-sync.yaml": sync,
        f"{prefix}/kustomization.yaml": listed,
    }


def kustomization(resources: Sequence[str], extra: str = "") -> str:
    listed = "".join(f"- {each}\n" for each in resources)
    return f"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n{listed}{extra}"


def deployment(name: str, image: str = "registry.example.org/app:1.0.0") -> str:
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
spec:
  template:
    spec:
      containers:
        - name: {name}
          image: {image}
"""


def release(name: str, namespace: str = "apps") -> str:
    return f"""\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: {name}
  namespace: {namespace}
spec:
  chart:
    spec:
      chart: {name}
      version: 1.0.0
      sourceRef: {{kind: HelmRepository, name: charts}}
"""
