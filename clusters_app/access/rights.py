"""Whether a request has a right: what the person's roles give, and of a token only what its scopes name as well."""

from django.http import HttpRequest

from clusters_app.models import APIToken, Environment
from clusters_app.queries import can, can_somewhere

from .table import PUBLIC, SIGNED_IN, Need


def token_of_request(request: HttpRequest) -> APIToken | None:
    """The bearer token that the door has verified; None for a session."""
    token: APIToken | None = getattr(request, "api_token", None)
    return token


def _scope_holds(request: HttpRequest, verb: str) -> bool:
    token = token_of_request(request)
    return token is None or verb in token.scopes


def may(request: HttpRequest, verb: str, environment: Environment | None = None) -> bool:
    """Whether this request may do this in that environment; with None: everywhere. One query."""
    return _scope_holds(request, verb) and can(request.user, verb, environment)


def is_allowed(request: HttpRequest, need: Need) -> bool:
    """Whether the door opens. At most one query."""
    if need == PUBLIC:
        return True
    if need == SIGNED_IN:
        return request.user.is_authenticated
    if need.is_everywhere:
        return may(request, need.verb)
    return _scope_holds(request, need.verb) and can_somewhere(request.user, need.verb)
