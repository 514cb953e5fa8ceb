"""The reader and the check against a real API server with Flux's real CRDs, through tokens of the generated role."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from clusters_app.kube import lists
from clusters_app.kube.check import CheckLine, check
from clusters_app.kube.client import Client, Limits
from clusters_app.kube.connection import Connection
from clusters_app.kube.errors import KubePermanent
from clusters_app.kube.kubeconfig import parse_kubeconfig
from clusters_app.kube.manifest import ACCOUNT, NAMESPACE, read_role_manifest
from clusters_app.kube.observe import Observation, RoundMemory, observe
from clusters_app.secret import Secret
from tests.kube.conftest import LOOPBACK
from tests.testbed.fake_api.authority import Authority
from tests.testbed.fixtures import StartCluster
from tests.testbed.kubernetes import Cluster, KubectlError

pytestmark = pytest.mark.testbed

CRDS = [
    "source-controller", "kustomize-controller", "helm-controller",
    "notification-controller", "image-reflector-controller", "image-automation-controller",
]  # fmt: skip
OBJECTS = """
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: flux-system}
spec: {interval: 1m, url: "https://git.lab/fleet.git", ref: {branch: main}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: charts, namespace: flux-system}
spec: {interval: 1m, url: "oci://registry.lab/charts"}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {interval: 10m, path: ./apps, prune: true, sourceRef: {kind: GitRepository, name: fleet}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: infra, namespace: flux-system}
spec: {interval: 10m, path: ./infra, prune: true, sourceRef: {kind: GitRepository, name: fleet}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: shop, namespace: default}
spec: {interval: 10m, chartRef: {kind: OCIRepository, name: charts, namespace: flux-system}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: kustomize-controller
  namespace: flux-system
  labels: {app.kubernetes.io/part-of: flux, app.kubernetes.io/version: v2.9.5}
spec:
  selector: {matchLabels: {app: kustomize-controller}}
  template:
    metadata: {labels: {app: kustomize-controller}}
    spec: {containers: [{name: manager, image: "ghcr.lab/kustomize-controller:v1.9.4"}]}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: kustomize-controller-leader-election, namespace: flux-system}
spec: {holderIdentity: pod-1, renewTime: "2026-11-30T12:00:00.000000Z", leaseDurationSeconds: 35}
"""


@pytest.fixture(scope="module")
def cluster(clusters: StartCluster) -> Cluster:
    started = clusters("reading", crds=CRDS)
    started.apply(OBJECTS)
    started.patch_status("kustomization", "flux-system", "apps", {"lastAppliedRevision": "main@sha1:" + "a" * 40})
    return started


@pytest.fixture(scope="module")
def connection(cluster: Cluster) -> Connection:
    """As a person registers it: manifest applied, kubeconfig with the role's token pasted."""
    return parse_kubeconfig(cluster.kubeconfig_for(ACCOUNT, NAMESPACE, read_role_manifest()))


def lines_of(connection: Connection) -> dict[str, CheckLine]:
    return {line.code: line for line in check(connection, LOOPBACK, now=datetime.now(UTC))}


async def read(
    connection: Connection, memory: RoundMemory | None = None, later: timedelta = timedelta(0)
) -> Observation:
    async with Client(connection, LOOPBACK, Limits()) as client:
        return await observe(client, now=datetime.now(UTC) + later, memory=memory)


def test_the_check_accepts_a_token_of_the_generated_role(connection: Connection, cluster: Cluster) -> None:
    lines = lines_of(connection)
    assert {line.code: line.text for line in lines.values() if line.state == "failed"} == {}
    assert lines["authenticated"].value == f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
    assert lines["rights-enough"].state == "ok"
    assert lines["rights-excess"].text == "The credential can read Flux and nothing else; it cannot write."
    assert lines["flux"].value == "v2.9.5"
    assert lines["identity"].value == cluster.get("namespace", "", "kube-system")["metadata"]["uid"]
    assert lines["credential"].value, "the token tells its end"


