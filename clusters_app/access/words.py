"""Refusals that are made before any view runs, as RFC 9457 problems where a script reads them."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _

MEDIA_TYPE = "application/problem+json"


def problem(status: int, code: str, detail: str, remedy: str = "", **more: object) -> JsonResponse:
    """An error as RFC 9457 `application/problem+json` with a stable code."""
    body = {"type": "about:blank", "status": status, "title": detail, "code": code, "detail": detail, **more}
    if remedy:
        body["remedy"] = remedy
    return JsonResponse(body, status=status, content_type=MEDIA_TYPE)


def is_api(request: HttpRequest) -> bool:
    return request.path_info == "/api" or request.path_info.startswith("/api/")


def in_words_of_the_api(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """What Django itself says below /api/ (no such route, a request that it could not read, a crash) as a problem."""
    if response.status_code < 400 or response.get("Content-Type", "").startswith(MEDIA_TYPE):
        return response
    return problem(response.status_code, *_words(request, response.status_code))


def _words(request: HttpRequest, status: int) -> tuple[str, str, str]:
    if status == 404:
        remedy = _("Addresses of the API end without a slash.") if request.path_info.endswith("/") else ""
        return "not-found", _("There is nothing at this address."), remedy or _("See /api/v1/docs.")
    if status >= 500:
        return "server-error", _("Flotilla failed at this; its log says why."), ""
    return "bad-request", _("This request cannot be read."), ""
