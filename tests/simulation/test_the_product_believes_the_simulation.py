"""What a simulated cluster is, is what the product concludes of it, read through the real client."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from ipaddress import ip_network
from pathlib import Path

import pytest

from clusters_app.egress import Policy
from clusters_app.flux.identity import ObjectRef
from clusters_app.flux.status import judge, remember
from clusters_app.flux.verdicts import Control, Health, Memory, Verdict
from clusters_app.kube.check import check
from clusters_app.kube.client import Client, Limits
from clusters_app.kube.connection import Connection
from clusters_app.kube.observe import Observation, observe
from clusters_app.secret import Secret
from clusters_app.simulation.api import ClusterApi
from clusters_app.simulation.authority import create_authority, server_context
from clusters_app.simulation.cluster import Applier, SimulatedCluster
from clusters_app.simulation.faults import Silent, Suspended, Untrusted
from clusters_app.simulation.server import Server

from .conftest import BORN, NOON, make_fleet

POLICY = Policy(allow_networks=(ip_network("127.0.0.1/32"),))
TOKEN = "of-a-reader-0123456789"
APPS = "Kustomization/flux-system/apps"
VERSION = "clusters/{}/apps/{}/version.yaml"


class Served:
    """A fleet behind its API server, with a clock that the test moves."""

    def __init__(self, folder: Path) -> None:
        self.now = NOON
        self.fleet = make_fleet(
            {
                "prod-a": (Untrusted("HelmRepository/board/board", BORN),),
                "prod-b": (Suspended(APPS, NOON - timedelta(hours=1)),),
            }
        )
        create_authority(folder)
        self.ca_pem = (folder / "ca.pem").read_text()
        apis = {name: ClusterApi(cluster, TOKEN) for name, cluster in self.fleet.clusters.items()}
        self.server = Server(apis, server_context(folder), clock=lambda: self.now)

    def connection(self, name: str, token: str = TOKEN) -> Connection:
        return Connection(self.server.url(name), ca_pem=self.ca_pem, token=Secret(token))

    def client(self, name: str) -> Client:
        return Client(self.connection(name), POLICY, Limits())

    async def read(self, name: str) -> Observation:
        async with self.client(name) as client:
            return await observe(client, now=self.now)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path)
    with made.server:
        yield made


class Watcher:
    """The product's memory of one cluster from round to round."""

    def __init__(self) -> None:
        self.memory: dict[ObjectRef, Memory] = {}

    def judge(self, seen: Observation, now: datetime) -> dict[str, Verdict]:
        assert seen.fault is None
        items = [item for found in seen.lists.values() for item in found.decoded() or ()]
        leases, deployments = seen.leases or (), seen.controllers or ()
        verdicts = judge(items, leases, self.memory, now, deployments=deployments)
        self.memory = dict(remember(items, verdicts, self.memory, now))
        return {str(ref): verdict for ref, verdict in verdicts.items()}


def possible(applier: Applier) -> set[Health]:
    """What the product may call it; one that waits for a release that fails may be said to wait already."""
    if applier.is_running:
        return {Health.PROGRESSING, Health.WAITING}
    if applier.waits:
        return {Health.PROGRESSING, Health.WAITING, Health.FAILING}
    return {Health.READY if applier.is_ready else Health.FAILING}


def compare(cluster: SimulatedCluster, verdicts: dict[str, Verdict]) -> None:
    assert {ref for ref in verdicts if ref.startswith("Kustomization/")} == set(cluster.appliers)
    for ref, applier in cluster.appliers.items():
        verdict = verdicts[ref]
        assert (verdict.control is Control.SUSPENDED) is (applier.suspended is not None)
        assert (verdict.revision or "").rpartition(":")[2] == applier.applied
        assert verdict.freshness == "Live"
        assert verdict.health in possible(applier), (ref, verdict, applier)
    for ref, release in cluster.releases.items():
        assert (verdicts[ref].deployed or "").partition("+")[0] == release.deployed
        if release.is_ready:
            assert verdicts[ref].is_green, verdicts[ref]
        elif release.is_upgrading or release.failure or release.is_untrusted:
            assert not verdicts[ref].is_green, (verdicts[ref], release)


async def test_every_moment_of_a_rollout_is_told_as_it_is(served: Served) -> None:
    fleet = served.fleet
    fleet.replace(NOON, VERSION.format("dev", "web"), "1.0.0", "1.1.0")
    fleet.replace(NOON + timedelta(seconds=20), VERSION.format("dev", "shop"), "0.3.0", "0.4.0")
    fleet.replace(NOON + timedelta(seconds=40), VERSION.format("dev", "web"), "1.1.0", "1.2.0-broken")
    for name, cluster in fleet.clusters.items():
        watcher, memory = Watcher(), None
        async with served.client(name) as client:
            for step in range(50):
                served.now = NOON + timedelta(milliseconds=1_250) * step
                seen = await observe(client, now=served.now, memory=memory)
                memory = seen.memory
                compare(cluster, watcher.judge(seen, served.now))


async def test_what_is_wrong_on_purpose_is_explained(served: Served) -> None:
    fleet = served.fleet
    fleet.replace(NOON, VERSION.format("dev", "web"), "1.0.0", "1.1.0-broken")
    served.now = NOON + timedelta(minutes=1)
    said = {name: Watcher().judge(await served.read(name), served.now) for name in fleet.clusters}
    assert said["dev"][APPS].explanation.id == "health-check-failed"
    assert "Deployment/web/web" in said["dev"][APPS].explanation.cause
    assert said["prod-a"]["HelmRepository/board/board"].explanation.id == "x509-unknown-authority"
    assert str(said["prod-a"]["HelmRelease/board/board"].root) == "HelmRepository/board/board"
    assert said["prod-b"][APPS].control is Control.SUSPENDED
    suspension = said["prod-b"][APPS].suspension
    assert suspension is not None
    assert suspension.manager == "flux"


def test_a_simulated_cluster_passes_the_check_at_registration(served: Served) -> None:
    lines = list(check(served.connection("dev"), POLICY, now=NOON))
    assert [line.text for line in lines if line.state != "ok"] == []
    assert {line.code for line in lines} >= {"rights-enough", "rights-excess", "flux", "identity", "reading"}
    assert next(line.value for line in lines if line.code == "flux") == "v2.9.5"


def test_another_token_is_refused(served: Served) -> None:
    lines = list(check(served.connection("dev", "somebody-elses"), POLICY, now=NOON))
    assert [line.code for line in lines if line.state == "failed"] == ["authenticated"]


async def test_a_silent_cluster_cannot_be_reached(served: Served) -> None:
    served.fleet.clusters["dev"].suffer(Silent(NOON))
    served.now = NOON + timedelta(seconds=1)
    seen = await served.read("dev")
    assert seen.connection == "Unreachable"
    assert (await served.read("prod-b")).connection == "Connected"


async def test_hours_in_which_nothing_happens_stay_green(served: Served) -> None:
    watcher = Watcher()
    for minutes in range(0, 180, 17):
        served.now = NOON + timedelta(minutes=minutes)
        verdicts = watcher.judge(await served.read("dev"), served.now)
        assert all(verdict.is_green for verdict in verdicts.values())
