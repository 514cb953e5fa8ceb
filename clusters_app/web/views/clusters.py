"""Clusters: one cluster, registering, refreshing, a new token, removing."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from clusters_app.access import actor_of
from clusters_app.flux.verdicts import Control
from clusters_app.kube.manifest import read_role_manifest, token_command
from clusters_app.models import Environment, FluxObject, KindReading, Repository, StatusChange
from clusters_app.queries import can, environments_where, objects_visible_to, repositories_visible_to
from clusters_app.queries.fleet import cluster_row
from clusters_app.secret import Secret
from clusters_app.services import clusters
from clusters_app.services.errors import ServiceError
from clusters_app.web.access import cluster_for, cluster_for_reading
from clusters_app.web.forms import show_refusal
from clusters_app.web.words import HEALTH_LOOKS, WORST_FIRST


class RegisterForm(forms.Form):
    """The answers of all three steps on one page; the check that follows has a page of its own."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=63)
    environment = forms.ModelChoiceField(
        Environment.objects.none(), label=gettext_lazy("Environment"), empty_label=gettext_lazy("Choose one")
    )
    repository = forms.ModelChoiceField(
        Repository.objects.none(), label=gettext_lazy("Repository"), empty_label=gettext_lazy("Choose one")
    )
    sync_path = forms.CharField(
        label=gettext_lazy("Sync path"),
        max_length=500,
        help_text=gettext_lazy("The directory of the repository that this cluster follows, e.g. clusters/prod/prod-a"),
    )
    server = forms.CharField(
        label=gettext_lazy("API server"),
        max_length=500,
        required=False,
        widget=forms.TextInput(attrs={"placeholder": "https://10.0.0.1:6443"}),
    )
    ca_pem = forms.CharField(
        label=gettext_lazy("Its certificate authority (PEM)"), required=False, widget=forms.Textarea(attrs={"rows": 5})
    )
    token = forms.CharField(
        label=gettext_lazy("Token of the read role"), required=False, widget=forms.Textarea(attrs={"rows": 3})
    )
    kubeconfig = forms.CharField(
        label=gettext_lazy("Kubeconfig"), required=False, widget=forms.Textarea(attrs={"rows": 8})
    )
    context = forms.CharField(label=gettext_lazy("Context"), max_length=300, required=False)
    accept_reason = forms.CharField(
        label=gettext_lazy("Accept a token that may do too much, because"),
        max_length=200,
        required=False,
        help_text=gettext_lazy("Leave this empty. What you write becomes a badge of the cluster that stays."),
    )


def register(request: HttpRequest) -> HttpResponse:
    form = RegisterForm(request.POST or None, initial=request.GET.dict())
    form.fields["environment"].queryset = environments_where(request.user, "administer")  # type: ignore[attr-defined]
    form.fields["repository"].queryset = repositories_visible_to(request.user)  # type: ignore[attr-defined]
    form.fields["environment"].to_field_name = form.fields["repository"].to_field_name = "name"  # type: ignore[attr-defined]
    if request.method == "POST" and form.is_valid():
        answers = form.cleaned_data
        token = Secret(answers.pop("token").strip())
        registration = clusters.Registration(**answers, token=token or None)
        try:
            operation = clusters.register_cluster(registration=registration, actor=actor_of(request))
        except ServiceError as error:
            show_refusal(form, error)
        else:
            return redirect(operation)
    context = {
        "form": form,
        "manifest": read_role_manifest(),
        "token_command": token_command(),
    }
    return render(request, "cluster_register.html", context, status=422 if form.errors else 200)


def manifest(request: HttpRequest) -> HttpResponse:
    """The read role as a file: `kubectl apply -f <this>`."""
    del request
    return HttpResponse(read_role_manifest(), content_type="application/yaml")


def cluster(request: HttpRequest, name: str) -> HttpResponse:
    now = timezone.now()
    found = cluster_for_reading(request, name)
    objects = objects_visible_to(request.user).filter(cluster=found)
    readings = list(found.readings.order_by("kind"))
    context = {
        "row": cluster_row(found, now),
        "cluster": found,
        "status": found.status,
        "objects": sorted(objects, key=_worst_first),
        "readings": readings,
        "missing_kinds": [each.kind for each in readings if each.state == KindReading.State.MISSING],
        "changes": StatusChange.objects.filter(object__cluster=found).select_related("object", "object__cluster")[:15],
        "apps": found.apps_here.select_related("stage__app").order_by("stage__app__name"),
        "may_operate": can(request.user, "operate", found.environment),
        "may_administer": can(request.user, "administer", found.environment),
        "now": now,
    }
    template = "cluster.html#live" if request.htmx else "cluster.html"  # type: ignore[attr-defined]
    return render(request, template, context)


def _worst_first(row: FluxObject) -> tuple[bool, int, str, str, str]:
    look = "held" if row.control == Control.SUSPENDED else HEALTH_LOOKS.get(row.health, "none")
    return row.gone_at is not None, WORST_FIRST.index(look), row.kind, row.namespace, row.name


def refresh(request: HttpRequest, name: str) -> HttpResponse:
    found = cluster_for(request, name, "operate")
    clusters.refresh_cluster(cluster=found, actor=actor_of(request))
    messages.info(request, _("%(cluster)s is read again.") % {"cluster": found})
    return redirect(found)


class TokenForm(forms.Form):
    token = forms.CharField(label=gettext_lazy("New token of the read role"), widget=forms.Textarea(attrs={"rows": 3}))


def credential(request: HttpRequest, name: str) -> HttpResponse:
    found = cluster_for(request, name, "administer")
    form = TokenForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        token = Secret(form.cleaned_data["token"].strip())
        clusters.replace_token(cluster=found, token=token, actor=actor_of(request))
        messages.success(request, _("The token is stored; the next round tells whether it works."))
        return redirect(found)
    context = {"form": form, "cluster": found, "token_command": token_command()}
    return render(request, "cluster_credential.html", context, status=422 if form.errors else 200)


def remove(request: HttpRequest, name: str) -> HttpResponse:
    """Asks with the cluster's name; nothing is changed on the cluster itself."""
    found = cluster_for(request, name, "administer")
    if request.method == "POST" and request.POST.get("confirm") == found.name:
        clusters.remove_cluster(cluster=found, actor=actor_of(request))
        messages.success(request, _("%(cluster)s is forgotten. Nothing was changed on it.") % {"cluster": name})
        return redirect("fleet")
    is_wrong = request.method == "POST"
    return render(
        request, "cluster_remove.html", {"cluster": found, "is_wrong": is_wrong}, status=422 if is_wrong else 200
    )
