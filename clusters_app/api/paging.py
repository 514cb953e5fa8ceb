"""Lists: pages by cursor, which neither repeat nor leave out an item whatever is added meanwhile, and `fields`."""

import base64
import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.response import Response

from clusters_app.queries.order import natural
from clusters_app.services.errors import ServiceError

from .base import Strict

PAGE, LONGEST_PAGE = 100, 500

type Shape = type[serializers.BaseSerializer[Any]]


class PageQuery(Strict):
    """What every list takes."""

    limit = serializers.IntegerField(min_value=1, max_value=LONGEST_PAGE, default=PAGE)
    cursor = serializers.CharField(max_length=1000, default="", allow_blank=True, help_text="`next` of the page before")
    fields = serializers.CharField(  # type: ignore[assignment]
        max_length=1000, default="", allow_blank=True, help_text="names of the fields to send, separated by commas"
    )


@cache
def page_of(shape: Shape) -> serializers.BaseSerializer[Any]:
    """How a page of this shape looks, for the schema."""
    name = f"{shape.__name__.removesuffix('Shape')}Page"
    return inline_serializer(
        name,
        {
            "items": shape(many=True),
            "next": serializers.CharField(allow_null=True, help_text="cursor of the next page, null on the last"),
        },
    )


def page_of_rows(asked: dict[str, Any], found: QuerySet[Any], shape: Shape) -> Response:
    """Newest first, in order of the falling id. One query, and those of the shape."""
    if asked["cursor"]:
        found = found.filter(pk__lt=_number(asked["cursor"]))
    rows: list[Model] = list(found.order_by("-pk")[: asked["limit"] + 1])
    return _page(asked, rows, shape, lambda row: row.pk)


def page_of_names[T](
    asked: dict[str, Any],
    found: Sequence[T],
    shape: Shape,
    name_of: Callable[[T], str] = str,
) -> Response:
    """In the natural order of unique names: prod-2 before prod-10."""
    rows = sorted(found, key=lambda row: natural(name_of(row)))
    if asked["cursor"]:
        after = natural(_name(asked["cursor"]))
        rows = [row for row in rows if natural(name_of(row)) > after]
    return _page(asked, rows[: asked["limit"] + 1], shape, name_of)


def in_order(asked: dict[str, Any], found: Sequence[Any], shape: Shape, position_of: Callable[[Any], int]) -> Response:
    """A list that has an order of its own, by a number that rises."""
    if asked["cursor"]:
        after = _number(asked["cursor"])
        found = [row for row in found if position_of(row) > after]
    return _page(asked, found[: asked["limit"] + 1], shape, position_of)


def _page(
    asked: dict[str, Any], rows: Sequence[Any], shape: Shape, position_of: Callable[[Any], int | str]
) -> Response:
    """`rows` are at most one more than the page holds: the one that tells that there is a next page."""
    shown = rows[: asked["limit"]]
    following = _cursor(position_of(shown[-1])) if len(rows) > len(shown) else None
    items = shape(shown, many=True).data
    return Response({"items": _only(asked["fields"], items, shape), "next": following})


def _cursor(position: int | str) -> str:
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode()


def _number(cursor: str) -> int:
    position = _position(cursor)
    if type(position) is not int or not 0 <= position < 2**63:
        raise _foreign_cursor()
    return position


def _name(cursor: str) -> str:
    position = _position(cursor)
    if not isinstance(position, str):
        raise _foreign_cursor()
    return position


def _position(cursor: str) -> object:
    try:
        return json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, RecursionError) as error:
        raise _foreign_cursor() from error


def _foreign_cursor() -> ServiceError:
    return ServiceError("invalid", _("This cursor was not made here."), field="cursor")


def _only(wanted: str, items: Any, shape: Shape) -> Any:
    """`?fields=name,health` leaves the other fields out."""
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    if not names:
        return items
    known = shape().fields  # type: ignore[attr-defined]
    for name in names:
        if name not in known:
            raise ServiceError("invalid", _("There is no field %s.") % name[:100], field="fields")
    return [{name: item[name] for name in names if name in item} for item in items]
