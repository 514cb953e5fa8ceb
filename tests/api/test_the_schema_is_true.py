"""The OpenAPI document has no warning, and the running service does what it says (schemathesis, in one process).

`FLOTILLA_SCHEMA_EXAMPLES` is the number of generated requests an operation: 3, and more of them outside the edit loop.
"""

import os
from typing import Any

import pytest
import schemathesis
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.db import transaction
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from clusters_app.access import access_table
from clusters_app.api.index import OncePerLanguage
from tests.access.requests import address
from tests.access.world import World

EXAMPLES = int(os.environ.get("FLOTILLA_SCHEMA_EXAMPLES", "3"))
DOCUMENT: dict[str, Any] = OncePerLanguage().get_schema()  # type: ignore[no-untyped-call]
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
SCHEMA.app = get_wsgi_application()
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


def validate(case: Any, answer: Any) -> None:
    """The role's file holds several YAML documents and schemathesis reads one: its text is not looked into."""
    is_text = case.path.endswith(".yaml")
    case.validate_response(answer, checks=CHECKS[:-1] if is_text else CHECKS)


@pytest.fixture
def token(world: World) -> str:
    return world.token(world.person("admin", "admin"))


@SCHEMA.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_the_service_does_what_its_document_says(case: Any, token: str) -> None:
    with transaction.atomic():
        answer = case.call(headers={"Authorization": f"Bearer {token}"})
        transaction.set_rollback(True)
    validate(case, answer)


OPERATIONS = [(path, method) for path, methods in DOCUMENT["paths"].items() for method in methods if method == "get"]


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_what_is_really_there_fits_the_document(world: World, token: str, path: str, method: str) -> None:
    """The generated requests mostly find nothing; this one asks for the rows of the world."""
    name = next(route for route in access_table() if route.startswith("api-") and SCHEMA_PATHS.get(route) == path)
    case = SCHEMA[path][method.upper()].Case()
    case.path = address(world, name)
    case.path_parameters = {}
    answer = case.call(headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == (404 if name == "api-token" else 200)
    validate(case, answer)


def _document_path(route: str) -> str:
    from tests.access.requests import routes

    pattern = next(str(pattern.pattern) for name, pattern in routes() if name == route)
    for written, shown in (("<str:name>", "{name}"), ("<id:pk>", "{id}"), ("<id:number>", "{number}")):
        pattern = pattern.replace(written, shown)
    return f"/api/v1/{pattern}"


SCHEMA_PATHS = {name: _document_path(name) for name in access_table() if name.startswith("api-")}


def test_every_route_is_in_the_document() -> None:
    described = set(DOCUMENT["paths"])
    assert described == set(SCHEMA_PATHS.values()) - {"/api/v1/schema", "/api/v1/docs"}


def test_it_has_no_warning(tmp_path: Any) -> None:
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(tmp_path / "schema.yaml"))


def test_every_operation_says_how_to_sign_in_and_what_a_problem_is() -> None:
    assert DOCUMENT["openapi"].startswith("3.1")
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            assert operation["security"] == [{"token": []}, {"session": []}], path
            assert "application/problem+json" in operation["responses"]["default"]["content"], path
            names = {parameter["name"] for parameter in operation.get("parameters", [])}
            assert ("Idempotency-Key" in names) is (method == "post"), path


def test_names_of_operations_are_unique_and_plain() -> None:
    names = [operation["operationId"] for methods in DOCUMENT["paths"].values() for operation in methods.values()]
    assert len(names) == len(set(names))
    assert "clusters_refresh" in names
    assert all(name.replace("_", "").isalnum() for name in names)
