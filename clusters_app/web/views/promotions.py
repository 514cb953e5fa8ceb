"""Promotions: the list, one promotion filling up live, and what a person may do with it."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from clusters_app.access import actor_of
from clusters_app.models import Promotion
from clusters_app.queries import can, promotions_visible_to
from clusters_app.services.errors import ServiceError
from clusters_app.services.promotions import requesting
from clusters_app.services.promotions.gates import newest_results
from clusters_app.web.access import promotion_for, promotion_for_reading

PAGE = 50


def promotions(request: HttpRequest) -> HttpResponse:
    found = promotions_visible_to(request.user).order_by("-created_at", "-pk")
    if request.GET.get("state") == "moving":
        found = found.filter(state__in=Promotion.MOVING_STATES)
    elif state := request.GET.get("state"):
        found = found.filter(state=state)
    if environment := request.GET.get("environment"):
        found = found.filter(target__name=environment)
    page = Paginator(found, PAGE).get_page(request.GET.get("page"))
    return render(request, "promotions.html", {"page": page, "now": timezone.now()})


def promotion(request: HttpRequest, pk: int) -> HttpResponse:
    found = promotion_for_reading(request, pk)
    context = {
        "promotion": found,
        "targets": found.targets.select_related("cluster"),
        "events": found.events.all(),
        "gates": newest_results(found),
        "may_promote": can(request.user, "promote", found.target),
        "now": timezone.now(),
    }
    template = "promotion.html#live" if request.htmx else "promotion.html"  # type: ignore[attr-defined]
    return render(request, template, context)


def abort(request: HttpRequest, pk: int) -> HttpResponse:
    found = promotion_for(request, pk, "promote")
    try:
        requesting.abort_promotion(promotion=found, actor=actor_of(request))
    except ServiceError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Given up. The pull request is being closed."))
    return redirect(found)


def retry(request: HttpRequest, pk: int) -> HttpResponse:
    found = promotion_for(request, pk, "promote")
    try:
        requesting.retry_promotion(promotion=found, actor=actor_of(request))
    except ServiceError as error:
        messages.error(request, str(error))
    else:
        messages.info(request, _("The next step is tried again."))
    return redirect(found)
