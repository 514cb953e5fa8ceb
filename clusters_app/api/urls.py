"""Addresses of the API. Each name has its verbs in `api/access.py`."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from . import (
    schema,  # noqa: F401  importing is registering
    views,
)

urlpatterns = [
    path("schema", SpectacularAPIView.as_view(), name="api-schema"),
    path("docs", SpectacularSwaggerSplitView.as_view(url_name="api-schema"), name="api-docs"),
    path("fleet", views.Fleet.as_view(), name="api-fleet"),
    path("environments", views.Environments.as_view(), name="api-environments"),
    path("environments/order", views.EnvironmentOrder.as_view(), name="api-environment-order"),
    path("environments/<str:name>", views.OneEnvironment.as_view(), name="api-environment"),
    path("repositories", views.Repositories.as_view(), name="api-repositories"),
    path("repositories/<str:name>", views.OneRepository.as_view(), name="api-repository"),
    path("repositories/<str:name>/refresh", views.RepositoryRefresh.as_view(), name="api-repository-refresh"),
    path("repositories/<str:name>/scaffold", views.RepositoryScaffold.as_view(), name="api-repository-scaffold"),
    path("repositories/<str:name>/reviews", views.Reviews.as_view(), name="api-repository-reviews"),
    path(
        "repositories/<str:name>/reviews/<int:number>/merge",
        views.ReviewMerge.as_view(),
        name="api-repository-review-merge",
    ),
    path(
        "repositories/<str:name>/reviews/<int:number>/close",
        views.ReviewClose.as_view(),
        name="api-repository-review-close",
    ),
    path("clusters", views.Clusters.as_view(), name="api-clusters"),
    path("clusters/read-role.yaml", views.ClusterManifest.as_view(), name="api-cluster-manifest"),
    path("clusters/<str:name>", views.OneCluster.as_view(), name="api-cluster"),
    path("clusters/<str:name>/refresh", views.ClusterRefresh.as_view(), name="api-cluster-refresh"),
    path("clusters/<str:name>/token", views.ClusterToken.as_view(), name="api-cluster-token"),
    path("objects", views.Objects.as_view(), name="api-objects"),
    path("objects/<int:pk>", views.OneObject.as_view(), name="api-object"),
    path("problems", views.Problems.as_view(), name="api-problems"),
    path("apps", views.Apps.as_view(), name="api-apps"),
    path("apps/<str:name>", views.OneApp.as_view(), name="api-app"),
    path("releases", views.Releases.as_view(), name="api-releases"),
    path("promotions", views.Promotions.as_view(), name="api-promotions"),
    path("promotions/<int:pk>", views.OnePromotion.as_view(), name="api-promotion"),
    path("promotions/<int:pk>/abort", views.PromotionAbort.as_view(), name="api-promotion-abort"),
    path("promotions/<int:pk>/retry", views.PromotionRetry.as_view(), name="api-promotion-retry"),
    path("operations/<int:pk>", views.OneOperation.as_view(), name="api-operation"),
    path("events", views.Events.as_view(), name="api-events"),
    path("tokens", views.Tokens.as_view(), name="api-tokens"),
    path("tokens/<int:pk>", views.OneToken.as_view(), name="api-token"),
    path("system", views.System.as_view(), name="api-system"),
]
