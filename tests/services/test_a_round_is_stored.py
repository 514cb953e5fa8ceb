"""What a round finds is judged and written; what it cannot read stays as it was, with its age."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from clusters_app.flux.freshness import Freshness
from clusters_app.models import Cluster, ClusterStatus, FluxObject, KindCount, KindReading, StatusChange
from clusters_app.queries import freshness_of
from clusters_app.services.observing import claim_due_clusters, observe_clusters
from tests.testbed.fake_api import FakeCluster, faults

# The reader's thread and the test's share one database: a transaction of the test's would hide its rows.
pytestmark = pytest.mark.django_db(transaction=True)

type Register = Callable[[FakeCluster], Cluster]


def test_every_object_of_a_cluster_gets_a_row_with_a_verdict(register: Register) -> None:
    cluster = register(FakeCluster("c-1").fill(count=40))
    observe_clusters(cluster_ids=[cluster.pk])
    status = ClusterStatus.objects.get(cluster=cluster)
    assert status.connection == "Connected"
    assert FluxObject.objects.filter(cluster=cluster).count() == 40
    assert status.counts["total"] == 40
    assert sum(KindCount.objects.filter(cluster=cluster).values_list("count", flat=True)) == 40
    assert StatusChange.objects.filter(object__cluster=cluster).count() == 40
    assert freshness_of(status, timezone.now()) is Freshness.LIVE


def test_an_unchanged_round_writes_no_object(register: Register) -> None:
    cluster = register(FakeCluster("c-1").fill(count=20))
    observe_clusters(cluster_ids=[cluster.pk])
    before = list(FluxObject.objects.order_by("pk").values())
    observe_clusters(cluster_ids=[cluster.pk])
    assert list(FluxObject.objects.order_by("pk").values()) == before
    assert StatusChange.objects.count() == 20


def test_a_forbidden_kind_keeps_its_rows_and_their_age(register: Register) -> None:
    fake = FakeCluster("c-1").fill(count=40)
    cluster = register(fake)
    observe_clusters(cluster_ids=[cluster.pk])
    rows = FluxObject.objects.filter(kind="HelmRelease").count()
    read_at = KindReading.objects.get(kind="HelmRelease").read_at
    with fake.playing(faults.forbidden(), on="helmreleases"):
        observe_clusters(cluster_ids=[cluster.pk])
    reading = KindReading.objects.get(kind="HelmRelease")
    assert (reading.state, reading.read_at) == ("forbidden", read_at)
    assert FluxObject.objects.filter(kind="HelmRelease", gone_at=None).count() == rows > 0
    assert ClusterStatus.objects.get().connection == "Forbidden"


def test_a_cluster_that_refuses_us_keeps_everything_and_backs_off(register: Register) -> None:
    fake = FakeCluster("c-1").fill(count=10)
    cluster = register(fake)
    observe_clusters(cluster_ids=[cluster.pk])
    with fake.playing(faults.unauthorized()):
        for _round in range(3):
            observe_clusters(cluster_ids=[cluster.pk])
    status = ClusterStatus.objects.get()
    assert status.connection == "AuthExpired"
    assert status.failures == 3
    assert status.due_at is not None
    assert status.due_at > timezone.now() + timedelta(seconds=20)
    assert FluxObject.objects.filter(gone_at=None).count() == 10
    assert freshness_of(status, timezone.now()) is not Freshness.LIVE


def test_knowledge_grows_old_when_nobody_observes(register: Register) -> None:
    cluster = register(FakeCluster("c-1").fill(count=5))
    observe_clusters(cluster_ids=[cluster.pk])
    status = ClusterStatus.objects.get()
    now = timezone.now()
    ages = [freshness_of(status, now + timedelta(minutes=minutes)) for minutes in (0, 6, 31)]
    assert ages == [Freshness.LIVE, Freshness.STALE, Freshness.LOST]


def test_a_due_cluster_is_claimed_once(register: Register) -> None:
    cluster = register(FakeCluster("c-1").fill(count=1))
    assert list(claim_due_clusters()) == [[cluster.pk]]
    assert list(claim_due_clusters()) == []
