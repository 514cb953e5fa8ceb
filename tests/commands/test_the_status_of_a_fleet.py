"""`flotilla status`: what the fleet page says, and what `flux get all -A` would say of one cluster."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from clusters_app.api.cluster_shapes import ClusterShape
from clusters_app.models import Cluster, ClusterStatus, Environment, Repository
from clusters_app.queries import HOST, clusters_visible_to
from clusters_app.queries.fleet import cluster_row
from clusters_app.services.observing import observe_clusters
from tests.testbed.fake_api import FakeCluster
from tests.testbed.fake_api.objects import flux_object, lease

from .conftest import Flotilla

pytestmark = pytest.mark.django_db(transaction=True)

FAILING = "kustomize build failed"


def break_(fake: FakeCluster) -> None:
    document = flux_object("Kustomization", "flux-system", "apps", revision="main@sha1:" + "a" * 40)
    for condition in document["status"]["conditions"]:
        if condition["type"] == "Ready":
            condition |= {"status": "False", "reason": "BuildFailed", "message": FAILING}
    fake.put("Kustomization", document)


def healthy(name: str) -> FakeCluster:
    fake = FakeCluster(name)
    fake.namespaced["leases"].append(lease("source-controller-leader-election", renewed_at=timezone.now()))
    for kind, called in (("GitRepository", "flux-system"), ("Kustomization", "flux-system"), ("Kustomization", "apps")):
        fake.put(kind, flux_object(kind, "flux-system", called, revision="main@sha1:" + "a" * 40))
    return fake


@pytest.fixture
def fakes(register_at: Callable[..., Cluster], repository: Repository) -> dict[str, FakeCluster]:
    """Two clusters in dev, one in prod, all read once and well."""
    found = {name: healthy(name) for name in ("dev-1", "dev-2", "prod-1")}
    for position, name in enumerate(("dev", "prod"), start=1):
        environment = Environment.objects.create(name=name, position=position)
        for fake in found.values():
            if fake.name.startswith(name):
                register_at(fake, environment, repository, f"clusters/{fake.name}")
    read()
    return found


def read() -> None:
    """A round of the observer."""
    observe_clusters(cluster_ids=list(Cluster.objects.values_list("pk", flat=True)))


def cells(out: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines()]


def test_a_healthy_fleet_is_a_table_by_environment(flotilla: Flotilla, fakes: dict[str, FakeCluster]) -> None:
    told = flotilla("status")
    assert (told.code, told.err) == (0, "")
    rows = cells(told.out)
    assert rows[0][:4] == ["ENVIRONMENT", "CLUSTER", "STANDING", "READY"]
    assert [row[:4] for row in rows[1:4]] == [
        ["dev", "dev-1", "ready", "3/3"],
        ["dev", "dev-2", "ready", "3/3"],
        ["prod", "prod-1", "ready", "3/3"],
    ]
    assert told.out.splitlines()[-1] == "3 ready"
    assert "\033" not in told.out


def test_a_failure_is_in_the_exit_code_and_in_the_row(flotilla: Flotilla, fakes: dict[str, FakeCluster]) -> None:
    break_(fakes["prod-1"])
    read()
    told = flotilla("status")
    assert told.code == 1
    assert told.out.splitlines()[-1] == "2 ready · 1 failing"
    assert "Kustomization/flux-system/apps" in told.out.splitlines()[3]
    assert flotilla("status", "--environment", "dev").code == 0
    assert [row[1] for row in cells(flotilla("status", "--standing", "failing").out)[1:2]] == ["prod-1"]


def test_what_is_not_seen_lately_is_no_success(flotilla: Flotilla, fakes: dict[str, FakeCluster]) -> None:
    long_ago = timezone.now() - timedelta(hours=3)
    ClusterStatus.objects.filter(cluster__name="dev-1").update(observed_at=long_ago)
    told = flotilla("status", "--freshness", "unseen")
    assert (told.code, cells(told.out)[1][1:4]) == (1, ["dev-1", "lost", "0/3"])
    told = flotilla("status", "--cluster", "dev-1")
    assert told.code == 1
    assert "was last read 3h ago" in told.err
    assert "True" not in told.out


def test_a_fleet_that_nobody_observes_is_no_success(flotilla: Flotilla, fakes: dict[str, FakeCluster]) -> None:
    ClusterStatus.objects.update(attempted_at=timezone.now() - timedelta(minutes=2))
    told = flotilla("status")
    assert told.code == 1
    assert "No worker observes" in told.err


def test_the_document_has_the_fields_of_the_api(flotilla: Flotilla, fakes: dict[str, FakeCluster]) -> None:
    document = flotilla("status", "-o", "json").document
    assert (document["clusters"], document["counts"]["ready"], document["causes"]) == (3, 9, 0)
    assert [group["name"] for group in document["environments"]] == ["dev", "prod"]
    shown = document["environments"][0]["clusters"][0]
    assert shown == ClusterShape(cluster_row(clusters_visible_to(HOST).get(name="dev-1"), timezone.now())).data


def test_one_cluster_is_printed_kind_by_kind_as_flux_does(flotilla: Flotilla, fakes: dict[str, FakeCluster]) -> None:
    break_(fakes["dev-1"])
    read()
    told = flotilla("status", "--cluster", "dev-1")
    assert told.code == 1
    sources, kustomizations = told.out.split("\n\n")
    head = ["NAMESPACE", "NAME", "REVISION", "SUSPENDED", "READY", "MESSAGE"]
    assert cells(sources)[0] == cells(kustomizations)[0] == head
    assert cells(sources)[1][:5] == ["flux-system", "gitrepository/flux-system", "main@sha1:aaaaaaaa", "False", "True"]
    by_name = {row[1]: row for row in cells(kustomizations)[1:]}
    assert by_name["kustomization/apps"][3:] == ["False", "False", *FAILING.split()]
    assert by_name["kustomization/flux-system"][4] == "True"


def test_one_cluster_as_a_document(flotilla: Flotilla, fakes: dict[str, FakeCluster]) -> None:
    document = flotilla("status", "--cluster", "dev-1", "-o", "json").document
    assert (document["name"], document["status"]["standing"]) == ("dev-1", "ready")
    assert [(each["kind"], each["name"], each["ready"]) for each in document["objects"]] == [
        ("GitRepository", "flux-system", "True"),
        ("Kustomization", "apps", "True"),
        ("Kustomization", "flux-system", "True"),
    ]


def test_an_empty_installation_says_the_next_step(flotilla: Flotilla) -> None:
    told = flotilla("status")
    assert (told.code, told.out) == (0, "")
    assert "cluster add" in told.err


def test_names_that_are_not_there_are_refused(flotilla: Flotilla) -> None:
    assert flotilla("status", "--cluster", "nowhere").err == "There is no nowhere.\n"
    assert flotilla("status", "--environment", "nowhere").code == 1


@pytest.mark.parametrize("words", [("--standing", "blue"), ("--label", "region"), ("everything",)])
def test_wrong_usage_is_told_apart(flotilla: Flotilla, words: tuple[str, ...]) -> None:
    assert flotilla("status", *words).code == 2


def test_a_database_that_is_not_set_up_is_told_in_words(flotilla: Flotilla, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db import OperationalError

    def broken(*_arguments: object, **_options: object) -> None:
        raise OperationalError("no such table: clusters_app_cluster")

    monkeypatch.setattr("clusters_app.queries.fleet.fleet_board", broken)
    told = flotilla("status")
    assert told.code == 1
    assert "flotilla migrate" in told.err
    assert "Traceback" not in told.err
