"""Settings: environments and their order, people and roles, tokens, the system."""

from datetime import timedelta

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from clusters_app.access import actor_of
from clusters_app.models import APIToken, Environment, Membership
from clusters_app.queries import VERBS, audit_visible_to, can
from clusters_app.queries.system import system_facts
from clusters_app.services import accounts
from clusters_app.services import environments as services
from clusters_app.services.errors import ServiceError
from clusters_app.web.forms import show_refusal


def settings(request: HttpRequest) -> HttpResponse:
    return render(request, "settings.html", {"may_administer": can(request.user, "administer")})


class EnvironmentForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=63)
    is_production = forms.BooleanField(label=gettext_lazy("This is production"), required=False)


def environments(request: HttpRequest) -> HttpResponse:
    """Create one at the end of the order, or post the whole order as repeated `order`."""
    form = EnvironmentForm(request.POST if "name" in request.POST else None)
    try:
        if order := request.POST.getlist("order"):
            services.order_environments(names=order, actor=actor_of(request))
            return redirect("environments")
        if form.is_bound and form.is_valid():
            is_production = form.cleaned_data["is_production"] or None
            services.create_environment(
                name=form.cleaned_data["name"], is_production=is_production, actor=actor_of(request)
            )
            return redirect("environments")
    except ServiceError as error:
        if form.is_bound:
            show_refusal(form, error)
        else:
            messages.error(request, str(error))
    context = {"form": form, "environments": _with_earlier_order()}
    return render(request, "environments.html", context, status=422 if form.errors else 200)


def _with_earlier_order() -> list[tuple[Environment, list[str]]]:
    """Each environment with the whole order that would put it one place earlier; the first has none."""
    rows = list(Environment.objects.prefetch_related("clusters"))
    names = [row.name for row in rows]
    return [
        (row, [*names[: at - 1], names[at], names[at - 1], *names[at + 1 :]] if at else [])
        for at, row in enumerate(rows)
    ]


def remove_environment(request: HttpRequest, name: str) -> HttpResponse:
    environment = get_object_or_404(Environment, name=name)
    try:
        services.remove_environment(environment=environment, actor=actor_of(request))
    except ServiceError as error:
        messages.error(request, str(error))
    return redirect("environments")


class PersonForm(forms.Form):
    username = forms.CharField(label=gettext_lazy("Name"), max_length=150)
    role = forms.ChoiceField(label=gettext_lazy("Role"), choices=Membership.Role.choices)
    environment = forms.ModelChoiceField(
        Environment.objects.all(), label=gettext_lazy("Where"), required=False, empty_label=gettext_lazy("everywhere")
    )


def people(request: HttpRequest) -> HttpResponse:
    form = PersonForm(request.POST or None)
    link = ""
    if request.method == "POST" and form.is_valid():
        try:
            membership = accounts.set_role(**form.cleaned_data, actor=actor_of(request))
        except ServiceError as error:
            show_refusal(form, error)
        else:
            if not membership.user.has_usable_password():
                link = accounts.sign_in_url(username=membership.user.username, actor=actor_of(request))
            form = PersonForm()
    memberships = Membership.objects.select_related("user", "environment").order_by("user__username")
    context = {"form": form, "memberships": memberships, "link": link}
    return render(request, "people.html", context, status=422 if form.errors else 200)


def remove_person(request: HttpRequest, pk: int) -> HttpResponse:
    membership = get_object_or_404(Membership.objects.select_related("user", "environment"), pk=pk)
    try:
        accounts.remove_role(membership=membership, actor=actor_of(request))
    except ServiceError as error:
        messages.error(request, str(error))
    return redirect("people")


class TokenForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("What it is for"), max_length=100)
    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("What it may do"),
        choices=[(verb, verb) for verb in VERBS],
        initial=["view"],
        widget=forms.CheckboxSelectMultiple,
    )
    days = forms.IntegerField(label=gettext_lazy("Valid for how many days"), initial=90, min_value=1, max_value=730)


def tokens(request: HttpRequest) -> HttpResponse:
    """One's own tokens. A new one's value is shown in this answer alone."""
    actor = actor_of(request)
    assert actor.user is not None
    form = TokenForm(request.POST or None)
    value = ""
    if request.method == "POST" and form.is_valid():
        expires_at = timezone.now() + timedelta(days=form.cleaned_data["days"])
        try:
            _token, value = accounts.create_token(
                user=actor.user,
                name=form.cleaned_data["name"],
                scopes=form.cleaned_data["scopes"],
                expires_at=expires_at,
                actor=actor,
            )
        except ServiceError as error:
            show_refusal(form, error)
        else:
            form = TokenForm()
    mine = APIToken.objects.filter(user=actor.user, revoked_at=None)
    context = {"form": form, "tokens": mine, "value": value, "now": timezone.now()}
    return render(request, "tokens.html", context, status=422 if form.errors else 200)


def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(APIToken, pk=pk, user=request.user)
    accounts.revoke_token(token=token, actor=actor_of(request))
    messages.success(request, _("The token is revoked."))
    return redirect("tokens")


def activity(request: HttpRequest) -> HttpResponse:
    found = audit_visible_to(request.user)
    if actor := request.GET.get("actor"):
        found = found.filter(actor=actor)
    if verb := request.GET.get("verb"):
        found = found.filter(verb__startswith=verb)
    page = Paginator(found, 100).get_page(request.GET.get("page"))
    return render(request, "activity.html", {"page": page, "now": timezone.now()})


def system(request: HttpRequest) -> HttpResponse:
    return render(request, "system.html", {"facts": system_facts(timezone.now()), "now": timezone.now()})
