"""Who may ask for what: every route and method has its verb here. What has no entry is refused.

`VERBS` of a person come from memberships (`clusters_app.queries`); this file maps routes to verbs and enforces the map
before any view runs. A verb opens the door of a route; which rows are behind it is decided by `…_visible_to(user)`, and
acts in one environment check `can(user, verb, environment)` again in their view's access helper.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _

from clusters_app.models import APIToken, AuditRecord
from clusters_app.queries import can, can_somewhere
from clusters_app.services import accounts
from clusters_app.services.audit import Actor, record
from clusters_app.services.errors import ServiceError

#: No account is needed.
PUBLIC: Final = "public"
#: Any signed-in person.
SIGNED_IN: Final = "signed-in"

type Verb = str
type Access = Mapping[str, Mapping[str, Verb]]

SAFE = ("GET", "HEAD", "OPTIONS")


def reads(verb: Verb = "view") -> dict[str, Verb]:
    return dict.fromkeys(SAFE, verb)


def form(verb: Verb) -> dict[str, Verb]:
    """A page with a form: the same verb shows and submits it."""
    return {**reads(verb), "POST": verb}


def act(verb: Verb) -> dict[str, Verb]:
    return {"POST": verb, "OPTIONS": verb}


PAGES: Access = {
    "healthz": reads(PUBLIC),
    "set_language": {"POST": PUBLIC},
    "sign-in": form(PUBLIC),
    "first-run": form(PUBLIC),
    "sign-out": {"POST": SIGNED_IN},
    "account": form(SIGNED_IN),
    "fleet": reads(),
    "problems": reads(),
    "search": reads(),
    "palette": reads(),
    "cluster-register": form("administer"),
    "cluster-manifest": reads("administer"),
    "cluster": reads(),
    "cluster-refresh": act("operate"),
    "cluster-remove": form("administer"),
    "cluster-credential": form("administer"),
    "object": reads(),
    "apps": reads(),
    "app": reads(),
    "promote": form("promote"),
    "promotions": reads(),
    "promotion": reads(),
    "promotion-abort": act("promote"),
    "promotion-retry": act("promote"),
    "repositories": reads(),
    "repository-add": form("administer"),
    "repository": reads(),
    "repository-refresh": act("operate"),
    "scaffold": form("edit"),
    "scaffold-preview": act("edit"),
    "review": reads(),
    "review-merge": act("approve"),
    "review-close": act("approve"),
    "operation": reads(),
    "activity": reads("operate"),
    "settings": reads("edit"),
    "environments": form("edit"),
    "environment-remove": act("edit"),
    "people": form("administer"),
    "person-remove": act("administer"),
    "tokens": form(SIGNED_IN),
    "token-revoke": act(SIGNED_IN),
    "system": reads("operate"),
}

#: Views of Django's admin site: all under one verb, because it shows every row of every tenant.
ADMIN_NAMESPACE: Final = "admin"


def access_table() -> dict[str, Mapping[str, Verb]]:
    """Every route's entry: the pages here, the API's from its own table beside its views."""
    from clusters_app.api.access import API

    return {**PAGES, **API}


def verb_for(view_name: str, method: str) -> Verb | None:
    """The verb that this route asks of this method; None when there is no entry, which means refused."""
    if view_name.split(":", maxsplit=1)[0] == ADMIN_NAMESPACE:
        return "administer" if method in {*SAFE, "POST"} else None
    return access_table().get(view_name, {}).get(method)


def is_allowed(request: HttpRequest, verb: Verb) -> bool:
    if verb == PUBLIC:
        return True
    if verb == SIGNED_IN:
        return request.user.is_authenticated
    token: APIToken | None = getattr(request, "api_token", None)
    if token is not None and verb not in token.scopes:
        return False
    if verb in {"administer", "edit", "operate"}:
        return can(request.user, verb)
    return can_somewhere(request.user, verb)


def address_of(request: HttpRequest) -> str:
    """The client's address; the proxy's header is believed only when the settings name it."""
    from django.conf import settings

    header = settings.FLOTILLA_TRUSTED_PROXY_HEADER
    forwarded = request.headers.get(header, "").split(",")[-1].strip() if header else ""
    return forwarded or request.META.get("REMOTE_ADDR", "")


def actor_of(request: HttpRequest) -> Actor:
    """Who the audit names for what this request does."""
    token: APIToken | None = getattr(request, "api_token", None)
    user = request.user if request.user.is_authenticated else None
    return Actor(
        name=user.get_username() if user else "anonymous",
        user=user,
        token=token.prefix if token else "",
        address=address_of(request),
    )


class AccessMiddleware:
    """Authenticates bearer tokens on the API's paths and refuses every request that the table does not allow."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            self._authenticate_token(request)
        except ServiceError as error:
            return problem(401, error.code, error.message, error.remedy)
        return self.get_response(request)

    def _authenticate_token(self, request: HttpRequest) -> None:
        scheme, _space, value = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not request.path_info.startswith("/api/"):
            return
        token = accounts.token_of(value=value.strip(), address=address_of(request))
        request.user = token.user
        request.api_token = token  # type: ignore[attr-defined]
        # A token is no cookie: no other site can make a browser send it.
        request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]

    def process_view(
        self, request: HttpRequest, _view: Callable[..., HttpResponse], _args: Any, _kwargs: Any
    ) -> HttpResponse | None:
        match = request.resolver_match
        method = request.method or ""
        verb = verb_for(match.view_name, method) if match else None
        if verb is not None and is_allowed(request, verb):
            return None
        is_api = request.path_info.startswith("/api/")
        if verb is None and match and access_table().get(match.view_name):
            allowed = sorted(access_table()[match.view_name])
            response = problem(405, "method-not-allowed", _("This address does not take %s.") % method)
            response["Allow"] = ", ".join(allowed)
            return response
        if not request.user.is_authenticated:
            if is_api:
                return problem(401, "not-signed-in", _("Send a token: Authorization: Bearer flo_…"))
            return redirect_to_login(request.get_full_path())
        record(
            actor=actor_of(request),
            verb=f"{method} {match.view_name if match else request.path_info}",
            subject=request.path_info,
            outcome=AuditRecord.Outcome.REFUSED,
            needs=verb or "nothing allows this",
        )
        if is_api:
            return problem(403, "not-allowed", _("You may not do this."), _("It needs the right to %s.") % verb)
        raise PermissionDenied


def problem(status: int, code: str, detail: str, remedy: str = "", **more: object) -> JsonResponse:
    """An error as RFC 9457 `application/problem+json` with a stable code."""
    body = {"type": "about:blank", "status": status, "title": detail, "code": code, "detail": detail, **more}
    if remedy:
        body["remedy"] = remedy
    return JsonResponse(body, status=status, content_type="application/problem+json")
