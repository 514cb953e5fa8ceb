"""Access helpers of the pages: the row that a URL names, if this person may see it and do this with it."""

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from clusters_app.models import App, Cluster, Environment, Promotion, Repository
from clusters_app.queries import (
    apps_visible_to,
    can,
    clusters_visible_to,
    environments_visible_to,
    promotions_visible_to,
    repositories_visible_to,
)


def require(request: HttpRequest, verb: str, environment: Environment | None) -> None:
    """PermissionDenied unless the person may do this there. What may not be seen was a 404 before."""
    if not can(request.user, verb, environment):
        raise PermissionDenied


def cluster_for_reading(request: HttpRequest, name: str) -> Cluster:
    return get_object_or_404(clusters_visible_to(request.user), name=name)


def cluster_for(request: HttpRequest, name: str, verb: str) -> Cluster:
    cluster = cluster_for_reading(request, name)
    require(request, verb, cluster.environment)
    return cluster


def repository_for_reading(request: HttpRequest, name: str) -> Repository:
    return get_object_or_404(repositories_visible_to(request.user), name=name)


def environment_for_reading(request: HttpRequest, name: str) -> Environment:
    return get_object_or_404(environments_visible_to(request.user), name=name)


def app_for_reading(request: HttpRequest, name: str) -> App:
    """An app by its name; with several repositories that have one, `?repository=` tells which, else the first."""
    apps = apps_visible_to(request.user).filter(name=name)
    if repository := request.GET.get("repository"):
        apps = apps.filter(repository__name=repository)
    return get_object_or_404(apps.order_by("repository__name")[:1])


def promotion_for_reading(request: HttpRequest, pk: int) -> Promotion:
    return get_object_or_404(promotions_visible_to(request.user), pk=pk)


def promotion_for(request: HttpRequest, pk: int, verb: str) -> Promotion:
    promotion = promotion_for_reading(request, pk)
    require(request, verb, promotion.target)
    return promotion
