"""Lists come in pages that neither repeat nor lose an item; states have ETags; writes can name the state they mean."""

from typing import Any

import pytest
from django.test import Client

from clusters_app.models import Cluster, ClusterStatus, FluxObject
from clusters_app.queries.order import natural
from tests.access.world import World, problem_of

API = "/api/v1"
JSON = "application/json"


@pytest.fixture
def script(world: World) -> Client:
    return world.script(world.person("admin", "admin"))


def pages(script: Client, address: str, size: int, between: Any = None) -> list[list[dict[str, Any]]]:
    """Every page, with something happening between two of them."""
    found, cursor = [], ""
    while cursor is not None:
        mark = "&" if "?" in address else "?"
        body = script.get(f"{API}{address}{mark}limit={size}&cursor={cursor}").json()
        found.append(body["items"])
        cursor = body["next"]
        if between:
            between()
    return found


def clusters_named(world: World, *names: str) -> None:
    for name in names:
        row = Cluster.objects.create(
            name=name, environment=world.environments["a-prod"], repository=world.empty, sync_path=f"c/{name}"
        )
        ClusterStatus.objects.create(cluster=row)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_clusters_come_in_natural_order_over_pages(world: World, script: Client, size: int) -> None:
    clusters_named(world, "prod-10", "prod-2", "prod-1", "prod-02")
    found = [item["name"] for page in pages(script, "/clusters?q=prod-", size) for item in page]
    assert found == ["prod-1", "prod-02", "prod-2", "prod-10"]


def test_what_is_added_between_two_pages_moves_nothing(world: World, script: Client) -> None:
    added = iter(range(100))

    def add() -> None:
        number = next(added)
        FluxObject.objects.create(
            cluster=world.clusters["a-dev"],
            kind="HelmRelease",
            name=f"new-{number}",
            health="Ready",
            control="Active",
            heartbeat="Live",
            changed_at=world.objects["a-dev"].changed_at,
            digest="0",
        )

    there = set(FluxObject.objects.values_list("pk", flat=True))
    found = [item["id"] for page in pages(script, "/objects", 1, add) for item in page]
    assert set(found) == there
    assert len(found) == len(there)


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        (["prod-10", "prod-2"], ["prod-2", "prod-10"]),
        (["a10b2", "a10b10", "a9"], ["a9", "a10b2", "a10b10"]),
        (["a01", "a1", "a"], ["a", "a01", "a1"]),
        (["²", "2", "10"], ["2", "10", "²"]),
    ],
)
def test_numbers_in_names_count_as_numbers(texts: list[str], order: list[str]) -> None:
    assert sorted(texts, key=natural) == order
    texts.reverse()
    assert sorted(texts, key=natural) == order


def test_fields_leave_the_rest_out(script: Client) -> None:
    items = script.get(f"{API}/clusters?fields=name,environment").json()["items"]
    assert {tuple(item) for item in items} == {("name", "environment")}


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("environment=a-prod", ["a-prod"]),
        ("q=alone", ["a-alone", "b-alone"]),
        ("standing=ready", []),
        ("freshness=unseen", []),
        ("behind=1", []),
        ("label=tier=gold", ["a-dev"]),
        ("label=tier=gold&label=zone=1", []),
    ],
)
def test_filters_are_those_of_the_page(world: World, script: Client, query: str, names: list[str]) -> None:
    Cluster.objects.filter(name="a-dev").update(labels={"tier": "gold"})
    items = script.get(f"{API}/clusters?{query}").json()["items"]
    assert [item["name"] for item in items] == names
    fleet = script.get(f"{API}/fleet?{query}").json()
    assert sorted(each["name"] for group in fleet["environments"] for each in group["clusters"]) == sorted(names)


def test_a_reader_is_not_sent_what_it_has(world: World, script: Client) -> None:
    first = script.get(f"{API}/environments")
    again = script.get(f"{API}/environments", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert script.get(f"{API}/environments", headers={"If-None-Match": f'W/{first["ETag"]}, "x"'}).status_code == 304
    assert script.get(f"{API}/environments", headers={"If-None-Match": '"x"'}).status_code == 200
    script.post(f"{API}/environments", {"name": "later"}, content_type=JSON)
    assert script.get(f"{API}/environments", headers={"If-None-Match": first["ETag"]}).status_code == 200
    assert first["Cache-Control"] == "private, no-cache"


def test_a_write_is_refused_when_the_state_is_another(world: World, script: Client) -> None:
    address = f"{API}/promotions/{world.promotions['a-prod'].pk}"
    seen = script.get(address)["ETag"]
    refused = script.post(f"{address}/abort", {}, content_type=JSON, headers={"If-Match": '"other"'})
    assert (refused.status_code, problem_of(refused)["code"]) == (412, "changed")
    assert script.get(address).json()["state"] == "Open"
    done = script.post(f"{address}/abort", {}, content_type=JSON, headers={"If-Match": seen})
    assert (done.status_code, done.json()["state"]) == (202, "Aborted")


def test_the_order_is_not_changed_over_somebody_else_s(world: World, script: Client) -> None:
    seen = script.get(f"{API}/environments")["ETag"]
    order = {"names": ["b-prod", "a-prod", "a-dev"]}
    changed = script.post(f"{API}/environments/order", order, content_type=JSON, headers={"If-Match": seen})
    assert [item["name"] for item in changed.json()["items"]] == order["names"]
    late = script.post(f"{API}/environments/order", order, content_type=JSON, headers={"If-Match": seen})
    assert late.status_code == 412


@pytest.mark.parametrize("thing", ["environments/later", "repositories/empty", "clusters/a-dev"])
def test_a_removal_names_the_state_that_it_means(world: World, script: Client, thing: str) -> None:
    script.post(f"{API}/environments", {"name": "later"}, content_type=JSON)
    script.delete(f"{API}/clusters/a-alone")
    assert script.delete(f"{API}/{thing}", headers={"If-Match": '"other"'}).status_code == 412
    seen = script.get(f"{API}/{thing}")["ETag"]
    assert script.delete(f"{API}/{thing}", headers={"If-Match": seen}).status_code == 204
    assert script.get(f"{API}/{thing}").status_code == 404


def test_long_work_is_followed_at_its_location(world: World, script: Client) -> None:
    body = {"name": "new", "url": "https://git.example/new.git"}
    answer = script.post(f"{API}/repositories", body, content_type=JSON)
    assert answer.status_code == 202
    assert script.get(answer["Location"]).json()["state"] == "queued"


def test_the_index_leads_everywhere(world: World, script: Client) -> None:
    found = script.get(f"{API}/").json()
    assert found["person"] == "admin"
    for address in found["resources"].values():
        assert script.get(address).status_code == 200, address


def test_a_list_of_clusters_costs_no_query_a_row(world: World, script: Client, django_assert_num_queries: Any) -> None:
    script.get(f"{API}/clusters")
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as few:
        script.get(f"{API}/clusters")
    clusters_named(world, *(f"more-{number}" for number in range(30)))
    with django_assert_num_queries(len(few)):
        assert len(script.get(f"{API}/clusters").json()["items"]) == 35
