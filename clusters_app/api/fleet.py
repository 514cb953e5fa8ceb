"""The whole at a glance: counts of the fleet, and of the installation itself."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from clusters_app.queries.fleet import fleet_board
from clusters_app.queries.system import system_facts

from .base import View
from .cluster_shapes import FleetQuery, FleetShape, filters_of


class Fleet(View):
    @extend_schema(parameters=[FleetQuery], responses=FleetShape)
    def get(self, request: Request) -> Response:
        """Counts of the fleet and of each environment; filters as on the page."""
        board = fleet_board(request.user, timezone.now(), filters_of(self.asked(FleetQuery)))
        return Response(FleetShape(board).data)


class SystemShape(serializers.Serializer[Any]):
    version = serializers.CharField()
    django_version = serializers.CharField()
    database = serializers.CharField()
    clusters = serializers.IntegerField()
    objects = serializers.IntegerField()
    repositories = serializers.IntegerField()
    last_round_at = serializers.DateTimeField(allow_null=True)
    slowest_round_seconds = serializers.FloatField(allow_null=True)
    mean_round_seconds = serializers.FloatField(allow_null=True)
    overdue_clusters = serializers.IntegerField(help_text="due for more than a minute: nobody works on them")
    waiting_operations = serializers.IntegerField()
    moving_promotions = serializers.IntegerField()
    stuck_promotions = serializers.IntegerField()
    audit_records = serializers.IntegerField()
    oldest_due_at = serializers.DateTimeField(allow_null=True)


class System(View):
    @extend_schema(responses=SystemShape)
    def get(self, request: Request) -> Response:
        """Work that waits, rounds, rows, versions."""
        return Response(SystemShape(system_facts(timezone.now())).data)
