"""A token is never more than its person, never more than its scopes, and ends when it should."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from clusters_app.models import APIToken
from clusters_app.queries import VERBS
from tests.access.requests import send
from tests.access.world import World, hour, problem_of

TOKENS = "/api/v1/tokens"


def use(value: str) -> Any:
    return Client(headers={"Authorization": f"Bearer {value}"}).get("/api/v1/fleet")


def test_it_works_until_it_expires(world: World) -> None:
    anna = world.person("anna", "viewer")
    assert use(world.token(anna, "view", expires_at=hour(1))).status_code == 200
    expired = use(world.token(anna, "view", expires_at=hour(-1)))
    assert expired.status_code == 401
    assert problem_of(expired)["code"] == "token.refused"


def test_it_ends_when_it_is_revoked(world: World) -> None:
    value = world.token(world.person("anna", "viewer"))
    APIToken.objects.update(revoked_at=timezone.now())
    assert use(value).status_code == 401


def test_it_ends_with_its_person(world: World) -> None:
    anna = world.person("anna", "viewer")
    value = world.token(anna)
    anna.is_active = False
    anna.save()
    assert use(value).status_code == 401


def test_it_loses_what_its_person_loses(world: World) -> None:
    anna = world.person("anna", "admin")
    script = world.script(anna)
    assert send(script, world, ("api-system", "GET")).status_code == 200
    anna.memberships.update(role="viewer")
    assert send(script, world, ("api-system", "GET")).status_code == 403


@pytest.mark.parametrize("role", ["viewer", "developer", "operator"])
def test_scopes_give_nothing_that_the_role_does_not(world: World, role: str) -> None:
    assert send(world.script(world.person("anna", role), *VERBS), world, ("api-cluster", "DELETE")).status_code == 403


def test_only_a_digest_is_stored(world: World) -> None:
    value = world.token(world.person("anna", "viewer"))
    assert value not in str(list(APIToken.objects.values()))
    assert len(value) >= 40


def test_it_cannot_make_one_that_may_more(world: World) -> None:
    script = world.script(world.person("anna", "admin"), "view", "promote")
    refused = script.post(TOKENS, {"name": "more", "scopes": ["view", "administer"]}, content_type="application/json")
    assert refused.status_code == 422
    assert problem_of(refused)["code"] == "token.scope"
    made = script.post(TOKENS, {"name": "less", "scopes": ["view"]}, content_type="application/json")
    assert made.status_code == 201
    assert use(made.json()["token"]).status_code == 200


def test_it_cannot_make_one_that_lives_longer(world: World) -> None:
    value = world.token(world.person("anna", "viewer"), "view", expires_at=hour(1))
    script = Client(headers={"Authorization": f"Bearer {value}"})
    script.post(TOKENS, {"name": "child", "scopes": ["view"], "days": 700}, content_type="application/json")
    child = APIToken.objects.get(name="child")
    assert child.expires_at is not None
    assert child.expires_at <= timezone.now() + timedelta(hours=1)


def test_it_cannot_revoke_one_that_may_more(world: World) -> None:
    anna = world.person("anna", "admin")
    world.token(anna, *VERBS)
    strong = APIToken.objects.get()
    weak = world.script(anna, "view")
    assert weak.delete(f"{TOKENS}/{strong.pk}").status_code == 422
    assert weak.delete(f"{TOKENS}/{APIToken.objects.exclude(pk=strong.pk).get().pk}").status_code == 204
    assert weak.get("/api/v1/fleet").status_code == 401


def test_somebody_else_s_is_not_there(world: World) -> None:
    world.token(world.person("anna", "admin"))
    other = world.script(world.person("boris", "admin"))
    assert other.delete(f"{TOKENS}/{APIToken.objects.get(user__username='anna').pk}").status_code == 404
    assert "anna" not in other.get(TOKENS).content.decode()
    assert len(other.get(TOKENS).json()["items"]) == 1


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Bearer flo_", "bearer \x00", "Bearer " + "x" * 5000])
def test_a_broken_header_is_a_refused_token(world: World, header: str) -> None:
    answer = Client(headers={"Authorization": header}).get("/api/v1/fleet")
    assert problem_of(answer)["status"] == 401


def test_another_scheme_is_no_token(world: World) -> None:
    answer = Client(headers={"Authorization": "Basic YTpi"}).get("/api/v1/fleet")
    assert problem_of(answer)["code"] == "not-signed-in"
    assert answer["WWW-Authenticate"] == "Bearer"
