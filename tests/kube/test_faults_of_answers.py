"""Faults on the level of HTTP and JSON: one bad list marks its kind alone, a refusing cluster is left in peace."""

import tracemalloc
from datetime import timedelta

import pytest

from clusters_app.kube.connection import Connection
from clusters_app.kube.errors import KubeError, KubePermanent, KubeTransient
from clusters_app.kube.lists import KindList
from clusters_app.kube.observe import Observation
from tests.kube.conftest import Read
from tests.testbed.fake_api import FakeApi, FakeCluster, faults
from tests.testbed.fake_api.cluster import FaultAnswer
from tests.testbed.fake_api.objects import flux_object

HELM = "helmreleases"


def only_bad(seen: Observation, kind: str = "HelmRelease") -> KindList:
    """The one kind that was not read, having checked that all others were."""
    bad = [found for found in seen.lists.values() if found.state not in {"ok", "missing"}]
    assert [found.kind for found in bad] == [kind]
    assert bad[0].items is None
    assert seen.fault is None
    assert seen.leases
    assert seen.lists["Kustomization"].items
    return bad[0]


async def test_forbidden_on_one_kind(read: Read, cluster: FakeCluster, connection: Connection) -> None:
    with cluster.playing(faults.forbidden(), on=HELM):
        seen = await read(connection)
    bad = only_bad(seen)
    assert bad.state == "forbidden"
    assert str(bad.error) == f"{connection.place} forbids reading HelmRelease (403)."
    assert isinstance(bad.error, KubePermanent)
    assert seen.connection == "Forbidden"


ONE_LIST = [
    (faults.server_errors(1), "{host} fails with status 500 while reading HelmRelease.", KubeTransient),
    (
        faults.refusal(503, "ServiceUnavailable"),
        "{host} fails with status 503 while reading HelmRelease.",
        KubeTransient,
    ),
    (faults.web_page(), "{host} answers HelmRelease with a web page instead of JSON (status 200).", KubeTransient),
    (faults.web_page(403), "{host} answers HelmRelease with a web page instead of JSON (status 403).", KubeTransient),
    (faults.status_with_200(), "{host} fails with status 500 while reading HelmRelease.", KubeTransient),
    (
        faults.body(b'{"apiVersion":"helm.to'),
        "{host} answers HelmRelease with broken JSON: it ends too early.",
        KubeTransient,
    ),
    (faults.body(b""), "{host} answers HelmRelease with broken JSON: it ends too early.", KubeTransient),
    (
        faults.body(b'{"apiVersion":"v1","items":[],"kind":"PodList","metadata":{}}\n'),
        "{host} answers HelmRelease with something else: a PodList.",
        KubePermanent,
    ),
    (
        faults.body(b'{"hello":"world"}'),
        "{host} answers HelmRelease with something else: no Kubernetes object.",
        KubePermanent,
    ),
    (faults.redirect("https://evil.lab/"), "{host} redirects HelmRelease elsewhere (status 302)", KubePermanent),
    (faults.hang_up(), "{host} closed the connection in the middle of an answer.", KubeTransient),
    (faults.gzip_bomb(64), "The answer of {host} about HelmRelease is larger than 4 MiB.", KubePermanent),
    (faults.announced(10 * 2**30), "The answer of {host} about HelmRelease is larger than 4 MiB.", KubePermanent),
    (faults.endless(b" " * 65_536, 0), "The answer of {host} about HelmRelease is larger than 4 MiB.", KubePermanent),
    (faults.endless(b" ", 0.05), "{host} did not finish its answer within 1.5 s.", KubeTransient),
]


@pytest.mark.parametrize(("fault", "text", "branch"), ONE_LIST)
async def test_one_bad_list_marks_its_kind_alone(
    read: Read, cluster: FakeCluster, connection: Connection, fault: FaultAnswer, text: str, branch: type
) -> None:
    with cluster.playing(fault, on=HELM):
        seen = await read(connection)
    bad = only_bad(seen)
    assert bad.state == "failed"
    assert str(bad.error).startswith(text.format(host=connection.place))
    assert isinstance(bad.error, branch)
    assert isinstance(bad.error, KubeError)
    assert bad.error.remedy
    assert seen.connection == "Degraded"


async def test_a_huge_object_costs_its_kind_and_little_memory(
    read: Read, cluster: FakeCluster, connection: Connection
) -> None:
    huge = flux_object("HelmRelease", "shop", "cart")
    huge["spec"]["values"] = {"blob": "x" * 40 * 2**20}
    cluster.put("HelmRelease", huge)
    cluster.list_body("HelmRelease", "v2")
    tracemalloc.start()
    try:
        seen = await read(connection)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert only_bad(seen).error is not None
    # The fake serves from this process: its own copy of the body is among the peak.
    assert peak < 140 * 2**20


async def test_the_credential_is_refused(read: Read, cluster: FakeCluster, connection: Connection) -> None:
    """401 on everything, while /version answers without credentials: expired, not unreachable; one request, no more."""
    with cluster.playing(faults.unauthorized(), on="api"):
        seen = await read(connection)
    assert seen.connection == "AuthExpired"
    assert str(seen.fault) == f"{connection.place} does not accept the credential (401)."
    assert isinstance(seen.fault, KubePermanent)
    assert "kubectl create token" in seen.fault.remedy
    assert len(cluster.requests) == 1


