"""Apps, one app, and the plan of a promotion before anything is written."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from clusters_app.access import actor_of
from clusters_app.git.errors import GitError
from clusters_app.models import App, Environment
from clusters_app.queries import (
    environments_visible_to,
    environments_where,
    promotions_visible_to,
    releases_visible_to,
)
from clusters_app.queries.apps import app_matrix
from clusters_app.services.errors import ServiceError
from clusters_app.services.promotions.planning import plan
from clusters_app.services.promotions.requesting import request_promotion
from clusters_app.web.access import app_for_reading, environment_for_reading, require


def apps(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    only = request.GET.get("gap", "")
    context = {
        "matrix": app_matrix(request.user, now, text=request.GET.get("q", ""), only=only),
        "only": only,
        "promotable": _promotable(request),
        "now": now,
    }
    template = "apps.html#matrix" if request.htmx else "apps.html"  # type: ignore[attr-defined]
    return render(request, template, context)


def _promotable(request: HttpRequest) -> set[str]:
    """Environments into which this person may promote."""
    return set(environments_where(request.user, "promote").values_list("name", flat=True))


def app(request: HttpRequest, name: str) -> HttpResponse:
    now = timezone.now()
    found = app_for_reading(request, name)
    context = {
        "app": found,
        "matrix": app_matrix(request.user, now, app=found),
        "promotable": _promotable(request),
        "releases": releases_visible_to(request.user).filter(apps=found)[:20],
        "promotions": promotions_visible_to(request.user).filter(apps=found)[:20],
        "now": now,
    }
    template = "app.html#live" if request.htmx else "app.html"  # type: ignore[attr-defined]
    return render(request, template, context)


def promote(request: HttpRequest, name: str) -> HttpResponse:
    """GET shows the plan and writes nothing; POST opens it. `?from=&to=` choose the environments."""
    found = app_for_reading(request, name)
    query = request.POST if request.method == "POST" else request.GET
    source, target = _environments(request, query.get("from", ""), query.get("to", ""))
    require(request, "promote", target)
    answers = query.getlist("answer")
    try:
        if request.method == "POST":
            promotion, _planned = request_promotion(
                apps=[found], source=source, target=target, actor=actor_of(request), answers=answers
            )
            if promotion is not None:
                return redirect(promotion)
            messages.info(request, _("%(target)s has all of it already: nothing to do.") % {"target": target})
            return redirect(found)
        planned = plan(apps=[found], source=source, target=target, answers=answers)
    except (ServiceError, GitError) as error:
        return render(
            request, "promote.html", {"app": found, "source": source, "target": target, "error": error}, status=422
        )
    return render(request, "promote.html", _plan_context(found, source, target, planned.document, answers))


def _plan_context(
    found: App, source: Environment, target: Environment, document: dict[str, object], answers: list[str]
) -> dict[str, object]:
    return {"app": found, "source": source, "target": target, "plan": document, "answers": answers}


def _environments(request: HttpRequest, source: str, target: str) -> tuple[Environment, Environment]:
    """The two that are named; without names the first gap that this person sees."""
    if source and target:
        return environment_for_reading(request, source), environment_for_reading(request, target)
    visible = list(environments_visible_to(request.user)[:2])
    if len(visible) < 2:
        raise Http404(_("Promotion needs two environments."))
    return visible[0], visible[1]