def test_the_check_refuses_the_admins_token(connection: Connection, cluster: Cluster) -> None:
    line = lines_of(replace(connection, token=Secret(cluster.admin_token)))["rights-excess"]
    assert line.state == "failed"
    powers = "read Secrets, write, impersonate others, run commands in pods"
    assert line.text == f"The credential can do too much: {powers}."


def test_the_check_refuses_a_role_of_one_namespace_that_reads_secrets(cluster: Cluster) -> None:
    cluster.kubectl("create", "serviceaccount", "too-curious", "-n", "flux-system")
    cluster.kubectl("create", "role", "curious", "-n", "default", "--verb=get", "--resource=secrets")
    subject = "--serviceaccount=flux-system:too-curious"
    cluster.kubectl("create", "rolebinding", "curious", "-n", "default", "--role=curious", subject)
    cluster.kubectl("create", "clusterrolebinding", "curious", f"--clusterrole={ACCOUNT}", subject)
    connection = parse_kubeconfig(cluster.kubeconfig_for("too-curious", "flux-system"))
    lines = lines_of(connection)
    assert lines["rights-excess"].text == "The credential can do too much: read Secrets."
    assert "list leases.coordination.k8s.io in flux-system" in lines["rights-enough"].text


def test_the_check_refuses_a_wrong_authority(connection: Connection) -> None:
    lines = lines_of(replace(connection, ca_pem=Authority("somebody-else").pem))
    assert list(lines) == ["credential", "reachable", "certificate"]
    text = f"The certificate of {connection.place} is not signed by the certificate authority that was registered."
    assert lines["certificate"].text == text


def test_the_check_refuses_a_wrong_host(connection: Connection) -> None:
    lines = lines_of(replace(connection, tls_server_name="api.prod.lab"))
    assert list(lines) == ["credential", "reachable", "certificate", "host-name"]
    assert "is made out to another name" in lines["host-name"].text
    assert "api.prod.lab" in lines["host-name"].text


def test_the_name_inside_the_cluster_is_right_too(connection: Connection) -> None:
    assert lines_of(replace(connection, tls_server_name="kubernetes.default.svc"))["host-name"].state == "ok"


async def test_every_object_is_read_as_it_stands_in_the_cluster(connection: Connection, cluster: Cluster) -> None:
    seen = await read(connection)
    assert seen.fault is None
    assert seen.connection == "Connected"
    assert seen.kubernetes_version
    assert seen.flux_version == "v2.9.5"
    assert abs(seen.skew_seconds or 0) < 5
    names = {kind: [item.ref.name for item in found.items or ()] for kind, found in seen.lists.items()}
    assert names["Kustomization"] == ["apps", "infra"]
    assert names["HelmRelease"] == ["shop"]
    assert names["GitRepository"] == ["fleet"]
    assert {kind for kind, found in seen.lists.items() if found.state == "missing"} >= {"Canary", "Terraform"}
    assert [lease.metadata.name for lease in seen.leases or ()] == ["kustomize-controller-leader-election"]
    for kind, found in seen.lists.items():
        if found.state == "ok":
            assert len(found.items or ()) == len(cluster.get(kind.lower())["items"])


async def test_a_write_elsewhere_leaves_every_list_unchanged(connection: Connection, cluster: Cluster) -> None:
    """The short cut of the real server's own list format: its tail moves, its items do not."""
    first = await read(connection)
    cluster.kubectl("create", "configmap", "elsewhere", "-n", "default", "--from-literal=a=1")
    second = await read(connection, first.memory)
    assert {found.state for found in second.lists.values()} == {"unchanged", "missing"}
    assert second.lists["Kustomization"].decoded() == first.lists["Kustomization"].items

    cluster.patch_status("kustomization", "flux-system", "infra", {"lastAttemptedRevision": "main@sha1:" + "b" * 40})
    third = await read(connection, second.memory)
    assert {kind for kind, found in third.lists.items() if found.state == "ok"} == {"Kustomization"}


async def test_a_list_is_read_page_by_page(
    connection: Connection, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "PAGE_SIZE", 1)
    seen = await read(connection)
    assert [item.ref.name for item in seen.lists["Kustomization"].items or ()] == ["apps", "infra"]
    again = await read(connection, seen.memory)
    assert again.lists["Kustomization"].state == "unchanged"


