"""One request for every route and method: addresses of own rows, and bodies that are valid."""

from collections.abc import Iterator
from typing import Any

from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from clusters_app.access import access_table
from tests.access.world import ANSWERS, SERVER, World

type Request = tuple[str, str]

#: Rows of Django's admin site, which share one entry of the table.
ADMIN_ROUTES: dict[str, dict[str, Any]] = {
    "admin:index": {},
    "admin:logout": {},
    "admin:password_change": {},
    "admin:clusters_app_cluster_changelist": {},
    "admin:clusters_app_cluster_add": {},
    "admin:clusters_app_credential_changelist": {},
}


def routes(resolver: URLResolver | None = None, namespace: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Every route of the URLconf with its name, as the access table looks it up; "" for one without a name."""
    for pattern in (resolver or get_resolver()).url_patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            yield from routes(pattern, inner)
        else:
            yield f"{namespace}{pattern.name or ''}", pattern


def address(world: World, route: str) -> str:
    """The address of this route for a row of the own environment."""
    if route in ADMIN_ROUTES:
        return reverse(route, kwargs=ADMIN_ROUTES[route])
    pattern = next(pattern for name, pattern in routes() if name == route)
    wanted = pattern.pattern.converters
    return reverse(route, kwargs={name: _argument(world, route, name) for name in wanted})


def _argument(world: World, route: str, name: str) -> Any:
    if name == "name":
        return _name(route)
    if name == "pk":
        return _id(world, route)
    return {
        "value": "unknown",
        "kind": "Kustomization",
        "namespace": "flux-system",
        "object_name": "apps-a-prod",
        "number": 1,
    }[name]


def _name(route: str) -> str:
    if "scaffold" in route:
        return "empty"
    for word, name in (("environment", "a-prod"), ("review", "fleet"), ("repositor", "fleet"), ("cluster", "a-prod")):
        if word in route:
            return name
    return "a-prod" if route == "object" else "web"


def _id(world: World, route: str) -> int:
    if "promotion" in route:
        return world.promotions["a-prod"].pk
    if "object" in route:
        return world.objects["a-prod"].pk
    if "operation" in route:
        return world.operation.pk
    return 999_999 if "person" in route else 888_888


_PROMOTE = {"app": "web", "from": "a-dev", "to": "a-prod"}
#: A body that is valid for each POST of the API; what has none needs none.
BODIES: dict[str, dict[str, Any]] = {
    "api-environments": {"name": "a-test"},
    "api-environment-order": {"names": ["a-prod", "a-dev", "b-prod"]},
    "api-repositories": {"name": "new", "url": "https://git.example/new.git", "token": "secret-of-the-forge"},
    "api-repository-scaffold": {"answers": ANSWERS},
    "api-clusters": {
        "name": "a-new",
        "environment": "a-prod",
        "repository": "fleet",
        "sync_path": "clusters/a-new",
        "server": SERVER,
        "token": "secret-of-the-cluster",
    },
    "api-cluster-token": {"token": "secret-of-the-cluster"},
    "api-promotions": _PROMOTE,
    "api-tokens": {"name": "made", "scopes": ["view"]},
}
#: What the pages' forms carry where it names a row; the others are sent empty.
FORMS: dict[str, dict[str, Any]] = {
    "cluster-register": BODIES["api-clusters"],
    "promote": {"from": "a-dev", "to": "a-prod"},
    "scaffold-preview": {},
}
QUERIES = {"promote": "?from=a-dev&to=a-prod", "api-schema": "?format=json"}


def all_requests() -> list[Request]:
    """Every route × method that the table allows to somebody."""
    named = [(name, method) for name, entry in access_table().items() for method in entry]
    return [*named, *((name, "POST" if name == "admin:logout" else "GET") for name in ADMIN_ROUTES)]


def send(client: Client, world: World, request: Request, **headers: Any) -> Any:
    route, method = request
    url = address(world, route) + QUERIES.get(route, "")
    if route.startswith("api-") and method == "POST":
        return client.post(url, BODIES.get(route, {}), content_type="application/json", **headers)
    if method == "POST":
        return client.post(url, FORMS.get(route, {}), **headers)
    return client.generic(method, url, **headers)
