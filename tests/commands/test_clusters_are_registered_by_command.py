"""`flotilla cluster`: the check in this process, line by line, and what is known of clusters."""

import getpass
from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils import timezone

from clusters_app.api.cluster_shapes import ClusterShape
from clusters_app.kube.manifest import cluster_rules, flux_namespace_rules
from clusters_app.models import AuditRecord, Cluster, Credential, Environment, Repository
from clusters_app.queries import HOST, clusters_visible_to
from clusters_app.queries.fleet import cluster_row
from tests.testbed.fake_api import FakeApi, FakeCluster

from .conftest import Flotilla

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def readable(api: FakeApi) -> FakeCluster:
    """A cluster to which the read role was applied."""
    cluster = FakeCluster("dev-1").fill(count=5)
    cluster.rules += cluster_rules()
    cluster.rules += [rule | {"namespace": "flux-system"} for rule in flux_namespace_rules()]
    return api.add(cluster)


@pytest.fixture
def words(
    api: FakeApi, readable: FakeCluster, environment: Environment, repository: Repository, tmp_path: Path
) -> list[str]:
    """What registers that cluster; its token is for stdin."""
    connection = api.connection(readable)
    authority = tmp_path / "ca.crt"
    authority.write_text(connection.ca_pem or "")
    where = ["--environment", environment.name, "--repository", repository.name, "--sync-path", "clusters/dev-1"]
    return ["cluster", "add", "dev-1", *where, "--server", connection.server, "--ca", str(authority)]


def test_a_cluster_is_checked_line_by_line_and_registered(
    flotilla: Flotilla, words: list[str], readable: FakeCluster
) -> None:
    told = flotilla(*words, "--label", "region=eu", "-o", "json", stdin=f"{readable.token}\n")
    assert told.code == 0, told.err
    lines = told.err.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == ["ok"] * 11
    assert lines[-1] == "dev-1 is registered."
    assert (told.document["name"], told.document["labels"]) == ("dev-1", {"region": "eu"})
    assert readable.token not in told.out + told.err
    recorded = dict(AuditRecord.objects.values_list("verb", "actor"))
    assert recorded["cluster.register"] == f"command:{getpass.getuser()}"
    assert [each.owner_kind for each in Credential.objects.all()] == ["cluster"]


def test_a_refused_token_is_told_with_its_remedy_and_nothing_is_stored(flotilla: Flotilla, words: list[str]) -> None:
    told = flotilla(*words, stdin="a-token-of-nobody-0123456789")
    assert (told.code, told.out) == (1, "")
    assert told.err.splitlines()[-2].startswith("failed")
    assert told.err.splitlines()[-1].startswith(" " * 9)
    assert not Cluster.objects.exists()
    assert not Credential.objects.exists()


def test_what_needs_no_network_is_refused_at_once(flotilla: Flotilla, words: list[str]) -> None:
    assert "token" in flotilla(*words, stdin="").err
    no_repository = [word if word != "fleet" else "other" for word in words]
    assert flotilla(*no_repository, stdin="x").err == "There is no other.\n"
    no_file = [*words, "--token-file", "does/not/exist"]
    assert "does/not/exist cannot be read" in flotilla(*no_file).err


def test_a_token_in_the_arguments_is_wrong_usage(flotilla: Flotilla, words: list[str]) -> None:
    assert flotilla(*words, "--token", "secret").code == 2


def test_the_manifest_needs_no_database(flotilla: Flotilla) -> None:
    told = flotilla("cluster", "manifest")
    assert (told.code, told.err) == (0, "")
    assert told.out.count("kind: ClusterRole\n") == 1


def test_show_and_list_say_what_the_api_says(flotilla: Flotilla, register: Callable[[FakeCluster], Cluster]) -> None:
    register(FakeCluster("dev-2"))
    register(FakeCluster("dev-10"))
    shape = ClusterShape(cluster_row(clusters_visible_to(HOST).get(name="dev-2"), timezone.now())).data
    assert flotilla("cluster", "show", "dev-2", "-o", "json").document == shape
    assert [row["name"] for row in flotilla("cluster", "list", "-o", "json").document] == ["dev-10", "dev-2"]
    assert "clusters/dev-2" in flotilla("cluster", "list", "-q", "dev-2").out
    assert "unknown" in flotilla("cluster", "show", "dev-2").out
    assert flotilla("cluster", "list", "--label", "a=b").err == "No cluster.\n"


def test_a_cluster_is_removed_after_its_name_was_typed(
    flotilla: Flotilla, register: Callable[[FakeCluster], Cluster]
) -> None:
    register(FakeCluster("dev-2"))
    refused = flotilla("cluster", "remove", "dev-2", stdin="dev-1\n")
    assert (refused.code, Cluster.objects.count()) == (1, 1)
    assert flotilla("cluster", "remove", "dev-2", stdin="dev-2\n").code == 0
    assert not Cluster.objects.exists()
    assert not Credential.objects.exists()


def test_a_cluster_that_is_not_there_is_refused(flotilla: Flotilla, db: None) -> None:
    assert flotilla("cluster", "show", "nowhere").err == "There is no nowhere.\n"
    assert flotilla("cluster", "remove", "nowhere", "--yes").code == 1
    assert flotilla("cluster", "list", "--environment", "nowhere").code == 1
