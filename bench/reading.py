"""CPU of reading a cluster: our reader, the official client and the floor, in turns, in one run, on the same lists.

Only the client's own CPU counts; the servers run in other processes. Nothing is stored here.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from ipaddress import ip_network
from pathlib import Path

from bench.floor import Floor
from bench.results import Result
from clusters_app.egress import Policy
from clusters_app.flux.resources import KindSpec
from clusters_app.kube.client import Client, Clients, Limits
from clusters_app.kube.connection import Connection
from clusters_app.kube.kinds import STANDARD_KINDS
from clusters_app.kube.kubeconfig import parse_kubeconfig
from clusters_app.kube.manifest import ACCOUNT, NAMESPACE, read_role_manifest
from clusters_app.kube.observe import Observation, RoundMemory, observe
from clusters_app.secret import Secret
from tests.testbed.fake_api.objects import SHARES, Object, fleet_objects

POLICY = Policy(allow_networks=(ip_network("127.0.0.0/8"),))
#: On loopback compression would only cost.
LIMITS = Limits(is_compressed=False)
TURNS = 15
#: On the real server; the fake holds 200.
OBJECTS = 700
type Versions = dict[str, str]


def against_the_fake() -> dict[str, Result]:
    """A synthetic cluster of 200 objects of 14 kinds."""
    with _fake_fleet() as connection:
        costs = _costs(connection)
    return {
        "reading.fake.changed": Result(costs["changed"] / costs["floor"], 3.0, 2.2, "lower"),
        "reading.fake.unchanged": Result(costs["unchanged"] / costs["floor"], 2.0, 1.0, "lower"),
        "reading.fake.official-over-changed": Result(costs["official"] / costs["changed"], 1.0, 2.5, "higher"),
        "reading.fake.official-over-unchanged": Result(costs["official"] / costs["unchanged"], 1.5, 4.0, "higher"),
    }


def against_a_real_cluster() -> dict[str, Result]:
    """A real API server that holds 700 such objects, read with a token of the read role."""
    from tests.testbed.kubernetes import Cluster

    crds = [
        f"{name}-controller"
        for name in ("source", "kustomize", "helm", "notification", "image-reflector", "image-automation")
    ]
    with Cluster("bench", crds=crds) as cluster:
        connection = parse_kubeconfig(cluster.kubeconfig_for(ACCOUNT, NAMESPACE, read_role_manifest()))
        admin = Connection(cluster.server, ca_pem=cluster.ca_pem, token=Secret(cluster.admin_token))
        asyncio.run(_fill(admin, OBJECTS))
        costs = _costs(connection)
    return {
        "reading.real.changed": Result(costs["changed"] / costs["floor"], 3.0, 2.2, "lower"),
        "reading.real.unchanged": Result(costs["unchanged"] / costs["floor"], 2.0, 1.0, "lower"),
        "reading.real.official-over-changed": Result(costs["official"] / costs["changed"], 1.0, 2.5, "higher"),
        "reading.real.official-over-unchanged": Result(costs["official"] / costs["unchanged"], 1.5, 4.0, "higher"),
    }


def _costs(connection: Connection) -> dict[str, float]:
    """Least CPU seconds of one refresh, by reader. Their turns alternate, so that all meet the same load."""
    with asyncio.Runner() as runner, _official_lists(connection) as read_officially:
        clients = Clients(POLICY, LIMITS)
        client = runner.run(clients.client("bench", connection))
        first = runner.run(_round(client, None))
        assert first.memory is not None
        versions = {kind: found.served_version for kind, found in first.lists.items() if found.items is not None}
        # Versions are remembered, as they are in nine rounds of ten; no list is.
        remembered = {kind: replace(known, digest=None) for kind, known in first.memory.lists.items()}
        nothing_read = replace(first.memory, lists=remembered)
        with Floor(connection) as floor:
            readers: dict[str, Callable[[], object]] = {
                "floor": lambda: [floor.read(STANDARD_KINDS[kind], version) for kind, version in versions.items()],
                "changed": lambda: runner.run(_round(client, nothing_read)),
                "unchanged": lambda: runner.run(_round(client, first.memory)),
                "official": lambda: read_officially(versions),
            }
            costs = _least(readers)
        runner.run(clients.close())
    return costs


def _least(readers: dict[str, Callable[[], object]]) -> dict[str, float]:
    costs = dict.fromkeys(readers, float("inf"))
    for _ in range(TURNS):
        for name, reader in readers.items():
            began = time.process_time()
            reader()
            costs[name] = min(costs[name], time.process_time() - began)
    return costs


async def _round(client: Client, memory: RoundMemory | None) -> Observation:
    seen = await observe(client, now=datetime.now(UTC), memory=memory)
    if seen.fault is not None:
        raise seen.fault
    return seen


@contextmanager
def _official_lists(connection: Connection) -> Iterator[Callable[[Versions], object]]:
    """The official client as its documentation shows it: a list a kind, objects as dictionaries."""
    from kubernetes.client import ApiClient, Configuration, CustomObjectsApi

    with tempfile.NamedTemporaryFile("w", suffix=".crt") as authority:
        authority.write(connection.ca_pem or "")
        authority.flush()
        configuration = Configuration(host=connection.server, ssl_ca_cert=authority.name, proxy="", no_proxy="")
        token = connection.token.reveal() if connection.token else ""
        api = CustomObjectsApi(ApiClient(configuration, "Authorization", f"Bearer {token}"))
        yield lambda versions: [
            _official_list(api, STANDARD_KINDS[kind], version) for kind, version in versions.items()
        ]


def _official_list(api: object, spec: KindSpec, version: str) -> object:
    return api.list_cluster_custom_object(spec.group, version, spec.plural)  # type: ignore[attr-defined]


@contextmanager
def _fake_fleet() -> Iterator[Connection]:
    """One fake cluster in a process of its own, so that serving it does not count."""
    command = [sys.executable, "-m", "tests.testbed.fake_api", "--objects", "200"]
    root = Path(__file__).parent.parent
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        described = json.loads(server.stdout.readline())
        cluster = described["clusters"][0]
        try:
            yield Connection(cluster["server"], ca_pem=described["ca_pem"], token=Secret(cluster["token"]))
        finally:
            server.stdin.close()


async def _fill(admin: Connection, count: int) -> None:
    """Write generated objects into a real cluster, status and all, as their controllers would."""
    async with Client(admin, POLICY, replace(LIMITS, connections=8)) as client:
        for index in range(12):
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"team-{index}"}}
            await _send(client, "POST", "/api/v1/namespaces", namespace)
        # ExternalArtifact needs a feature of Flux that few switch on; its CRD has no status of ours.
        wanted = ((kind, document) for kind, document in fleet_objects(count) if kind != "ExternalArtifact")
        await asyncio.gather(*(_create(client, kind, document) for kind, document in wanted))


async def _create(client: Client, kind: str, document: Object) -> None:
    group, _, plural, _ = SHARES[kind]
    status, metadata = document.pop("status"), document["metadata"]
    for server_side in ("managedFields", "uid", "creationTimestamp", "generation", "finalizers"):
        metadata.pop(server_side)
    version = document["apiVersion"].rpartition("/")[2]
    path = f"/apis/{group}/{version}/namespaces/{metadata['namespace']}/{plural}"
    await _send(client, "POST", path, document)
    if status:
        await _send(client, "PATCH", f"{path}/{metadata['name']}/status", {"status": status})


async def _send(client: Client, method: str, path: str, document: object) -> None:
    media = "application/merge-patch+json" if method == "PATCH" else "application/json"
    await client.request(method, path, what=path, headers={"Content-Type": media}, body=json.dumps(document).encode())