async def test_a_version_that_is_no_longer_served_is_replaced_by_one_that_is(
    connection: Connection, cluster: Cluster
) -> None:
    """OCIRepository in v1beta2 alone, as Flux 2.0 to 2.5 served it, while its group serves v1."""
    first = await read(connection)
    assert first.lists["OCIRepository"].served_version == "v1"
    _serve_v1(cluster, False, {"op": "add", "path": "/spec/versions/-", "value": OLD_VERSION})
    try:
        _wait_until_gone(cluster, "/apis/source.toolkit.fluxcd.io/v1/ocirepositories")
        second = await read(connection, first.memory, timedelta(minutes=1))
    finally:
        _serve_v1(cluster, True)
    assert second.lists["OCIRepository"].served_version == "v1beta2"
    assert [item.ref.name for item in second.lists["OCIRepository"].items or ()] == ["charts"]


OLD_VERSION = {
    "name": "v1beta2",
    "served": True,
    "storage": False,
    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    "subresources": {"status": {}},
}


def _serve_v1(cluster: Cluster, served: bool, *more: dict[str, object]) -> None:
    crd = "ocirepositories.source.toolkit.fluxcd.io"
    versions = [version["name"] for version in cluster.get("crd", "", crd)["spec"]["versions"]]
    path = f"/spec/versions/{versions.index('v1')}/served"
    operations = [{"op": "replace", "path": path, "value": served}, *more]
    cluster.kubectl("patch", "crd", crd, "--type=json", "--patch", json.dumps(operations))


def _wait_until_gone(cluster: Cluster, path: str) -> None:
    for _ in range(200):
        try:
            cluster.kubectl("get", "--raw", path)
        except KubectlError:
            return
    raise AssertionError(f"{path} is still served")


async def test_the_role_cannot_read_secrets_or_write(connection: Connection) -> None:
    async with Client(connection, LOOPBACK, Limits()) as client:
        for method, path in (
            ("GET", "/api/v1/secrets"),
            ("GET", "/api/v1/namespaces/flux-system/secrets"),
            ("GET", "/api/v1/configmaps"),
            ("GET", "/api/v1/namespaces/default"),
            ("DELETE", "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/flux-system/kustomizations/apps"),
        ):
            with pytest.raises(KubePermanent) as refused:
                await client.request(method, path, what=path)
            assert refused.value.code == "kube.forbidden", path


async def test_an_account_without_a_role_is_forbidden(cluster: Cluster) -> None:
    cluster.kubectl("create", "serviceaccount", "no-role", "-n", "flux-system")
    seen = await read(parse_kubeconfig(cluster.kubeconfig_for("no-role", "flux-system")))
    assert seen.connection == "Forbidden"
    assert seen.fault is None
    assert {found.state for found in seen.lists.values()} == {"forbidden", "missing"}


async def test_a_token_of_another_signing_key_is_an_expired_credential(connection: Connection) -> None:
    """C054: after the control plane was rebuilt every token is refused, while /version answers everybody."""
    assert connection.token is not None
    header, claims, signature = connection.token.reveal().split(".")
    stale = replace(connection, token=Secret(f"{header}.{claims}.{signature[::-1]}"))
    seen = await read(stale)
    assert seen.connection == "AuthExpired"
    assert str(seen.fault) == f"{connection.place} does not accept the credential (401)."
    assert lines_of(stale)["authenticated"].value == "kube.unauthorized"


async def test_a_stopped_api_server_is_unreachable_until_it_is_back(connection: Connection, cluster: Cluster) -> None:
    async with Client(connection, LOOPBACK, Limits()) as client:
        before = await observe(client, now=datetime.now(UTC))
        cluster.stop_api_server()
        try:
            down = await observe(client, now=datetime.now(UTC), memory=before.memory)
        finally:
            cluster.restart_api_server()
        back = await observe(client, now=datetime.now(UTC), memory=down.memory)
    assert str(down.fault) == f"{connection.place} refuses connections."
    assert down.connection == "Unreachable"
    assert all(found.items is None for found in down.lists.values())
    assert back.fault is None
    assert back.connection == "Connected"
