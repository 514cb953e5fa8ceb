"""The middleware that stands before every view, and who the audit says has come through it."""

import ipaddress
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.utils.translation import gettext as _

from clusters_app.models import AuditRecord
from clusters_app.services import accounts
from clusters_app.services.audit import Actor, record
from clusters_app.services.errors import ServiceError

from .rights import is_allowed, token_of_request
from .table import Need, entry_of
from .words import in_words_of_the_api, is_api, problem

NOBODY_KNOWS = "0.0.0.0"  # noqa: S104  an address for the record, nothing listens on it
VERB_LENGTH = AuditRecord._meta.get_field("verb").max_length


def address_of(request: HttpRequest) -> str:
    """The client's address; the proxy's header is believed only when the settings name it, and only if it is one."""
    header = settings.FLOTILLA_TRUSTED_PROXY_HEADER
    forwarded = request.headers.get(header, "").split(",")[-1].strip() if header else ""
    for candidate in (forwarded, request.META.get("REMOTE_ADDR", "")):
        try:
            return str(ipaddress.ip_address(candidate))
        except ValueError:
            continue
    return NOBODY_KNOWS


def actor_of(request: HttpRequest) -> Actor:
    """Who the audit names for what this request does."""
    token = token_of_request(request)
    user = request.user if request.user.is_authenticated else None
    return Actor(
        name=user.get_username() if user else "anonymous",
        user=user,
        token=token.prefix if token else "",
        address=address_of(request),
    )


class AccessMiddleware:
    """Authenticates bearer tokens on the API's paths, refuses what the table does not allow, records refusals."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not is_api(request):
            return self._answer(request)
        try:
            _authenticate_token(request)
        except ServiceError as error:
            return _token_refused(error)
        return in_words_of_the_api(request, self._answer(request))

    def _answer(self, request: HttpRequest) -> HttpResponse:
        """Whichever view, or check before it, says 403 to a signed-in person: it stands in the record."""
        person = request.user
        response = self.get_response(request)
        # REST framework forgets who it was when it refuses for want of a CSRF token.
        request.user = person
        if response.status_code == 403 and person.is_authenticated:
            _record_refusal(request)
        return response

    def process_view(
        self, request: HttpRequest, _view: Callable[..., HttpResponse], _args: Any, _kwargs: Any
    ) -> HttpResponse | None:
        entry = entry_of(_route(request))
        need = entry.get(request.method or "")
        if need is None and entry:
            return _wrong_method(request, sorted(entry))
        if need is not None and is_allowed(request, need):
            return None
        if request.user.is_authenticated:
            return _not_allowed(request, need)
        return _not_signed_in(request)


def _route(request: HttpRequest) -> str:
    return request.resolver_match.view_name if request.resolver_match else ""


def _authenticate_token(request: HttpRequest) -> None:
    scheme, _space, value = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return
    token = accounts.token_of(value=value.strip(), address=address_of(request))
    request.user = token.user
    request.api_token = token  # type: ignore[attr-defined]
    # A token is no cookie: no other site can make a browser send it.
    request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]


def _token_refused(error: ServiceError) -> HttpResponse:
    is_limit = error.code == "sign-in.too-many"
    response = problem(429 if is_limit else 401, error.code, error.message, error.remedy)
    if is_limit:
        response["Retry-After"] = str(int(accounts.ATTEMPTS_WINDOW.total_seconds()))
    else:
        response["WWW-Authenticate"] = 'Bearer error="invalid_token"'
    return response


def _wrong_method(request: HttpRequest, allowed: list[str]) -> HttpResponse:
    if not is_api(request):
        return HttpResponseNotAllowed(allowed)
    response = problem(405, "method-not-allowed", _("This address does not take %s.") % (request.method or "")[:20])
    response["Allow"] = ", ".join(allowed)
    return response


def _not_signed_in(request: HttpRequest) -> HttpResponse:
    if not is_api(request):
        # An act is not repeated by a redirect: who signs in for one starts at the front page.
        return redirect_to_login(request.get_full_path() if request.method in {"GET", "HEAD"} else "/")
    response = problem(401, "not-signed-in", _("Send a token: Authorization: Bearer flo_…"))
    response["WWW-Authenticate"] = "Bearer"
    return response


def _not_allowed(request: HttpRequest, need: Need | None) -> HttpResponse:
    if not is_api(request):
        raise PermissionDenied
    remedy = _("It needs the right to %s.") % str(need) if need else ""
    return problem(403, "not-allowed", _("You may not do this."), remedy)


def _record_refusal(request: HttpRequest) -> None:
    route = _route(request)
    need = entry_of(route).get(request.method or "")
    record(
        actor=actor_of(request),
        verb=f"{request.method} {route or request.path_info}"[:VERB_LENGTH],
        subject=request.path_info,
        outcome=AuditRecord.Outcome.REFUSED,
        needs=str(need or "nothing allows this"),
    )
