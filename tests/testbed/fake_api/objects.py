"""Flux objects by the hundred, shaped like those that real controllers wrote: same fields, same sizes."""

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

type Object = dict[str, Any]

_BORN = datetime(2026, 11, 1, 8, 0, tzinfo=UTC)
_TOOLKIT = "toolkit.fluxcd.io"

#: Kind → group, version, plural, share of a fleet's objects in percent.
SHARES = {
    "Kustomization": (f"kustomize.{_TOOLKIT}", "v1", "kustomizations", 30),
    "HelmRelease": (f"helm.{_TOOLKIT}", "v2", "helmreleases", 22),
    "HelmChart": (f"source.{_TOOLKIT}", "v1", "helmcharts", 14),
    "HelmRepository": (f"source.{_TOOLKIT}", "v1", "helmrepositories", 6),
    "GitRepository": (f"source.{_TOOLKIT}", "v1", "gitrepositories", 4),
    "OCIRepository": (f"source.{_TOOLKIT}", "v1", "ocirepositories", 6),
    "Bucket": (f"source.{_TOOLKIT}", "v1", "buckets", 1),
    "ImageRepository": (f"image.{_TOOLKIT}", "v1", "imagerepositories", 4),
    "ImagePolicy": (f"image.{_TOOLKIT}", "v1", "imagepolicies", 4),
    "ImageUpdateAutomation": (f"image.{_TOOLKIT}", "v1", "imageupdateautomations", 1),
    "Receiver": (f"notification.{_TOOLKIT}", "v1", "receivers", 1),
    "Alert": (f"notification.{_TOOLKIT}", "v1beta3", "alerts", 4),
    "Provider": (f"notification.{_TOOLKIT}", "v1beta3", "providers", 2),
    "ExternalArtifact": (f"source.{_TOOLKIT}", "v1", "externalartifacts", 1),
}


def fleet_objects(count: int) -> Iterator[tuple[str, Object]]:
    """`count` objects over all kinds, all healthy, the same for the same count."""
    shares = [kind for kind, (*_, share) in SHARES.items() for _ in range(share)]
    for index in range(count):
        kind = shares[(index * 37) % len(shares)]
        yield kind, flux_object(kind, "flux-system" if index % 4 == 0 else f"team-{index % 12}", f"app-{index:04d}")


def flux_object(kind: str, namespace: str, name: str, *, revision: str = "main@sha1:" + "a" * 40) -> Object:
    """One healthy object. The caller may change what it likes before handing it to a cluster."""
    group, version, _, _ = SHARES[kind]
    spec = _spec(kind, name)
    uid = hashlib.sha256(f"{kind}/{namespace}/{name}".encode()).hexdigest()
    return {
        "apiVersion": f"{group}/{version}",
        "kind": kind,
        "metadata": {
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": json.dumps({"spec": spec})},
            "creationTimestamp": _time(0),
            "finalizers": ["finalizers.fluxcd.io"],
            "generation": 3,
            "labels": {
                "kustomize.toolkit.fluxcd.io/name": "flux-system",
                "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
            },
            "managedFields": _managed_fields(group, version),
            "name": name,
            "namespace": namespace,
            "uid": f"{uid[:8]}-{uid[8:12]}-4{uid[13:16]}-8{uid[17:20]}-{uid[20:32]}",
        },
        "spec": spec,
        "status": _status(kind, namespace, name, revision),
    }


def lease(name: str, *, renewed_at: datetime, holder: str = "pod-7f9_1c2d") -> Object:
    return {
        "metadata": {"name": name, "namespace": "flux-system", "uid": f"lease-{name}"},
        "spec": {
            "holderIdentity": holder,
            "leaseDurationSeconds": 35,
            "acquireTime": _time(0, micro=True),
            "renewTime": renewed_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "leaseTransitions": 1,
        },
    }


def controller(name: str, flux_version: str = "v2.9.5") -> Object:
    """The Deployment of a Flux controller as the install manifest labels it."""
    return {
        "metadata": {
            "name": name,
            "namespace": "flux-system",
            "uid": f"deployment-{name}",
            "generation": 1,
            "labels": {"app.kubernetes.io/part-of": "flux", "app.kubernetes.io/version": flux_version},
        },
        "spec": {
            "replicas": 1,
            "template": {"spec": {"containers": [{"name": "manager", "image": f"ghcr.lab/{name}:v1.9.4"}]}},
        },
        "status": {"observedGeneration": 1, "replicas": 1, "readyReplicas": 1},
    }


