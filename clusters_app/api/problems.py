"""Errors as RFC 9457 `application/problem+json`, each with a stable code, the field at fault and the remedy."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_handler

from clusters_app.access.words import MEDIA_TYPE
from clusters_app.git.errors import GitError
from clusters_app.services.errors import ServiceError

#: Refusals that are about the state of things, not about the request's form.
CONFLICTS = ("promotion.", "review.", "environment.has", "repository.has", "scaffold.no-change", "role.last")


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """For DRF's EXCEPTION_HANDLER: services, forms and DRF itself speak the same format. None: a crash, a 500."""
    if isinstance(error, ServiceError):
        return _refused(error)
    if isinstance(error, GitError):
        return _problem(503, error.code, error.problem, remedy=error.remedy)
    if isinstance(error, exceptions.ValidationError):
        return _invalid(error)
    response = drf_handler(error, context)
    if response is None:
        return None
    made = _problem(response.status_code, *_words(error))
    for name in ("Allow", "WWW-Authenticate", "Retry-After"):
        if name in response:
            made[name] = response[name]
    return made


def _refused(error: ServiceError) -> Response:
    status = 409 if error.code.startswith(CONFLICTS) else 422
    return _problem(status, error.code, error.message, remedy=error.remedy, field=error.field)


def _invalid(error: exceptions.ValidationError) -> Response:
    detail = error.detail
    if not isinstance(detail, dict):
        return _problem(422, "invalid", " ".join(map(str, detail)))
    field, messages = next(iter(detail.items()))
    text = " ".join(map(str, messages)) if isinstance(messages, list) else str(messages)
    return _problem(422, "invalid", text, field=None if field == "non_field_errors" else str(field), errors=detail)


def _words(error: Exception) -> tuple[str, str]:
    if isinstance(error, Http404):
        # In the same words whether it does not exist or belongs to somebody else.
        return "not-found", _("There is no such thing, or you may not see it.")
    if isinstance(error, PermissionDenied):
        return "not-allowed", _("You may not do this here.")
    if isinstance(error, exceptions.APIException):
        return str(error.get_codes()).replace("_", "-"), str(error.detail)
    return "error", str(error)


def _problem(
    status: int, code: str, detail: str, *, remedy: str = "", field: str | None = None, **more: Any
) -> Response:
    body: dict[str, Any] = {
        "type": "about:blank",
        "status": status,
        "title": detail,
        "code": code,
        "detail": detail,
        **more,
    }
    if remedy:
        body["remedy"] = remedy
    if field:
        body["field"] = field
    return Response(body, status=status, content_type=MEDIA_TYPE)
