"""What every API view shares: who acts, ETags, cursors, and answers kept under an Idempotency-Key."""

import base64
import hashlib
import json
from collections.abc import Callable
from typing import Any

from django.db import IntegrityError
from django.db.models import Model, QuerySet
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from clusters_app.access import actor_of
from clusters_app.models import APIToken, IdempotencyKey
from clusters_app.services.audit import Actor
from clusters_app.services.errors import ServiceError

PAGE, LONGEST_PAGE = 100, 500


class TokenAuthentication(BaseAuthentication):
    """The token that `AccessMiddleware` has already verified."""

    def authenticate(self, request: Request) -> tuple[Any, APIToken] | None:
        token: APIToken | None = getattr(request._request, "api_token", None)
        return (token.user, token) if token else None

    def authenticate_header(self, request: Request) -> str:
        del request
        return "Bearer"


class View(APIView):
    """Tokens and sessions; the access table has decided before this runs."""

    authentication_classes = (TokenAuthentication, SessionAuthentication)

    @property
    def actor(self) -> Actor:
        return actor_of(self.request._request)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """ETag on every successful read; 304 when the caller has it."""
        response = super().finalize_response(request, response, *args, **kwargs)
        if request.method in {"GET", "HEAD"} and response.status_code == 200 and hasattr(response, "data"):
            content = json.dumps(response.data, sort_keys=True, default=str).encode()
            response["ETag"] = etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
            if etag in request.headers.get("If-None-Match", ""):
                response.status_code, response.data = 304, None
        return response

    def once(self, request: Request, work: Callable[[], Response]) -> Response:
        """Do the work once for an `Idempotency-Key`: a repeated request gets the first answer and does nothing.

        Raises ServiceError when the key was used for another request, or its first one is still being worked on.
        """
        key = request.headers.get("Idempotency-Key", "")
        if not key:
            return work()
        digest = hashlib.sha256(
            json.dumps([request.path, request.data], sort_keys=True, default=str).encode()
        ).hexdigest()
        try:
            row = IdempotencyKey.objects.create(user=request.user, key=key[:200], request_digest=digest)
        except IntegrityError:
            return _answer_given(request, key[:200], digest)
        try:
            response = work()
        except BaseException:
            row.delete()
            raise
        row.status, row.body = response.status_code, json.loads(json.dumps(response.data, default=str))
        row.save(update_fields=["status", "body"])
        return response

    def page(self, request: Request, found: QuerySet[Any], serializer: type[BaseSerializer[Any]]) -> Response:
        """One page in order of `pk`, falling, with the cursor of the next: `{"items": […], "next": "…" | null}`."""
        size = _size(request)
        if cursor := request.query_params.get("cursor"):
            found = found.filter(pk__lt=_position(cursor))
        rows: list[Model] = list(found.order_by("-pk")[: size + 1])
        more = len(rows) > size
        rows = rows[:size]
        following = base64.urlsafe_b64encode(str(rows[-1].pk).encode()).decode() if more else None
        return Response({"items": _only(request, serializer(rows, many=True).data), "next": following})

    def everything(self, request: Request, items: Any) -> Response:
        """A short list that needs no paging, in the same shape as a page."""
        return Response({"items": _only(request, list(items)), "next": None})


def _answer_given(request: Request, key: str, digest: str) -> Response:
    row = IdempotencyKey.objects.filter(user=request.user, key=key).first()
    if row is None or row.status is None:
        raise ServiceError("idempotency.in-progress", "The first request with this key is still being worked on.")
    if row.request_digest != digest:
        raise ServiceError("idempotency.reused", "This Idempotency-Key was used for another request.")
    response = Response(row.body, status=row.status)
    response["Idempotent-Replayed"] = "true"
    return response


def _size(request: Request) -> int:
    text = request.query_params.get("limit", "")
    if text and not text.isdecimal():
        raise ServiceError("invalid", "limit is a number.", field="limit")
    return min(max(int(text or PAGE), 1), LONGEST_PAGE)


def _position(cursor: str) -> int:
    try:
        return int(base64.urlsafe_b64decode(cursor.encode()))
    except ValueError as error:
        raise ServiceError("invalid", "This cursor was not made here.", field="cursor") from error


def _only(request: Request, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """`?fields=name,health` leaves the other fields out."""
    fields = {name for name in request.query_params.get("fields", "").split(",") if name}
    return [{key: value for key, value in item.items() if key in fields} for item in items] if fields else items
