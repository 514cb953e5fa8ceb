"""`Idempotency-Key`: a POST that is sent again, after a lost answer or by two processes at once, is done once."""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any, Concatenate, cast

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from clusters_app.models import IdempotencyKey
from clusters_app.services.errors import ServiceError

HEADER = "Idempotency-Key"
LONGEST_KEY = 200
KEPT = timedelta(days=1)
#: No request takes this long: one that has not answered by then was killed, and its key is free again.
ABANDONED = timedelta(minutes=2)


class InProgress(APIException):
    status_code = 409
    default_code = "idempotency.in-progress"
    wait = 1


def once[V: APIView, **P](
    handler: Callable[Concatenate[V, Request, P], Response],
) -> Callable[Concatenate[V, Request, P], Response]:
    """For `post`: the work is done once for a key of this person, and who sends it again gets the first answer.

    What was refused did nothing and is not kept, so it can be sent again when the cause is gone. Raises InProgress
    (409) while the first request is still worked on, ServiceError when the key was used for another request.
    """

    @wraps(handler)
    def answered(view: V, request: Request, *args: P.args, **kwargs: P.kwargs) -> Response:
        key = request.headers.get(HEADER, "")
        if not key:
            return handler(view, request, *args, **kwargs)
        return _once(request, key, lambda: handler(view, request, *args, **kwargs))

    return cast("Callable[Concatenate[V, Request, P], Response]", answered)


def _once(request: Request, key: str, work: Callable[[], Response]) -> Response:
    if len(key) > LONGEST_KEY or not key.isascii() or not key.isprintable():
        raise ServiceError("idempotency.key", _("A key has at most 200 printable ASCII characters."), field=HEADER)
    assert isinstance(request.user, User)
    digest = _digest(request)
    claim = _claim(request.user, key, digest)
    if claim is None:
        return _answer_given(request.user, key, digest)
    try:
        response = work()
    except BaseException:
        claim.delete()
        raise
    _keep(claim, response)
    return response


def _digest(request: Request) -> str:
    content = json.dumps([request.method, request.path, request.data], sort_keys=True, default=str)
    return hashlib.sha256(content.encode()).hexdigest()


def _claim(user: User, key: str, digest: str) -> IdempotencyKey | None:
    """The row that says "I do it", None when another request has said so. The unique constraint decides."""
    now = timezone.now()
    IdempotencyKey.objects.filter(user=user, created_at__lt=now - KEPT).delete()
    IdempotencyKey.objects.filter(user=user, key=key, status=None, created_at__lt=now - ABANDONED).delete()
    try:
        with transaction.atomic():
            return IdempotencyKey.objects.create(user=user, key=key, request_digest=digest)
    except IntegrityError:
        return None


def _keep(claim: IdempotencyKey, response: Response) -> None:
    """Keep the answer, but for the fields that are shown once and stored nowhere (`response.shown_once`)."""
    secret: tuple[str, ...] = getattr(response, "shown_once", ())
    data: Any = json.loads(json.dumps(response.data, default=str))
    if isinstance(data, dict):
        data = {name: value for name, value in data.items() if name not in secret}
    body = {"data": data, "location": response.get("Location", "")}
    IdempotencyKey.objects.filter(pk=claim.pk).update(status=response.status_code, body=body)


def _answer_given(user: User, key: str, digest: str) -> Response:
    row = IdempotencyKey.objects.filter(user=user, key=key).first()
    if row is not None and row.request_digest != digest:
        raise ServiceError("idempotency.reused", _("This key was used for another request."), field=HEADER)
    if row is None or row.status is None or row.body is None:
        raise InProgress(_("The first request with this key is still being worked on."))
    response = Response(row.body["data"], status=row.status)
    response["Idempotent-Replayed"] = "true"
    if row.body["location"]:
        response["Location"] = row.body["location"]
    return response
