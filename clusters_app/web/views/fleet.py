"""The fleet: the page that is open all morning."""

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone

from clusters_app.queries import can
from clusters_app.queries.fleet import Filters, fleet_board

#: More clusters than this are shown as a grid unless a person asks for the table.
ONE_SCREEN = 100


def fleet(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    filters = filters_of(request.GET)
    board = fleet_board(request.user, now, filters)
    wanted = request.GET.get("view")
    context = {
        "board": board,
        "filters": filters,
        "view": wanted if wanted in {"table", "grid"} else "grid" if board.clusters > ONE_SCREEN else "table",
        "may_register": can(request.user, "administer"),
        "now": now,
    }
    template = "fleet.html#board" if request.htmx else "fleet.html"  # type: ignore[attr-defined]
    return render(request, template, context)


def filters_of(query: QueryDict) -> Filters:
    """The same parameters as the API's: environment, standing, freshness, behind, q, label=key=value (repeatable)."""
    labels = dict(label.split("=", 1) for label in query.getlist("label") if "=" in label)
    return Filters(
        environment=query.get("environment", ""),
        standing=query.get("standing", ""),
        freshness=query.get("freshness", ""),
        is_behind=query.get("behind") == "1",
        text=query.get("q", ""),
        labels=labels,
    )
