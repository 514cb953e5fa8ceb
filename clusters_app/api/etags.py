"""ETags: a reader need not be sent what it has, and a writer can say which state it means to change."""

import hashlib
import json
from typing import Any

from django.utils.http import parse_etags
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response


class Changed(APIException):
    status_code = 412
    default_code = "changed"


def etag_of(data: Any) -> str:
    """Strong, over the content as it is sent."""
    content = json.dumps(data, sort_keys=True, default=str).encode()
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def add_etag(request: Request, response: Any) -> Any:
    """ETag on every successful read; 304 without a body when the caller has it."""
    if request.method not in {"GET", "HEAD"} or response.status_code != 200 or not isinstance(response, Response):
        return response
    response["ETag"] = etag = etag_of(response.data)
    response["Cache-Control"] = "private, no-cache"
    known = [each.removeprefix("W/") for each in parse_etags(request.headers.get("If-None-Match", ""))]
    if etag in known or "*" in known:
        response.status_code, response.data = 304, None
    return response


def refuse_if_changed(request: Request, data: Any) -> None:
    """For writes: raises Changed (412) when `If-Match` names another state than that of `data`.

    `data` is the thing as GET shows it. Without the header the write goes ahead whatever the state is.
    """
    wanted = parse_etags(request.headers.get("If-Match", ""))
    if wanted and "*" not in wanted and etag_of(data) not in wanted:
        raise Changed(_("It has changed since you read it. Read it again."))
