"""Flux' controllers on a simulated cluster: their Deployments, and the Leases by which they show that they live."""

from datetime import datetime, timedelta

from clusters_app.simulation.cluster import SimulatedCluster
from clusters_app.simulation.parts import Document, digest_of, micro_time_of, time_of, uid_of

CONTROLLERS = {
    "source-controller": "v1.9.4",
    "kustomize-controller": "v1.9.4",
    "helm-controller": "v1.6.3",
    "notification-controller": "v1.9.3",
}
FLUX_VERSION = "v2.9.5"
_LEASE_SECONDS = 35
_RENEWED_EVERY = 5


def leases(cluster: SimulatedCluster, now: datetime) -> list[Document]:
    """Renewed every five seconds, as of `now`."""
    renewed = now - timedelta(seconds=now.timestamp() % _RENEWED_EVERY)
    return [
        {
            "metadata": _plain_metadata(cluster, "Lease", f"{name}-leader-election"),
            "spec": {
                "acquireTime": micro_time_of(cluster.born_at),
                "holderIdentity": f"{name}-{digest_of(cluster.name + name)[7:16]}",
                "leaseDurationSeconds": _LEASE_SECONDS,
                "leaseTransitions": 0,
                "renewTime": micro_time_of(renewed),
            },
        }
        for name in CONTROLLERS
    ]


def deployments(cluster: SimulatedCluster) -> list[Document]:
    """The controllers, labelled as the install manifest labels them."""
    labels = {"app.kubernetes.io/part-of": "flux", "app.kubernetes.io/version": FLUX_VERSION}
    return [
        {
            "metadata": _plain_metadata(cluster, "Deployment", name) | {"generation": 1, "labels": labels},
            "spec": {
                "replicas": 1,
                "template": {"spec": {"containers": [{"name": "manager", "image": f"fluxcd/{name}:{version}"}]}},
            },
            "status": {"observedGeneration": 1, "replicas": 1, "readyReplicas": 1, "availableReplicas": 1},
        }
        for name, version in CONTROLLERS.items()
    ]


def _plain_metadata(cluster: SimulatedCluster, kind: str, name: str) -> Document:
    uid = uid_of(cluster.name, f"{kind}/{name}")
    return {"name": name, "namespace": "flux-system", "uid": uid, "creationTimestamp": time_of(cluster.born_at)}
