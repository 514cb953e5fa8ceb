"""What every API view shares: how it is called, who acts, and what of a request is read."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _
from rest_framework import exceptions, serializers
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from clusters_app.access import actor_of, may
from clusters_app.models import APIToken, Environment, Operation
from clusters_app.services.audit import Actor
from clusters_app.services.errors import ServiceError

from .body import JSONBody
from .etags import add_etag
from .schema import Described


class TokenAuthentication(BaseAuthentication):
    """The token that `AccessMiddleware` has already verified."""

    def authenticate(self, request: Request) -> tuple[Any, APIToken] | None:
        token: APIToken | None = getattr(request._request, "api_token", None)
        return (token.user, token) if token else None

    def authenticate_header(self, request: Request) -> str:
        del request
        return "Bearer"


class CSRFRefused(exceptions.PermissionDenied):
    default_code = "csrf"


class CookieSession(SessionAuthentication):
    """The session of the pages; what it writes needs the CSRF token, because browsers send cookies by themselves."""

    def enforce_csrf(self, request: Any) -> None:
        try:
            super().enforce_csrf(request)
        except exceptions.PermissionDenied as error:
            raise CSRFRefused(_("Send the CSRF token as X-CSRFToken, or use an API token.")) from error


class OneFormat(BaseContentNegotiation):
    """Each address has one format, so `Accept` is not read (RFC 9110 section 12.4.1 allows it)."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        wanted = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == wanted), None)

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        del request, format_suffix
        return renderers[0], renderers[0].media_type


class Strict(serializers.Serializer[Any]):
    """What a request carries. Unknown fields are mistakes, not noise."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping) and (unknown := sorted(set(data) - set(self.fields))):
            raise serializers.ValidationError({unknown[0]: [_("Unknown field.")]})
        return super().to_internal_value(data)


class View(APIView):
    """Tokens and sessions; the access table has decided before this runs."""

    authentication_classes = (TokenAuthentication, CookieSession)
    parser_classes = (JSONBody,)
    content_negotiation_class = OneFormat
    schema = Described()

    @property
    def actor(self) -> Actor:
        return actor_of(self.request._request)

    @property
    def person(self) -> User:
        assert isinstance(self.request.user, User)
        return self.request.user

    @property
    def token(self) -> APIToken | None:
        token: APIToken | None = getattr(self.request._request, "api_token", None)
        return token

    def may(self, verb: str, environment: Environment | None = None) -> bool:
        return may(self.request._request, verb, environment)

    def require(self, verb: str, environment: Environment | None) -> None:
        """PermissionDenied unless this request may do this there. What may not be seen was a 404 before."""
        if not self.may(verb, environment):
            raise PermissionDenied

    def asked(self, shape: type[Strict]) -> dict[str, Any]:
        """The query parameters. Of one that is not a list and is repeated, the last counts."""
        query = self.request.query_params
        lists = {name for name, field in shape().fields.items() if isinstance(field, serializers.ListField)}
        return _valid(shape, {name: query.getlist(name) if name in lists else query[name] for name in query})

    def body(self, shape: type[Strict]) -> dict[str, Any]:
        return _valid(shape, self.request.data)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        return add_etag(request, super().finalize_response(request, response, *args, **kwargs))


def _valid(shape: type[Strict], data: Any) -> dict[str, Any]:
    found = shape(data=data)
    found.is_valid(raise_exception=True)
    return dict(found.validated_data)


def accepted(operation: Operation) -> Response:
    """202: a worker does it, and the operation tells how far it is."""
    from .operations import OperationShape

    response = Response(OperationShape(operation).data, status=202)
    response["Location"] = f"/api/v1/operations/{operation.pk}"
    return response


def named[M: Model](found: QuerySet[M], name: str, field: str) -> M:
    """The row that a field of a body names; a foreign one is refused in the same words as one that does not exist."""
    row = found.filter(name=name).first()
    if row is None:
        raise ServiceError(
            "not-found",
            _("There is no %(name)s, or you may not see it.") % {"name": name},
            field=field,
        )
    return row
