"""Repositories: adding one, what the graph found in it, scaffolding, and reviews of the `local` forge."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from clusters_app.access import actor_of
from clusters_app.models import AppStage, Promotion
from clusters_app.queries import can, clusters_visible_to, repositories_visible_to
from clusters_app.queries.reviews import environment_of_review, reviews_visible_to
from clusters_app.secret import Secret
from clusters_app.services import repositories as services
from clusters_app.services import reviews, scaffolding
from clusters_app.services.errors import ServiceError
from clusters_app.web.access import repository_for_reading, require
from clusters_app.web.forms import show_refusal
from clusters_app.web.scaffold_form import ScaffoldForm, answers_of, first_lines


class AddForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=63)
    url = forms.CharField(
        label=gettext_lazy("URL"),
        max_length=500,
        help_text=gettext_lazy("The address to clone from, e.g. https://git.example/platform/fleet.git"),
    )
    branch = forms.CharField(label=gettext_lazy("Branch that clusters follow"), max_length=200, initial="main")
    username = forms.CharField(label=gettext_lazy("User name"), max_length=100, required=False)
    token = forms.CharField(
        label=gettext_lazy("Token"),
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=gettext_lazy("It may read and write this repository and its pull requests, and nothing else."),
    )
    ca_pem = forms.CharField(
        label=gettext_lazy("Certificate authority of the host (PEM), when it is a private one"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
    )


def repositories(request: HttpRequest) -> HttpResponse:
    context = {
        "repositories": repositories_visible_to(request.user),
        "may_add": can(request.user, "administer"),
        "now": timezone.now(),
    }
    return render(request, "repositories.html", context)


def add(request: HttpRequest) -> HttpResponse:
    form = AddForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        answers = form.cleaned_data
        token = Secret(answers.pop("token").strip())
        try:
            operation = services.add_repository(**answers, token=token or None, actor=actor_of(request))
        except ServiceError as error:
            show_refusal(form, error)
        else:
            return redirect(operation)
    return render(request, "repository_add.html", {"form": form}, status=422 if form.errors else 200)


def repository(request: HttpRequest, name: str) -> HttpResponse:
    found = repository_for_reading(request, name)
    stages = AppStage.objects.filter(app__repository=found, app__is_gone=False).select_related("app", "environment")
    context = {
        "repository": found,
        "clusters": clusters_visible_to(request.user).filter(repository=found),
        "stages": stages.order_by("app__name", "environment__position"),
        "reviews": reviews_visible_to(request.user, found)[:20],
        "may_edit": can(request.user, "edit"),
        "may_operate": can(request.user, "operate"),
        "now": timezone.now(),
    }
    return render(request, "repository.html", context)


def refresh(request: HttpRequest, name: str) -> HttpResponse:
    found = repository_for_reading(request, name)
    services.refresh_repository(repository=found, actor=actor_of(request))
    messages.info(request, _("%(repository)s is read again.") % {"repository": found})
    return redirect(found)


def scaffold(request: HttpRequest, name: str) -> HttpResponse:
    """The questions with the tree beside them; POST opens the pull request."""
    found = repository_for_reading(request, name)
    form = ScaffoldForm(request.POST or None, initial=first_lines(found))
    if request.method == "POST" and form.is_valid():
        try:
            answers = answers_of(request.POST)
            operation = scaffolding.scaffold_repository(repository=found, answers=answers, actor=actor_of(request))
        except ServiceError as error:
            show_refusal(form, error)
        else:
            return redirect(operation)
    context = {"repository": found, "form": form}
    return render(request, "scaffold.html", context, status=422 if form.errors else 200)


def scaffold_preview(request: HttpRequest, name: str) -> HttpResponse:
    """The tree and each file's text for the answers as they are now."""
    found = repository_for_reading(request, name)
    try:
        preview = scaffolding.preview_scaffold(repository=found, answers=answers_of(request.POST))
    except ServiceError as error:
        return render(request, "partials/scaffold_preview.html", {"error": error})
    files = [{"path": path, "text": data.decode(errors="replace")} for path, data in sorted(preview.plan.files.items())]
    return render(request, "partials/scaffold_preview.html", {"preview": preview, "files": files})


def review(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """A pull request of the `local` forge: what changes, the gates, merge or close."""
    found = repository_for_reading(request, name)
    row = get_object_or_404(reviews_visible_to(request.user, found), number=number)
    promotion = Promotion.objects.filter(repository=found, pull_request_number=number).order_by("-pk").first()
    context = {
        "repository": found,
        "review": row,
        "promotion": promotion,
        "difference": reviews.difference(repository=found, review=row),
        "may_merge": can(request.user, "approve", environment_of_review(row)),
        "held_by": reviews.held_by(promotion) if promotion else "",
        "now": timezone.now(),
    }
    return render(request, "review.html", context)


def merge_review(request: HttpRequest, name: str, number: int) -> HttpResponse:
    return _act(request, name, number, reviews.merge_review, _("The merge is on its way."))


def close_review(request: HttpRequest, name: str, number: int) -> HttpResponse:
    return _act(request, name, number, reviews.close_review, _("The pull request is being closed."))


def _act(request: HttpRequest, name: str, number: int, act: object, done: str) -> HttpResponse:
    found = repository_for_reading(request, name)
    row = get_object_or_404(reviews_visible_to(request.user, found), number=number)
    require(request, "approve", environment_of_review(row))
    try:
        operation = act(repository=found, review=row, head=request.POST.get("head", ""), actor=actor_of(request))  # type: ignore[operator]
    except ServiceError as error:
        messages.error(request, str(error))
        return redirect(row)
    messages.info(request, done)
    return redirect(operation)
