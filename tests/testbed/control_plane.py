"""How the programs of a cluster are started: etcd, the API server, its controllers, and kwok, which plays the node."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.testbed.build import program, shared_files

# What workloads need. Without node-lifecycle a new node keeps its not-ready taint, and pods stay Pending.
_CONTROLLERS = (
    "daemonset-controller",
    "deployment-controller",
    "garbage-collector-controller",
    "job-controller",
    "namespace-controller",
    "node-lifecycle-controller",
    "replicaset-controller",
    "resourcequota-controller",
    "root-ca-certificate-publisher-controller",
    "serviceaccount-controller",
    "statefulset-controller",
)

# Groups that nobody asks for cost start-up time, memory and idle work.
_API_GROUPS = (
    "api/all=false",
    "api/v1=true",
    "admissionregistration.k8s.io/v1=true",
    "apiextensions.k8s.io/v1=true",
    "apiregistration.k8s.io/v1=true",
    "apps/v1=true",
    "authentication.k8s.io/v1=true",
    "authorization.k8s.io/v1=true",
    "autoscaling/v2=true",
    "batch/v1=true",
    "coordination.k8s.io/v1=true",
    "discovery.k8s.io/v1=true",
    "events.k8s.io/v1=true",
    "flowcontrol.apiserver.k8s.io/v1=true",
    "networking.k8s.io/v1=true",
    "node.k8s.io/v1=true",
    "policy/v1=true",
    "rbac.authorization.k8s.io/v1=true",
    "resource.k8s.io/v1=true",
    "scheduling.k8s.io/v1=true",
    "storage.k8s.io/v1=true",
)

# A pod whose image has a tag with this word in it cannot pull that image, as on a real node.
MISSING_TAG = "broken"
_HAS_MISSING_IMAGE = f'.spec.containers.[] | select( .image | test(":.*{MISSING_TAG}") ) | .name'


@dataclass(frozen=True)
class Layout:
    """Where the parts of one cluster keep their files and on which loopback ports they listen."""

    folder: Path
    etcd_port: int
    etcd_peer_port: int
    api_port: int

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "admin.kubeconfig"

    @property
    def signing_key(self) -> Path:
        return self.folder / "service-accounts.key"

    @property
    def server(self) -> str:
        return f"https://127.0.0.1:{self.api_port}"


def etcd(layout: Layout) -> list[str]:
    client, peer = f"http://127.0.0.1:{layout.etcd_port}", f"http://127.0.0.1:{layout.etcd_peer_port}"
    return [
        str(program("etcd")),
        f"--data-dir={layout.folder / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
        "--log-level=warn",
        # One member elects itself; ticking ten times a second for it is idle work.
        "--heartbeat-interval=500",
        "--election-timeout=5000",
    ]


def api_server(layout: Layout) -> list[str]:
    return [
        str(program("kube-apiserver")),
        f"--etcd-servers=http://127.0.0.1:{layout.etcd_port}",
        f"--cert-dir={layout.folder}",
        f"--tls-cert-file={layout.folder / 'tls.crt'}",
        f"--tls-private-key-file={layout.folder / 'tls.key'}",
        f"--secure-port={layout.api_port}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",
        "--authorization-mode=RBAC",
        f"--token-auth-file={layout.folder / 'tokens.csv'}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={layout.signing_key}",
        f"--service-account-signing-key-file={layout.signing_key}",
        "--allow-privileged",
        f"--runtime-config={','.join(_API_GROUPS)}",
        "--enable-priority-and-fairness=false",
        "--profiling=false",
        "--etcd-count-metric-poll-period=0",
        "--etcd-db-metric-poll-interval=0",
        "--etcd-compaction-interval=0",
    ]


def controller_manager(layout: Layout) -> list[str]:
    return [
        str(program("kube-controller-manager")),
        f"--kubeconfig={layout.kubeconfig}",
        f"--controllers={','.join(_CONTROLLERS)}",
        "--leader-elect=false",
        "--secure-port=0",
        f"--service-account-private-key-file={layout.signing_key}",
        f"--root-ca-file={layout.folder / 'ca.crt'}",
        "--profiling=false",
    ]


def scheduler(layout: Layout) -> list[str]:
    return [
        str(program("kube-scheduler")),
        f"--kubeconfig={layout.kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",
        "--profiling=false",
    ]


def kwok(layout: Layout) -> list[str]:
    return [
        str(program("kwok")),
        f"--kubeconfig={layout.kubeconfig}",
        f"--config={_write_stages(layout.folder)}",
        "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
        "--node-lease-duration-seconds=40",
    ]


CONTROL_PLANE: Mapping[str, Callable[[Layout], list[str]]] = {
    "kube-controller-manager": controller_manager,
    "kube-scheduler": scheduler,
    "kwok": kwok,
}

NODE: Mapping[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {
        "name": "node-1",
        "annotations": {"kwok.x-k8s.io/node": "fake"},
        "labels": {"kubernetes.io/hostname": "node-1", "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"},
    },
    "status": {
        "allocatable": {"cpu": "64", "memory": "256Gi", "pods": "500"},
        "capacity": {"cpu": "64", "memory": "256Gi", "pods": "500"},
    },
}


def _write_stages(folder: Path) -> Path:
    """kwok's own stages of nodes and pods, with one more: an image that cannot be pulled."""
    stages = [
        stage
        for part in ("node/fast", "node/heartbeat-with-lease", "pod/fast")
        for file in sorted((shared_files("kwok") / "stages" / part).glob("*.yaml"))
        for stage in yaml.safe_load_all(file.read_text())
        if stage["kind"] == "Stage"
    ]
    for stage in stages:
        if stage["metadata"]["name"] == "pod-ready":
            expressions = stage["spec"]["selector"]["matchExpressions"]
            expressions.append({"key": _HAS_MISSING_IMAGE, "operator": "DoesNotExist"})
    path = folder / "stages.yaml"
    path.write_text(yaml.safe_dump_all([*stages, _IMAGE_MISSING]))
    return path


_IMAGE_MISSING = {
    "apiVersion": "kwok.x-k8s.io/v1alpha1",
    "kind": "Stage",
    "metadata": {"name": "pod-image-missing"},
    "spec": {
        "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
        "selector": {
            "matchExpressions": [
                {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"},
                {"key": _HAS_MISSING_IMAGE, "operator": "Exists"},
                {"key": ".status.containerStatuses", "operator": "DoesNotExist"},
            ]
        },
        "next": {
            "statusTemplate": """
phase: Pending
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: false
  restartCount: 0
  state:
    waiting:
      reason: ImagePullBackOff
      message: {{ printf "Back-off pulling image %q: not found" .image | Quote }}
{{ end }}
""",
        },
    },
}
