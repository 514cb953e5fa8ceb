"""Problems: one row a cause."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from clusters_app.queries import problems as read


def problems(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    context = {"problems": read.problems(request.user), "silences": read.silences(request.user, now), "now": now}
    template = "problems.html#list" if request.htmx else "problems.html"  # type: ignore[attr-defined]
    return render(request, template, context)
