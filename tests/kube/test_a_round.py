"""What a round learns from a healthy cluster, what it skips when nothing changed, how versions are negotiated."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from clusters_app.flux.resources import Unreadable
from clusters_app.kube.client import Client, Clients
from clusters_app.kube.observe import Observation, RoundMemory, observe
from tests.testbed.fake_api import FakeApi, FakeCluster, faults
from tests.testbed.fake_api.objects import controller, flux_object, lease

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


async def again(client: Client, before: Observation, **options: object) -> Observation:
    return await observe(client, now=datetime.now(UTC), memory=before.memory, **options)  # type: ignore[arg-type]


@pytest.fixture
async def first(client: Client) -> Observation:
    return await observe(client, now=datetime.now(UTC))


async def test_it_reads_every_object(first: Observation, cluster: FakeCluster) -> None:
    assert first.fault is None
    assert first.connection == "Connected"
    assert first.kubernetes_version == "v1.36.3"
    assert first.cluster_uid == cluster.uid
    assert first.flux_version == "v2.9.5"
    assert sum(len(found.items or ()) for found in first.lists.values()) == cluster.count() == 40
    assert {found.state for found in first.lists.values()} == {"ok", "missing"}
    assert first.lists["Canary"].state == "missing"
    assert str(first.lists["Canary"].error).startswith("Canary is not installed on ")


async def test_it_reads_the_heartbeats(client: Client, cluster: FakeCluster) -> None:
    renewed = datetime(2026, 11, 30, 11, 59, 30, tzinfo=UTC)
    cluster.namespaced["leases"] = [lease("helm-controller-leader-election", renewed_at=renewed)]
    cluster.namespaced["deployments"] = [controller("helm-controller", "v2.4.0")]
    seen = await observe(client, now=NOW)
    assert [found.metadata.name for found in seen.leases or ()] == ["helm-controller-leader-election"]
    assert [found.metadata.name for found in seen.controllers or ()] == ["helm-controller"]
    assert seen.flux_version == "v2.4.0"


async def test_heartbeats_that_may_not_be_read_are_unknown_and_not_absent(client: Client, cluster: FakeCluster) -> None:
    with cluster.playing(faults.forbidden(), on="leases"):
        seen = await observe(client, now=NOW)
    assert seen.leases is None
    assert seen.heartbeat_error is not None
    assert seen.connection == "Forbidden"
    assert seen.fault is None


async def test_an_unchanged_list_is_not_decoded(client: Client, first: Observation, cluster: FakeCluster) -> None:
    """A write elsewhere moves the resource version of every list, and changes none of them."""
    cluster.touch()
    second = await again(client, first)
    states = {found.state for found in second.lists.values()}
    assert states == {"unchanged", "missing"}
    assert second.lists["Kustomization"].items is None
    assert second.lists["Kustomization"].decoded() == first.lists["Kustomization"].items
    assert second.lists["Canary"].decoded() is None


@pytest.mark.parametrize("change", ["put", "delete"])
async def test_a_changed_list_is_read_again_and_alone(
    client: Client, first: Observation, cluster: FakeCluster, change: str
) -> None:
    item = (first.lists["Kustomization"].items or ())[-1]
    if change == "put":
        document = cluster.get("Kustomization", item.ref.namespace, item.ref.name)
        document["status"]["lastAppliedRevision"] = "main@sha1:" + "f" * 40
        cluster.put("Kustomization", document)
    else:
        cluster.delete("Kustomization", item.ref.namespace, item.ref.name)
    second = await again(client, first)
    assert [kind for kind, found in second.lists.items() if found.state == "ok"] == ["Kustomization"]
    assert second.lists["Kustomization"].items != first.lists["Kustomization"].items


async def test_a_list_that_failed_in_between_can_still_be_unchanged(
    client: Client, first: Observation, cluster: FakeCluster
) -> None:
    with cluster.playing(faults.forbidden(), on="kustomizations"):
        second = await again(client, first)
    assert second.lists["Kustomization"].state == "forbidden"
    third = await again(client, second)
    assert third.lists["Kustomization"].state == "unchanged"


async def test_a_list_in_another_order_is_decoded_every_time(client: Client, cluster: FakeCluster) -> None:
    """A proxy that writes the JSON anew costs the short cut and nothing else."""
    items = b",".join([cluster.list_body("Kustomization", "v1").partition(b'"items":[')[2].rpartition(b'],"kind"')[0]])
    anew = (
        b'{"kind":"KustomizationList","apiVersion":"kustomize.toolkit.fluxcd.io/v1","metadata":{},"items":['
        + items
        + b"]}"
    )
    with cluster.playing(faults.body(anew), on="kustomizations"):
        first = await observe(client, now=NOW)
        second = await observe(client, now=NOW, memory=first.memory)
    assert first.lists["Kustomization"].state == second.lists["Kustomization"].state == "ok"
    assert second.lists["Kustomization"].items


async def test_words_inside_an_object_cannot_pass_for_the_end_of_the_list(client: Client, cluster: FakeCluster) -> None:
    trap = flux_object("Kustomization", "shop", "zz-trap")
    trap["metadata"]["annotations"] = {"note": '],"kind":"KustomizationList","metadata":{}}'}
    trap["zz"] = [{"y": [], "kind": "KustomizationList", "metadata": {}}]
    cluster.put("Kustomization", trap)
    first = await observe(client, now=NOW)
    trap["spec"]["path"] = "./elsewhere"
    cluster.put("Kustomization", trap)
    second = await observe(client, now=NOW, memory=first.memory)
    assert second.lists["Kustomization"].state == "ok"
    paths = {getattr(item, "spec").path for item in second.lists["Kustomization"].items or ()}  # noqa: B009
    assert "./elsewhere" in paths


async def test_connections_are_kept_over_rounds(client: Client, first: Observation, api: FakeApi) -> None:
    opened = set(api.peers)
    await again(client, await again(client, first))
    assert api.peers == opened
    assert len(opened) <= client.limits.connections


async def test_discovery_is_asked_every_ten_minutes(client: Client, cluster: FakeCluster) -> None:
    first = await observe(client, now=NOW)
    asked = cluster.requests.count("/apis/helm.toolkit.fluxcd.io")
    second = await observe(client, now=NOW + timedelta(minutes=9), memory=first.memory)
    assert cluster.requests.count("/apis/helm.toolkit.fluxcd.io") == asked == 1
    await observe(client, now=NOW + timedelta(minutes=11), memory=second.memory)
    assert cluster.requests.count("/apis/helm.toolkit.fluxcd.io") == 2


async def test_an_old_flux_is_read_in_the_versions_that_it_has(client: Client, cluster: FakeCluster) -> None:
    """Flux 2.0 serves GitRepository in v1 and OCIRepository in v1beta2 alone, though both are of one group."""
    cluster.serve("OCIRepository", "v1beta2")
    cluster.serve("HelmRelease", "v2beta1")
    first = await observe(client, now=NOW)
    assert first.lists["GitRepository"].served_version == "v1"
    assert first.lists["OCIRepository"].served_version == "v1beta2"
    assert first.lists["OCIRepository"].items
    assert first.lists["HelmRelease"].served_version == "v2beta1"
    cluster.requests.clear()
    second = await observe(client, now=NOW, memory=first.memory)
    assert second.lists["OCIRepository"].state == "unchanged"
    tried = [path for path in cluster.requests if path.endswith("ocirepositories")]
    assert tried == ["/apis/source.toolkit.fluxcd.io/v1beta2/ocirepositories"], "what answered last time is asked first"


async def test_an_upgrade_between_two_rounds_does_not_lose_a_kind(client: Client, cluster: FakeCluster) -> None:
    cluster.serve("HelmRelease", "v2beta2")
    first = await observe(client, now=NOW)
    cluster.serve("HelmRelease", "v2")
    second = await observe(client, now=NOW + timedelta(minutes=1), memory=first.memory)
    assert second.lists["HelmRelease"].state == "ok"
    assert second.lists["HelmRelease"].served_version == "v2"


async def test_a_kind_that_was_removed_is_missing(client: Client, first: Observation, cluster: FakeCluster) -> None:
    cluster.serve("Receiver")
    second = await again(client, first)
    assert second.lists["Receiver"].state == "missing"
    assert second.lists["Receiver"].items is None
    assert second.connection == "Connected"


async def test_versions_that_nobody_here_knows_are_said(client: Client, cluster: FakeCluster) -> None:
    cluster.serve("HelmRelease", "v9")
    seen = await observe(client, now=NOW)
    assert seen.lists["HelmRelease"].state == "failed"
    place = client.connection.place
    assert (
        str(seen.lists["HelmRelease"].error)
        == f"{place} serves HelmRelease only in versions that are not known here: v9."
    )


async def test_a_group_that_fails_is_asked_again_in_the_next_round(client: Client, cluster: FakeCluster) -> None:
    with cluster.playing(faults.refusal(503, "ServiceUnavailable"), on="/apis/image.toolkit.fluxcd.io"):
        first = await observe(client, now=NOW)
    assert first.lists["ImagePolicy"].state == "failed"
    assert first.lists["Kustomization"].state == "ok"
    second = await observe(client, now=NOW + timedelta(seconds=30), memory=first.memory)
    assert second.lists["ImagePolicy"].state == "ok"


async def test_foreign_groups_are_never_asked(client: Client, cluster: FakeCluster) -> None:
    """C052: a broken aggregated API breaks the list of all groups, and nobody here needs that list."""
    with cluster.playing(faults.refusal(503, "ServiceUnavailable"), on="metrics.k8s.io"):
        seen = await observe(client, now=NOW)
    assert seen.connection == "Connected"
    assert not [path for path in cluster.requests if path in {"/api", "/apis"} or "metrics" in path]


async def test_one_odd_object_does_not_cost_the_others(client: Client, cluster: FakeCluster) -> None:
    """C055: counts add up to the whole; what cannot be read is named with its field."""
    odd: list[Callable[[dict[str, object]], object]] = [
        lambda document: document.pop("status"),
        lambda document: document.update(status=None),
        lambda document: document.update(status={"conditions": None}),
        lambda document: document.update(status={"conditions": {}}),
        lambda document: document.update(status={"conditions": [{"status": "True"}]}),
        lambda document: document.update(status={"observedGeneration": "3"}),
    ]
    before = len((await observe(client, now=NOW)).lists["Kustomization"].items or ())
    for number, change in enumerate(odd):
        document = flux_object("Kustomization", "odd", f"odd-{number}")
        change(document)
        cluster.put("Kustomization", document)
    seen = await observe(client, now=NOW)
    items = seen.lists["Kustomization"].items or ()
    assert len(items) == before + len(odd)
    unreadable = {item.ref.name: item.field for item in items if isinstance(item, Unreadable)}
    assert unreadable["odd-3"] == "status.conditions"
    assert unreadable["odd-5"] == "status.observedGeneration"


@pytest.mark.parametrize("hours", [2, -2, 0])
async def test_the_clocks_difference_is_a_fact_and_no_fault(client: Client, cluster: FakeCluster, hours: int) -> None:
    """C067: our clock at receipt counts; the cluster's own is told beside it."""
    cluster.clock_offset = timedelta(hours=hours)
    now = datetime.now(UTC)
    seen = await observe(client, now=now)
    assert seen.skew_seconds == pytest.approx(hours * 3600, abs=1.5)
    assert seen.connection == "Connected"
    assert now <= seen.received_at <= now + timedelta(seconds=5)