def _time(minutes: int, *, micro: bool = False) -> str:
    return (_BORN + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%S" + (".%fZ" if micro else "Z"))


def _condition(kind: str, reason: str, message: str) -> Object:
    return {
        "lastTransitionTime": _time(90),
        "message": message,
        "observedGeneration": 3,
        "reason": reason,
        "status": "True",
        "type": kind,
    }


def _managed_fields(group: str, version: str) -> list[Object]:
    leaves = ("lastTransitionTime", "message", "observedGeneration", "reason", "status", "type")
    condition: Object = {".": {}} | _fields(*leaves)
    spec = _fields("interval", "path", "prune", "sourceRef", "timeout", "targetNamespace")
    labels = _fields("kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace")
    conditions = {f'k:{{"type":"{kind}"}}': condition for kind in ("Ready", "Healthy", "Reconciling")}
    status = {"f:conditions": conditions, "f:inventory": {".": {}, "f:entries": {}}} | _fields("lastAppliedRevision")
    entries: tuple[tuple[str, Object], ...] = (
        ("kustomize-controller", {"f:metadata": {"f:labels": labels}, "f:spec": spec}),
        ("gotk-controller", {"f:metadata": {"f:finalizers": {'v:"finalizers.fluxcd.io"': {}}}}),
        ("gotk-controller", {"f:status": status}),
    )
    return [
        {
            "apiVersion": f"{group}/{version}",
            "fieldsType": "FieldsV1",
            "fieldsV1": fields,
            "manager": manager,
            "operation": "Apply",
            "time": _time(5),
        }
        for manager, fields in entries
    ]


def _fields(*names: str) -> Object:
    return {f"f:{name}": {} for name in names}


def _spec(kind: str, name: str) -> Object:
    charts = {"kind": "HelmRepository", "name": "charts"}
    chart = {"chart": name, "interval": "1m0s", "sourceRef": charts, "version": "1.2.x"}
    specs: dict[str, Object] = {
        "Kustomization": {
            "interval": "10m0s",
            "path": f"./apps/{name}",
            "prune": True,
            "sourceRef": {"kind": "GitRepository", "name": "flux-system"},
            "timeout": "3m0s",
            "wait": True,
        },
        "HelmRelease": {
            "chart": {"spec": chart},
            "interval": "15m0s",
            "values": {
                "replicas": 2,
                "resources": {"limits": {"memory": "256Mi"}},
                "ingress": {"hosts": [f"{name}.lab"]},
            },
        },
        "HelmChart": chart,
        "OCIRepository": {"interval": "5m0s", "url": f"oci://registry.lab/{name}", "timeout": "60s"},
        "Bucket": {"interval": "5m0s", "bucketName": name, "endpoint": "minio.lab:9000", "timeout": "60s"},
        "ImageUpdateAutomation": {
            "interval": "30m0s",
            "sourceRef": {"kind": "GitRepository", "name": "flux-system"},
            "git": {"commit": {"author": {"name": "flux", "email": "flux@team.lab"}}},
        },
        "ExternalArtifact": {"sourceRef": {"kind": "ArtifactGenerator", "name": name}},
        "ImageRepository": {"image": f"registry.lab/{name}", "interval": "5m0s"},
        "ImagePolicy": {"imageRepositoryRef": {"name": name}, "policy": {"semver": {"range": ">=1.0.0"}}},
        "Receiver": {
            "type": "generic",
            "secretRef": {"name": "token"},
            "resources": [{"kind": "GitRepository", "name": "flux-system"}],
        },
        "Alert": {"providerRef": {"name": "chat"}, "eventSources": [{"kind": "Kustomization", "name": "*"}]},
        "Provider": {"type": "generic", "address": "https://chat.lab/hook"},
    }
    return specs.get(kind, {"interval": "5m0s", "url": f"https://git.lab/{name}.git", "timeout": "60s"})


def _values(name: str) -> Object:
    resources = {"limits": {"memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}}
    return {"replicas": 2, "resources": resources, "ingress": {"hosts": [f"{name}.lab"], "className": "nginx"}}


def _status(kind: str, namespace: str, name: str, revision: str) -> Object:
    if kind in {"Alert", "Provider"}:
        return {}
    ready = _condition("Ready", "ReconciliationSucceeded", f"Applied revision: {revision}")
    applied = ("apps_Deployment", "_Service", "_ConfigMap", "networking.k8s.io_Ingress", "_ServiceAccount")
    more: dict[str, Object] = {
        "Kustomization": {
            "conditions": [ready, _condition("Healthy", "Succeeded", "Health check passed in 22.1s")],
            "lastAppliedRevision": revision,
            "lastAttemptedRevision": revision,
            "inventory": {
                "entries": [{"id": f"{namespace}_{name}-{part}_{of}", "v": "v1"} for part in range(9) for of in applied]
            },
        },
        "HelmRelease": {
            "conditions": [
                _condition(type_, "UpgradeSucceeded", f"Helm upgrade succeeded for release {namespace}/{name}.v3")
                for type_ in ("Ready", "Released")
            ],
            "history": [_snapshot(namespace, name, number) for number in (3, 2, 1)],
            "lastAttemptedRevision": "1.2.3",
        },
        "ImageRepository": {
            "lastScanResult": {"scanTime": _time(95), "tagCount": 12, "latestTags": ["1.2.3", "1.2.2"]}
        },
        "ImagePolicy": {"latestRef": {"name": f"registry.lab/{name}", "tag": "1.2.3"}},
        "ImageUpdateAutomation": {
            "lastAutomationRunTime": _time(95),
            "lastPushTime": _time(80),
            "lastPushCommit": "b" * 40,
        },
        "Receiver": {"webhookPath": "/hook/" + "0" * 64},
    }
    artifact: Object = {"artifact": _artifact(kind, namespace, name, revision)}
    return {"conditions": [ready], "observedGeneration": 3} | more.get(kind, artifact)


def _snapshot(namespace: str, name: str, number: int) -> Object:
    return {
        "appVersion": "1.2.3",
        "chartName": name,
        "chartVersion": f"1.2.{number}",
        "configDigest": "sha256:" + "c" * 64,
        "digest": "sha256:" + "d" * 64,
        "firstDeployed": _time(10),
        "lastDeployed": _time(90),
        "name": name,
        "namespace": namespace,
        "status": "deployed" if number == 3 else "superseded",
        "version": number,
    }


def _artifact(kind: str, namespace: str, name: str, revision: str) -> Object:
    path = f"{kind.lower()}/{namespace}/{name}/latest.tar.gz"
    return {
        "digest": "sha256:" + "e" * 64,
        "lastUpdateTime": _time(60),
        "path": path,
        "revision": revision,
        "size": 34567,
        "url": f"http://source-controller.flux-system.svc.cluster.local./{path}",
    }
