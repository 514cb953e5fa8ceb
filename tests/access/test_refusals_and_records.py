"""What is refused is recorded, what is done is recorded, and the record cannot be changed unseen."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client

from clusters_app.models import AuditRecord, FailedAttempt
from clusters_app.services.audit import Actor, first_broken_link, record
from tests.access.requests import Request, address, all_requests, send
from tests.access.world import World, problem_of

WRITES = [
    (route, method)
    for route, method in all_requests()
    if route.startswith("api-") and method in {"POST", "DELETE"} and route != "api-environment-order"
]
#: What a valid request to the row of the matrix cannot do without more: the environment and repository are in use.
IN_USE = {("api-environment", "DELETE"), ("api-repository", "DELETE")}


@pytest.mark.parametrize("request_", [write for write in WRITES if write not in IN_USE], ids=" ".join)
def test_a_write_leaves_a_record(world: World, request_: Request) -> None:
    admin = world.person("admin", "admin")
    script = world.script(admin)
    before = AuditRecord.objects.count()
    if request_ == ("api-token", "DELETE"):
        answer = script.delete(f"/api/v1/tokens/{_own_token(admin)}")
    else:
        answer = send(script, world, request_)
    assert answer.status_code in {200, 201, 202, 204}, answer.content
    made = AuditRecord.objects.order_by("id")[before:]
    assert [row.outcome for row in made] == ["done"] * len(made)
    assert made
    assert {(row.actor, row.address) for row in made} == {("admin", "127.0.0.1")}
    assert all(row.token.startswith("flo_") for row in made)
    assert "secret-of" not in str([row.detail for row in made])


def _own_token(person: Any) -> int:
    return int(person.api_tokens.first().pk)


@pytest.mark.parametrize(("route", "name"), [("environments", "a-new"), ("repositories", "empty")])
def test_a_removal_leaves_a_record(world: World, route: str, name: str) -> None:
    script = world.script(world.person("admin", "admin"))
    script.post("/api/v1/environments", {"name": "a-new"}, content_type="application/json")
    script.delete("/api/v1/clusters/a-alone")
    assert script.delete(f"/api/v1/{route}/{name}").status_code == 204
    assert AuditRecord.objects.first().subject == name  # type: ignore[union-attr]


def test_the_order_of_environments_leaves_a_record(world: World) -> None:
    script = world.script(world.person("admin", "admin"))
    send(script, world, ("api-environment-order", "POST"))
    assert AuditRecord.objects.first().verb == "environment.order"  # type: ignore[union-attr]


@pytest.mark.parametrize("role", ["viewer", "developer"])
def test_a_refusal_stands_in_the_record(world: World, role: str) -> None:
    script = world.script(world.person("eve", role))
    refused = send(script, world, ("api-cluster", "DELETE"))
    assert problem_of(refused)["code"] == "not-allowed"
    row = AuditRecord.objects.first()
    assert row is not None
    assert (row.actor, row.outcome, row.verb) == ("eve", "refused", "DELETE api-cluster")
    assert row.subject == "/api/v1/clusters/a-prod"
    assert row.detail == {"needs": "administer"}
    assert row.token.startswith("flo_")


def test_a_refusal_by_the_view_itself_stands_there_too(world: World) -> None:
    """An operator of one environment who only looks at another: the door opens, the view refuses."""
    person = world.person("omar", "operator", "b-prod")
    world.person("omar2")
    person.memberships.create(role="viewer", environment=world.environments["a-prod"])
    assert send(world.script(person), world, ("api-cluster-refresh", "POST")).status_code == 403
    assert send(world.browser(person), world, ("cluster-refresh", "POST")).status_code == 403
    assert send(world.script(person), world, ("api-repository-review-merge", "POST")).status_code == 403
    verbs = list(AuditRecord.objects.filter(outcome="refused").values_list("verb", flat=True))
    assert verbs == ["POST api-repository-review-merge", "POST cluster-refresh", "POST api-cluster-refresh"]


def test_a_refused_sign_in_stands_there_without_its_secret(world: World) -> None:
    Client(headers={"Authorization": "Bearer flo_guess"}).get("/api/v1/fleet")
    Client().post("/sign-in/", {"username": "admin", "password": "a wrong password"})
    rows = AuditRecord.objects.filter(verb="sign-in.refuse")
    assert [row.address for row in rows] == ["127.0.0.1", "127.0.0.1"]
    assert "guess" not in str(list(rows.values()))


def test_limits_are_rows_and_so_survive_a_restart(world: World) -> None:
    value = world.token(world.person("admin", "admin"))
    stranger = Client(headers={"Authorization": "Bearer flo_guess"})
    answers = [stranger.get("/api/v1/fleet") for _ in range(11)]
    assert [answer.status_code for answer in answers] == [401] * 10 + [429]
    assert answers[-1]["Retry-After"] == "300"
    assert problem_of(answers[-1])["code"] == "sign-in.too-many"
    assert FailedAttempt.objects.count() == 10
    assert Client().post("/sign-in/", {"username": "admin", "password": "x"}).status_code == 429
    from_elsewhere = Client(headers={"Authorization": f"Bearer {value}"}, REMOTE_ADDR="192.0.2.7")
    assert from_elsewhere.get("/api/v1/fleet").status_code == 200


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE clusters_app_auditrecord SET actor = 'nobody' WHERE id = %s",
        "UPDATE clusters_app_auditrecord SET detail = '{}' WHERE id = %s",
        "UPDATE clusters_app_auditrecord SET outcome = 'refused' WHERE id = %s",
        "DELETE FROM clusters_app_auditrecord WHERE id = %s",
    ],
)
def test_the_chain_tells_that_a_row_was_changed_or_removed(db: None, sql: str) -> None:
    rows = [record(actor=Actor("anna"), verb="x", subject=str(number), number=number) for number in range(4)]
    assert first_broken_link() is None
    with connection.cursor() as cursor:
        cursor.execute(sql, [rows[1].pk])
    broken = first_broken_link()
    assert broken is not None
    assert broken.pk == rows[2 if sql.startswith("DELETE") else 1].pk


def test_a_cross_site_post_is_refused_and_recorded(world: World) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(world.person("admin", "admin"))
    answer = browser.post("/api/v1/environments", {"name": "evil"}, content_type="application/json")
    assert problem_of(answer)["code"] == "csrf"
    assert browser.post("/clusters/a-prod/refresh/").status_code == 403
    assert AuditRecord.objects.filter(outcome="refused").count() == 2


def test_a_token_needs_no_csrf_and_works_below_api_alone(world: World) -> None:
    script = Client(
        enforce_csrf_checks=True, headers={"Authorization": f"Bearer {world.token(world.person('m', 'admin'))}"}
    )
    assert script.post("/api/v1/environments", {"name": "good"}, content_type="application/json").status_code == 201
    assert script.get("/")["Location"].startswith("/sign-in/")
    assert script.get(address(world, "people"))["Location"].startswith("/sign-in/")


@pytest.mark.parametrize("forwarded", ["not an address", "", "evil, 203.0.113.9, nonsense"])
def test_a_forged_header_never_becomes_an_address(world: World, settings: Any, forwarded: str) -> None:
    settings.FLOTILLA_TRUSTED_PROXY_HEADER = "X-Forwarded-For"
    Client(headers={"Authorization": "Bearer x", "X-Forwarded-For": forwarded}).get("/api/v1/fleet")
    assert FailedAttempt.objects.get().address == "127.0.0.1"


def test_the_proxy_s_word_counts_when_the_settings_name_it(world: World, settings: Any) -> None:
    headers = {"Authorization": "Bearer x", "X-Forwarded-For": "198.51.100.1, 203.0.113.9"}
    Client(headers=headers).get("/api/v1/fleet")
    settings.FLOTILLA_TRUSTED_PROXY_HEADER = "X-Forwarded-For"
    Client(headers=headers).get("/api/v1/fleet")
    assert set(FailedAttempt.objects.values_list("address", flat=True)) == {"127.0.0.1", "203.0.113.9"}
