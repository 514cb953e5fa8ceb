"""Addresses of the API. Each name has its needs in `clusters_app/access/table.py`."""

from django.urls import path, register_converter
from django.urls.converters import IntConverter

from . import (
    accounts,
    apps,
    clusters,
    environments,
    fleet,
    index,
    objects,
    operations,
    promotions,
    repositories,
    reviews,
)


class IdConverter(IntConverter):
    """A row's id: no more digits than a column of 64 bit takes, so that a longer one is simply absent."""

    regex = "[0-9]{1,18}"


register_converter(IdConverter, "id")

_REVIEW = "repositories/<str:name>/reviews/<id:number>"

urlpatterns = [
    path("", index.Index.as_view(), name="api-index"),
    path("schema", index.Schema.as_view(), name="api-schema"),
    path("docs", index.docs, name="api-docs"),
    path("fleet", fleet.Fleet.as_view(), name="api-fleet"),
    path("environments", environments.Environments.as_view(), name="api-environments"),
    path("environments/order", environments.EnvironmentOrder.as_view(), name="api-environment-order"),
    path("environments/<str:name>", environments.OneEnvironment.as_view(), name="api-environment"),
    path("repositories", repositories.Repositories.as_view(), name="api-repositories"),
    path("repositories/<str:name>", repositories.OneRepository.as_view(), name="api-repository"),
    path("repositories/<str:name>/refresh", repositories.RepositoryRefresh.as_view(), name="api-repository-refresh"),
    path("repositories/<str:name>/scaffold", repositories.RepositoryScaffold.as_view(), name="api-repository-scaffold"),
    path("repositories/<str:name>/reviews", reviews.Reviews.as_view(), name="api-repository-reviews"),
    path(_REVIEW, reviews.OneReview.as_view(), name="api-repository-review"),
    path(f"{_REVIEW}/merge", reviews.ReviewMerge.as_view(), name="api-repository-review-merge"),
    path(f"{_REVIEW}/close", reviews.ReviewClose.as_view(), name="api-repository-review-close"),
    path("clusters", clusters.Clusters.as_view(), name="api-clusters"),
    path("clusters/read-role.yaml", clusters.ClusterManifest.as_view(), name="api-cluster-manifest"),
    path("clusters/<str:name>", clusters.OneCluster.as_view(), name="api-cluster"),
    path("clusters/<str:name>/refresh", clusters.ClusterRefresh.as_view(), name="api-cluster-refresh"),
    path("clusters/<str:name>/token", clusters.ClusterToken.as_view(), name="api-cluster-token"),
    path("objects", objects.Objects.as_view(), name="api-objects"),
    path("objects/<id:pk>", objects.OneObject.as_view(), name="api-object"),
    path("problems", objects.Problems.as_view(), name="api-problems"),
    path("apps", apps.Apps.as_view(), name="api-apps"),
    path("apps/<str:name>", apps.OneApp.as_view(), name="api-app"),
    path("releases", apps.Releases.as_view(), name="api-releases"),
    path("promotions", promotions.Promotions.as_view(), name="api-promotions"),
    path("promotions/<id:pk>", promotions.OnePromotion.as_view(), name="api-promotion"),
    path("promotions/<id:pk>/abort", promotions.PromotionAbort.as_view(), name="api-promotion-abort"),
    path("promotions/<id:pk>/retry", promotions.PromotionRetry.as_view(), name="api-promotion-retry"),
    path("operations/<id:pk>", operations.OneOperation.as_view(), name="api-operation"),
    path("events", accounts.Events.as_view(), name="api-events"),
    path("tokens", accounts.Tokens.as_view(), name="api-tokens"),
    path("tokens/<id:pk>", accounts.OneToken.as_view(), name="api-token"),
    path("system", fleet.System.as_view(), name="api-system"),
]
