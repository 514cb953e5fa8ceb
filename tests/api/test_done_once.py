"""A POST with an Idempotency-Key is done once, also by two processes at the same moment."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from clusters_app.access import access_table
from clusters_app.api.once import ABANDONED, KEPT
from clusters_app.models import APIToken, AuditRecord, Environment, IdempotencyKey
from tests.access.requests import BODIES, address, send
from tests.access.world import World, problem_of

ENVIRONMENTS = "/api/v1/environments"
JSON = "application/json"
POSTS = sorted(name for name, entry in access_table().items() if name.startswith("api-") and "POST" in entry)


@pytest.fixture
def script(world: World) -> Client:
    return world.script(world.person("admin", "admin"))


def create(script: Client, key: str, name: str = "new") -> Any:
    return script.post(ENVIRONMENTS, {"name": name}, content_type=JSON, headers={"Idempotency-Key": key})


@pytest.mark.parametrize("route", POSTS)
def test_every_post_is_done_once(world: World, script: Client, route: str) -> None:
    first = send(script, world, (route, "POST"), headers={"Idempotency-Key": "k"})
    assert first.status_code in {200, 201, 202}, first.content
    done = AuditRecord.objects.count()
    again = send(script, world, (route, "POST"), headers={"Idempotency-Key": "k"})
    assert (again.status_code, again["Idempotent-Replayed"]) == (first.status_code, "true")
    assert again.get("Location") == first.get("Location")
    assert AuditRecord.objects.count() == done
    kept = {key: value for key, value in first.json().items() if (route, key) != ("api-tokens", "token")}
    assert again.json() == kept


def test_a_token_s_value_is_not_kept(world: World, script: Client) -> None:
    body = BODIES["api-tokens"]
    made = script.post(address(world, "api-tokens"), body, content_type=JSON, headers={"Idempotency-Key": "k"}).json()
    assert made["token"] not in str(list(IdempotencyKey.objects.values()))
    assert APIToken.objects.filter(name="made").count() == 1


def test_what_was_refused_can_be_sent_again(script: Client) -> None:
    create(script, "first", "new")
    assert create(script, "k", "new").status_code == 422
    Environment.objects.filter(name="new").delete()
    assert create(script, "k", "new").status_code == 201


def test_a_key_is_for_one_request(script: Client) -> None:
    create(script, "k", "one")
    refused = create(script, "k", "two")
    assert problem_of(refused)["code"] == "idempotency.reused"
    assert not Environment.objects.filter(name="two").exists()


def test_a_key_is_one_person_s(world: World, script: Client) -> None:
    create(script, "k", "one")
    other = world.script(world.person("other", "admin"))
    assert create(other, "k", "two").status_code == 201


def test_of_two_at_once_one_does_it(world: World, script: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second arrives while the first is in the middle of its work."""
    from clusters_app.services import environments

    seen: list[Any] = []
    real = environments.create_environment

    def slow(**arguments: Any) -> Environment:
        if not seen:
            seen.append(None)
            seen.append(create(script, "k", "new"))
        return real(**arguments)

    monkeypatch.setattr(environments, "create_environment", slow)
    first = create(script, "k", "new")
    second = seen[1]
    assert first.status_code == 201
    assert (second.status_code, problem_of(second)["code"]) == (409, "idempotency.in-progress")
    assert second["Retry-After"] == "1"
    assert Environment.objects.filter(name="new").count() == 1


def test_a_crash_frees_the_key(script: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(**_arguments: Any) -> None:
        raise RuntimeError

    script.raise_request_exception = False
    with monkeypatch.context() as patched:
        patched.setattr("clusters_app.services.environments.create_environment", crash)
        assert create(script, "k").status_code == 500
    assert create(script, "k").status_code == 201


def test_a_key_of_a_killed_process_is_free_after_a_while(world: World, script: Client) -> None:
    create(script, "k")
    IdempotencyKey.objects.update(status=None, created_at=timezone.now())
    Environment.objects.filter(name="new").delete()
    assert create(script, "k").status_code == 409
    IdempotencyKey.objects.update(created_at=timezone.now() - ABANDONED - timedelta(seconds=1))
    assert create(script, "k").status_code == 201


def test_keys_are_forgotten_after_a_day(script: Client) -> None:
    create(script, "old", "one")
    IdempotencyKey.objects.update(created_at=timezone.now() - KEPT - timedelta(seconds=1))
    create(script, "new", "two")
    assert list(IdempotencyKey.objects.values_list("key", flat=True)) == ["new"]


@pytest.mark.parametrize("key", ["x" * 201, "\x7f", "ключ"])
def test_a_key_is_short_and_plain(script: Client, key: str) -> None:
    assert problem_of(create(script, key))["code"] == "idempotency.key"
