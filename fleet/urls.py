"""Which part of the product answers which path. Who may use it is said in `clusters_app/access/table.py`."""

from importlib.util import find_spec

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, include, path
from django.views.decorators.http import require_safe

from clusters_app import admin


@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    """The process answers. It asks nothing else: a database that is down must not restart every web process."""
    return HttpResponse("ok\n", content_type="text/plain")


def _part(prefix: str, package: str) -> list[URLPattern | URLResolver]:
    if not find_spec(package) or not find_spec(f"{package}.urls"):
        return []
    return [path(prefix, include(f"{package}.urls"))]


urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", healthz, name="healthz"),
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    *_part("api/v1/", "clusters_app.api"),
    *_part("hooks/", "clusters_app.webhooks"),
    *_part("agent/", "clusters_app.agent"),
    *_part("", "clusters_app.web"),
]
