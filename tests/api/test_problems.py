"""Every refusal of the API is an RFC 9457 problem with a stable code, whoever says it."""

from typing import Any

import pytest
from django.test import Client

from clusters_app.ingest import MAX_JSON_BYTES
from tests.access.world import World, problem_of

API = "/api/v1"
JSON = "application/json"


@pytest.fixture
def script(world: World) -> Client:
    return world.script(world.person("admin", "admin"))


@pytest.mark.parametrize(
    "address", ["/api", "/api/", "/api/v2/fleet", f"{API}/nothing", f"{API}/fleet/", f"{API}/clusters/x/y/z"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_an_unknown_address(world: World, script: Client, address: str, method: str) -> None:
    answer = script.generic(method, address)
    assert (answer.status_code, problem_of(answer)["code"]) == (404, "not-found")
    assert Client().generic(method, address).status_code == 404


def test_a_slash_too_many_is_told(script: Client) -> None:
    assert "slash" in problem_of(script.get(f"{API}/fleet/"))["remedy"]


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"])
def test_a_wrong_method(script: Client, method: str) -> None:
    answer = script.generic(method, f"{API}/clusters")
    assert problem_of(answer)["code"] == "method-not-allowed"
    assert answer["Allow"] == "GET, HEAD, POST"


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "multipart/form-data; boundary=x", ""])
def test_another_media_type(script: Client, kind: str) -> None:
    answer = script.generic("POST", f"{API}/environments", b"name=x", content_type=kind)
    assert (answer.status_code, problem_of(answer)["code"]) == (415, "unsupported-media-type")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", "json.not-json"),
        (b"\xff\xfe", "json.not-utf8"),
        (b'{"name": NaN}', "json.not-json"),
        (b"[" * 100_000, "json.too-deep"),
    ],
)
def test_a_body_that_cannot_be_read(script: Client, body: bytes, code: str) -> None:
    answer = script.generic("POST", f"{API}/environments", body, content_type=JSON)
    assert answer.status_code == 400
    assert problem_of(answer)["code"].split(".")[0] == code.split(".", maxsplit=1)[0]


@pytest.mark.parametrize("body", [b"[]", b'"x"', b"7", b"null"])
def test_a_body_that_is_no_object(script: Client, body: bytes) -> None:
    answer = script.generic("POST", f"{API}/environments", body, content_type=JSON)
    assert (answer.status_code, problem_of(answer)["code"]) == (422, "invalid")


def test_a_body_that_is_too_large(script: Client) -> None:
    body = b'{"name": "' + b"x" * MAX_JSON_BYTES + b'"}'
    answer = script.generic("POST", f"{API}/environments", body, content_type=JSON)
    assert (answer.status_code, problem_of(answer)["code"]) == (413, "too-large")


def test_a_field_at_fault_is_named(script: Client) -> None:
    answer = problem_of(script.post(f"{API}/environments", {"nam": "x"}, content_type=JSON))
    assert (answer["code"], answer["field"]) == ("invalid", "nam")
    answer = problem_of(script.post(f"{API}/environments", {"name": "Not A Name"}, content_type=JSON))
    assert (answer["code"], answer["field"]) == ("environment.name", "name")


def test_an_unknown_filter_is_a_mistake_and_no_wrong_list(script: Client) -> None:
    answer = problem_of(script.get(f"{API}/clusters?enviroment=a-prod"))
    assert (answer["status"], answer["field"]) == (422, "enviroment")


@pytest.mark.parametrize("query", ["limit=0", "limit=501", "limit=x", "cursor=x", "cursor=bnVsbA==", "fields=nothing"])
def test_a_page_that_cannot_be_made(script: Client, query: str) -> None:
    for address in ("clusters", "objects", "environments"):
        answer = problem_of(script.get(f"{API}/{address}?{query}"))
        assert (answer["status"], answer["field"]) == (422, query.split("=", maxsplit=1)[0])


def test_a_state_that_forbids_it_is_a_conflict(script: Client) -> None:
    answer = problem_of(script.delete(f"{API}/environments/a-prod"))
    assert (answer["status"], answer["code"]) == (409, "environment.has-clusters")
    assert answer["remedy"]


def test_a_crash_says_nothing_of_itself(world: World, script: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_arguments: Any) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr("clusters_app.api.fleet.fleet_board", crash)
    script.raise_request_exception = False
    answer = script.get(f"{API}/fleet")
    assert (answer.status_code, problem_of(answer)["code"]) == (500, "server-error")
    assert b"a secret" not in answer.content


def test_no_token_is_asked_for_one(db: None) -> None:
    answer = Client().get(f"{API}/fleet")
    assert (answer.status_code, problem_of(answer)["code"]) == (401, "not-signed-in")
    assert answer["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("accept", ["text/html", "application/yaml", "application/problem+json", "nonsense", ""])
def test_whatever_is_accepted_is_answered(script: Client, accept: str) -> None:
    assert script.get(f"{API}/fleet", headers={"Accept": accept}).status_code == 200
    assert (
        script.get(f"{API}/clusters/read-role.yaml", headers={"Accept": accept})["Content-Type"] == "application/yaml"
    )
