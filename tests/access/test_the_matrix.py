"""Every route and method has an entry, every entry a route, and what each person may send stands in a reviewed file."""

from typing import Any

import pytest
from django.test import Client, override_settings
from django.urls import path
from django.views import View as DjangoView

from clusters_app.access import access_table, need_of
from clusters_app.access.table import entry_of
from clusters_app.models import AuditRecord
from fleet.urls import urlpatterns as product
from tests.access import matrix
from tests.access.requests import all_requests, routes, send
from tests.access.world import World

METHODS = ("get", "post", "put", "patch", "delete")


@pytest.mark.usefixtures("unrendered")
@pytest.mark.parametrize("group", matrix.GROUPS)
def test_everybody_may_do_what_was_reviewed(world: World, group: str) -> None:
    found = matrix.signs(world, group)
    assert found == matrix.reviewed(group), "if it is meant: python -m tests.access, and look at the difference"


@pytest.mark.parametrize("name", sorted({name for name, _pattern in routes()}))
def test_a_route_has_an_entry(name: str) -> None:
    assert entry_of(name), f"{name or 'a route without a name'} has no entry in clusters_app/access/table.py"


@pytest.mark.parametrize("name", sorted(access_table()))
def test_an_entry_has_a_route(name: str) -> None:
    assert name in {name for name, _pattern in routes()}


@pytest.mark.parametrize("name", sorted(name for name in access_table() if name.startswith("api-")))
def test_an_entry_allows_what_the_view_has_and_no_more(name: str) -> None:
    view: Any = next(pattern.callback for route, pattern in routes() if route == name)
    cls: type[DjangoView] | None = getattr(view, "cls", None)
    if cls is None:
        assert set(entry_of(name)) == {"GET", "HEAD"}
        return
    has = {method.upper() for method in METHODS if hasattr(cls, method)}
    assert set(entry_of(name)) - {"HEAD"} == has


@pytest.mark.parametrize("name", sorted(access_table()))
def test_options_and_trace_are_nobody_s(name: str) -> None:
    assert not {"OPTIONS", "TRACE", "CONNECT", "PUT", "PATCH"} & set(entry_of(name))


@pytest.mark.usefixtures("unrendered")
def test_head_is_answered_as_get(world: World) -> None:
    admin = world.browser(world.person("admin", "admin"))
    for route, method in all_requests():
        if method == "HEAD":
            assert matrix.sign_of(send(admin, world, (route, "HEAD"))) == matrix.sign_of(
                send(admin, world, (route, "GET"))
            )


urlpatterns = [
    path("forgotten", DjangoView.as_view(), name="forgotten"),
    path("nameless", DjangoView.as_view()),
    *product,
]


@pytest.mark.parametrize("address", ["/forgotten", "/nameless"])
@override_settings(ROOT_URLCONF="tests.access.test_the_matrix")
def test_a_route_that_was_forgotten_is_refused_to_everybody(world: World, address: str) -> None:
    assert need_of("forgotten", "GET") is None
    assert Client().get(address)["Location"].startswith("/sign-in/")
    admin = world.browser(world.person("admin", "admin"))
    assert admin.get(address).status_code == 403
    assert AuditRecord.objects.filter(outcome="refused", subject=address, actor="admin").exists()


def test_the_wrong_method_names_the_right_ones(world: World) -> None:
    admin = world.browser(world.person("admin", "admin"))
    assert admin.put("/api/v1/clusters")["Allow"] == "GET, HEAD, POST"
    assert admin.options("/clusters/a-prod/refresh/").status_code == 405
    assert admin.get("/clusters/a-prod/refresh/")["Allow"] == "POST"
