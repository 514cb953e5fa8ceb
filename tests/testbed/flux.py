"""The Flux controllers of a cluster as processes of this machine, and their bootstrap to a Git repository."""

import base64
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.testbed.build import PROGRAMS, program, shared_files
from tests.testbed.processes import free_port

if TYPE_CHECKING:
    from tests.testbed.kubernetes import Cluster

NAMESPACE = "flux-system"
DISTRIBUTION = "v2.9.5"

_WAITS_FOR_DEPENDENCIES = {
    "source-controller",
    "kustomize-controller",
    "helm-controller",
    "image-reflector-controller",
}


def crd_files(controller: str) -> list[Path]:
    return sorted((shared_files("flux") / "crds" / controller).glob("*.yaml"))


def distribution(controllers: Sequence[str]) -> str:
    """The namespace and Deployments as `flux install` labels them: from these a reader knows Flux's version.

    Their pods are kwok's and do nothing; the controllers themselves are processes. A dead one shows in its Lease alone.
    """
    labels = {"app.kubernetes.io/part-of": "flux", "app.kubernetes.io/version": DISTRIBUTION}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels}}
    return yaml.safe_dump_all([namespace, *(_deployment(name, labels) for name in controllers)])


def _deployment(name: str, labels: Mapping[str, str]) -> dict[str, Any]:
    container = {"name": "manager", "image": f"fluxcd/{name}:{_pinned_version(name)}"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": {**labels, "control-plane": "controller"}},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}},
        },
    }


def _pinned_version(name: str) -> str:
    pinned = re.search(rf"github.com/fluxcd/{name} (v\S+)", (PROGRAMS / "flux" / "go.mod").read_text())
    if pinned is None:
        raise LookupError(f"{name} is not pinned in the go.mod of the Flux controllers")
    return pinned[1]


class Ports:
    """The loopback ports of one cluster's controllers, kept when a controller is started again."""

    def __init__(self) -> None:
        self.events = free_port()
        self.receiver = free_port()
        self.storage = free_port()


def controller(name: str, folder: Path, ports: Ports, *, sends_events: bool) -> list[str]:
    """The command of one controller; its Lease in flux-system is the heartbeat that the product reads."""
    command = [
        str(program(name)),
        "--enable-leader-election",
        "--health-addr=127.0.0.1:0",
        "--metrics-addr=0",
        "--log-level=info",
        "--concurrent=2",
    ]
    if name != "notification-controller":
        command.append(f"--events-addr={f'http://127.0.0.1:{ports.events}/' if sends_events else ''}")
    if name in _WAITS_FOR_DEPENDENCIES:
        command.append("--requeue-dependency=2s")
    return command + _own_flags(name, folder, ports)


def _own_flags(name: str, folder: Path, ports: Ports) -> list[str]:
    if name == "source-controller":
        address = f"127.0.0.1:{ports.storage}"
        storage = folder / "storage"
        storage.mkdir(exist_ok=True)
        return [f"--storage-path={storage}", f"--storage-addr={address}", f"--storage-adv-addr={address}"]
    if name == "kustomize-controller":
        return ["--http-retry=2"]
    if name == "notification-controller":
        # Here the events' address is where it listens.
        return [f"--events-addr=127.0.0.1:{ports.events}", f"--receiverAddr=127.0.0.1:{ports.receiver}"]
    return []


def environment(kubeconfig: Path, folder: Path) -> Mapping[str, str]:
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    return {"KUBECONFIG": str(kubeconfig), "RUNTIME_NAMESPACE": NAMESPACE, "TMPDIR": str(scratch)}


def command(cluster: "Cluster", *arguments: str) -> str:
    """Run the `flux` command as the administrator: what it says of a cluster is what an operator believes."""
    environment = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig)}
    done = subprocess.run(
        [str(program("flux")), *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def sync_manifest(*, url: str, branch: str, path: str, interval: str = "10s") -> str:
    """The two objects that `flux bootstrap` writes to `gotk-sync.yaml`; the Secret is not among them."""
    source = {
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "GitRepository",
        "metadata": {"name": NAMESPACE, "namespace": NAMESPACE},
        "spec": {
            "interval": interval,
            "ref": {"branch": branch},
            "secretRef": {"name": NAMESPACE},
            "url": url,
        },
    }
    root = {
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {"name": NAMESPACE, "namespace": NAMESPACE},
        "spec": {
            "interval": interval,
            "path": f"./{path.removeprefix('./')}",
            "prune": True,
            "sourceRef": {"kind": "GitRepository", "name": NAMESPACE},
        },
    }
    return yaml.safe_dump_all([source, root], sort_keys=False)


def bootstrap(
    cluster: "Cluster",
    *,
    url: str,
    branch: str,
    path: str,
    username: str,
    token: str,
    ca_pem: str = "",
    interval: str = "10s",
) -> None:
    """Make a cluster follow a path of a branch; returns at once, the controllers do the rest.

    It does what `flux bootstrap git --token-auth` does to the cluster. Committing `sync_manifest` under the path as
    well is the caller's business.
    """
    cluster.apply(yaml.safe_dump(credential_secret(NAMESPACE, username=username, token=token, ca_pem=ca_pem)))
    cluster.apply(sync_manifest(url=url, branch=branch, path=path, interval=interval))


def credential_secret(name: str, *, username: str, token: str, ca_pem: str = "") -> dict[str, Any]:
    """The Secret in flux-system that a GitRepository's secretRef names."""
    values = {"username": username, "password": token} | ({"ca.crt": ca_pem} if ca_pem else {})
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "data": {key: base64.b64encode(value.encode()).decode() for key, value in values.items()},
    }