async def test_the_credential_ends_in_the_middle_of_a_round(
    read: Read, cluster: FakeCluster, connection: Connection
) -> None:
    with cluster.playing(faults.unauthorized(), on=HELM):
        seen = await read(connection)
    assert seen.connection == "AuthExpired"
    assert seen.lists["HelmRelease"].state == "failed"
    assert seen.lists["GitRepository"].state == "ok", "what came through before is kept"


async def test_a_wrong_token(read: Read, api: FakeApi, cluster: FakeCluster) -> None:
    seen = await read(api.connection(cluster, token="not-the-right-token"))
    assert seen.connection == "AuthExpired"


async def test_asked_to_slow_down_it_stops_asking(read: Read, cluster: FakeCluster, connection: Connection) -> None:
    with cluster.playing(faults.rate_limited("7"), on="toolkit.fluxcd.io/v"):
        seen = await read(connection)
    assert str(seen.fault) == f"{connection.place} asks to slow down (429) for 7 s."
    assert seen.retry_after_seconds == 7
    assert seen.connection == "Degraded"
    lists = [path for path in cluster.requests if "toolkit.fluxcd.io/v" in path]
    assert len(lists) <= 2, "as many as were under way, no storm"


async def test_retry_after_may_be_a_date_of_the_servers_clock(
    read: Read, cluster: FakeCluster, connection: Connection
) -> None:
    cluster.clock_offset = timedelta(hours=-2)
    later = cluster.moment(timedelta(seconds=30))
    with cluster.playing(faults.rate_limited(later), on=HELM):
        seen = await read(connection)
    assert seen.retry_after_seconds == pytest.approx(30, abs=1.1)


async def test_a_list_that_expires_is_started_again_once(read: Read, api: FakeApi) -> None:
    cluster = api.add(FakeCluster("many"))
    for index in range(1100):
        cluster.put("Kustomization", flux_object("Kustomization", "shop", f"app-{index:04d}"))
    with cluster.playing(faults.expired_pages(1), on="kustomizations"):
        seen = await read(api.connection(cluster))
    items = seen.lists["Kustomization"].items
    assert items is not None
    assert len({item.ref for item in items}) == len(items) == 1100
    pages = [path for path in cluster.requests if path.endswith("kustomizations")]
    assert len(pages) == 2 + 3, "one page and a refusal, then three pages"

    with cluster.playing(faults.expired_pages(2), on="kustomizations"):
        seen = await read(api.connection(cluster))
    assert seen.lists["Kustomization"].state == "failed"
    place = api.connection(cluster).place
    text = f"The list of Kustomization on {place} expired twice while it was read (410)."
    assert str(seen.lists["Kustomization"].error) == text


async def test_the_round_has_one_deadline(read: Read, cluster: FakeCluster, connection: Connection) -> None:
    """Every kind drips: what is not there at the deadline has failed, and the round ends in time."""
    with cluster.playing(faults.endless(b" ", 0.05), on="toolkit.fluxcd.io/v"):
        seen = await read(connection, deadline_seconds=0.8)
    assert (seen.received_at - seen.started_at).total_seconds() < 1.2
    late = {str(found.error) for found in seen.lists.values() if found.state == "failed"}
    assert late == {f"{connection.place} is too slow: the round was ended before everything was read."}


async def test_a_cluster_that_drips_its_first_answer(read: Read, cluster: FakeCluster, connection: Connection) -> None:
    with cluster.playing(faults.endless(b" ", 0.05)):
        seen = await read(connection)
    assert str(seen.fault) == f"{connection.place} did not finish its answer within 1.5 s."
    assert seen.connection == "Unreachable"
    assert len(cluster.requests) == 1


async def test_a_proxy_answers_for_the_whole_cluster(read: Read, cluster: FakeCluster, connection: Connection) -> None:
    with cluster.playing(faults.web_page()):
        seen = await read(connection)
    assert seen.connection == "Degraded"
    assert seen.fault is not None
    assert "web page" in str(seen.fault)


async def test_a_path_behind_which_there_is_no_cluster(read: Read, api: FakeApi, connection: Connection) -> None:
    seen = await read(api.connection(FakeCluster("gone")))
    assert str(seen.fault) == f"{connection.place} answers, but not as a Kubernetes API: it has no kube-system."
    assert isinstance(seen.fault, KubePermanent)


async def test_another_cluster_answers(read: Read, cluster: FakeCluster, connection: Connection) -> None:
    before = cluster.uid
    cluster.uid = "0000-another"
    seen = await read(connection, expected_uid=before)
    assert seen.connection == "Replaced"
    assert str(seen.fault) == (
        f"Another cluster answers at {connection.place}: "
        f"the UID of its kube-system is 0000-another, registered was {before}."
    )
    assert all(found.items is None for found in seen.lists.values())
    assert len(cluster.requests) == 1, "nothing else is asked of a stranger"


async def test_a_broken_cluster_does_not_touch_its_neighbours(read: Read, api: FakeApi, cluster: FakeCluster) -> None:
    """The same address, the same proxy, another path: only one of them is ill."""
    other = api.add(FakeCluster("c-2").fill(count=10))
    with cluster.playing(faults.hang_up()):
        ill, well = await read(api.connection(cluster)), await read(api.connection(other))
    assert ill.fault is not None
    assert well.fault is None
    assert well.connection == "Connected"
