"""Clusters: how they stand, registering, reading again, a new token, removing."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from clusters_app.kube.manifest import read_role_manifest
from clusters_app.models import Cluster
from clusters_app.queries import clusters_visible_to, environments_visible_to, repositories_visible_to
from clusters_app.queries.fleet import cluster_row, fleet_board
from clusters_app.secret import Secret
from clusters_app.services import clusters

from .base import Strict, View, accepted, named
from .cluster_shapes import ClusterQuery, ClusterShape, filters_of
from .etags import refuse_if_changed
from .once import once
from .operations import OperationShape
from .paging import page_of, page_of_names
from .schema import IF_MATCH


class NewClusterShape(Strict):
    """Either `kubeconfig`, or `server` with `ca_pem` and `token`."""

    name = serializers.CharField(max_length=63)
    environment = serializers.CharField(max_length=63)
    repository = serializers.CharField(max_length=63)
    sync_path = serializers.CharField(max_length=500)
    labels = serializers.DictField(child=serializers.CharField(max_length=200), default=dict)
    server = serializers.CharField(max_length=500, default="", allow_blank=True)
    ca_pem = serializers.CharField(max_length=200_000, default="", allow_blank=True)
    tls_server_name = serializers.CharField(max_length=253, default="", allow_blank=True)
    token = serializers.CharField(max_length=10_000, required=False, write_only=True)
    kubeconfig = serializers.CharField(max_length=256_000, default="", allow_blank=True, write_only=True)
    context = serializers.CharField(max_length=300, default="", allow_blank=True)  # type: ignore[assignment]
    accept_reason = serializers.CharField(
        max_length=200, default="", allow_blank=True, help_text="accepts a token that may do too much; stays as a badge"
    )


class NewClusterTokenShape(Strict):
    token = serializers.CharField(max_length=10_000, write_only=True)


class Clusters(View):
    @extend_schema(parameters=[ClusterQuery], responses=page_of(ClusterShape))
    def get(self, request: Request) -> Response:
        """By name in natural order. The same filters and standings as on the fleet page."""
        asked = self.asked(ClusterQuery)
        board = fleet_board(request.user, timezone.now(), filters_of(asked))
        rows = [row for group in board.groups for row in group.rows]
        return page_of_names(asked, rows, ClusterShape, lambda row: row.cluster.name)

    @extend_schema(request=NewClusterShape, responses={202: OperationShape})
    @once
    def post(self, request: Request) -> Response:
        """Check the connection line by line, then register. Nothing is stored of a refused cluster."""
        answers = self.body(NewClusterShape)
        environment = named(environments_visible_to(request.user), answers.pop("environment"), "environment")
        self.require("administer", environment)
        repository = named(repositories_visible_to(request.user), answers.pop("repository"), "repository")
        token = answers.pop("token", "").strip()
        registration = clusters.Registration(
            **answers, environment=environment, repository=repository, token=Secret(token) if token else None
        )
        return accepted(clusters.register_cluster(registration=registration, actor=self.actor))


class ClusterManifest(View):
    @extend_schema(responses={(200, "application/yaml"): OpenApiTypes.STR})
    def get(self, request: Request) -> HttpResponse:
        """The read role as YAML, for `kubectl apply -f -`."""
        return HttpResponse(read_role_manifest(), content_type="application/yaml")


class _OfOneCluster(View):
    def cluster(self, name: str, verb: str = "view") -> Cluster:
        found = get_object_or_404(clusters_visible_to(self.request.user), name=name)
        self.require(verb, found.environment)
        return found

    def shown(self, cluster: Cluster) -> dict[str, Any]:
        return ClusterShape(cluster_row(cluster, timezone.now())).data


class OneCluster(_OfOneCluster):
    @extend_schema(responses=ClusterShape)
    def get(self, request: Request, name: str) -> Response:
        return Response(self.shown(self.cluster(name)))

    @extend_schema(responses={204: None}, parameters=[IF_MATCH])
    def delete(self, request: Request, name: str) -> Response:
        """Forget it with its credential. Nothing is changed on the cluster itself."""
        found = self.cluster(name, "administer")
        refuse_if_changed(request, self.shown(found))
        clusters.remove_cluster(cluster=found, actor=self.actor)
        return Response(status=204)


class ClusterRefresh(_OfOneCluster):
    @extend_schema(request=None, responses={202: ClusterShape})
    @once
    def post(self, request: Request, name: str) -> Response:
        """Read it again as soon as a worker is free."""
        found = self.cluster(name, "operate")
        clusters.refresh_cluster(cluster=found, actor=self.actor)
        return Response(self.shown(found), status=202)


class ClusterToken(_OfOneCluster):
    @extend_schema(request=NewClusterTokenShape, responses={202: ClusterShape})
    @once
    def post(self, request: Request, name: str) -> Response:
        """Replace the token; the next round tells whether it works."""
        found = self.cluster(name, "administer")
        token = Secret(self.body(NewClusterTokenShape)["token"].strip())
        clusters.replace_token(cluster=found, token=token, actor=self.actor)
        return Response(self.shown(found), status=202)