async def test_memory_of_another_cluster_is_not_used(client: Client, first: Observation, cluster: FakeCluster) -> None:
    cluster.uid = "rebuilt-on-purpose"
    second = await again(client, first, expected_uid="rebuilt-on-purpose")
    assert second.lists["Kustomization"].state == "ok"


async def test_a_fault_keeps_the_memory(client: Client, first: Observation, cluster: FakeCluster) -> None:
    with cluster.playing(faults.unauthorized()):
        second = await again(client, first)
    assert isinstance(second.memory, RoundMemory)
    third = await again(client, second)
    assert third.lists["Kustomization"].state == "unchanged"


async def test_a_round_has_a_bound_for_all_its_bytes(clients: Clients, api: FakeApi, client: Client) -> None:
    big = api.add(FakeCluster("big"))
    for kind in ("Kustomization", "HelmRelease", "HelmChart", "GitRepository", "OCIRepository", "Bucket", "Alert"):
        document = flux_object(kind, "shop", "big")
        document["metadata"]["annotations"] = {"blob": "x" * (3 * 2**20)}
        big.put(kind, document)
    seen = await observe(await clients.client("big", api.connection(big)), now=NOW)
    too_large = [found for found in seen.lists.values() if found.state == "failed"]
    assert too_large
    assert "16 MiB together with the other kinds" in str(too_large[0].error)
    assert seen.bytes < client.limits.round_bytes + 2 * client.limits.answer_bytes
