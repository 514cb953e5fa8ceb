"""How a cluster and the fleet look in JSON: the read model of the fleet page, and its filters."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from clusters_app.flux.freshness import Freshness
from clusters_app.models import ClusterStatus
from clusters_app.queries.fleet import STANDINGS, Filters

from .base import Strict
from .paging import PageQuery


class CountsShape(serializers.Serializer[Any]):
    """Objects by how they stand; those of a cluster that is not seen lately are `unseen` and nothing else."""

    ready = serializers.IntegerField()
    failing = serializers.IntegerField()
    waiting = serializers.IntegerField()
    suspended = serializers.IntegerField()
    unseen = serializers.IntegerField()
    total = serializers.IntegerField()


class ClusterStatusShape(serializers.Serializer[Any]):
    standing = serializers.ChoiceField(choices=STANDINGS)
    freshness = serializers.ChoiceField(choices=[str(each) for each in Freshness])
    connection = serializers.ChoiceField(source="status.connection", choices=ClusterStatus.Connection.choices)
    problem_code = serializers.CharField(source="status.problem_code")
    problem = serializers.CharField(source="status.problem")
    observed_at = serializers.DateTimeField(source="status.observed_at", allow_null=True)
    kubernetes_version = serializers.CharField(source="status.kubernetes_version")
    flux_version = serializers.CharField(source="status.flux_version")
    counts = CountsShape()
    head = serializers.CharField(source="status.head")
    fetched = serializers.CharField(source="status.fetched")
    applied = serializers.CharField(source="status.applied")
    healthy = serializers.CharField(source="status.healthy")
    commits_behind = serializers.IntegerField(source="status.commits_behind", allow_null=True)
    behind_since = serializers.DateTimeField(source="status.behind_since", allow_null=True)
    cause = serializers.CharField(source="status.cause")
    cause_object = serializers.CharField(source="status.cause_object")


class ClusterShape(serializers.Serializer[Any]):
    """The same standing, freshness and counts as the board's row (`queries.fleet.ClusterRow`)."""

    name = serializers.CharField(source="cluster.name")
    environment = serializers.CharField(source="cluster.environment.name")
    repository = serializers.CharField(source="cluster.repository.name")
    sync_path = serializers.CharField(source="cluster.sync_path")
    labels = serializers.DictField(source="cluster.labels", child=serializers.CharField())
    server = serializers.CharField(source="cluster.server")
    badge = serializers.CharField(source="cluster.badge")
    is_paused = serializers.BooleanField(source="cluster.is_paused")
    status = ClusterStatusShape(source="*")


class BriefClusterShape(serializers.Serializer[Any]):
    name = serializers.CharField(source="cluster.name")
    standing = serializers.ChoiceField(choices=STANDINGS)
    freshness = serializers.ChoiceField(choices=[str(each) for each in Freshness])


class EnvironmentGroupShape(serializers.Serializer[Any]):
    name = serializers.CharField(source="environment.name")
    counts = CountsShape()
    clusters = BriefClusterShape(source="rows", many=True)


class FleetShape(serializers.Serializer[Any]):
    clusters = serializers.IntegerField()
    is_unwatched = serializers.BooleanField(help_text="something should be observed and nobody does")
    seen_at = serializers.DateTimeField(allow_null=True)
    causes = serializers.IntegerField()
    counts = CountsShape()
    environments = EnvironmentGroupShape(source="groups", many=True)


class FleetQuery(Strict):
    """The filters of the fleet page."""

    environment = serializers.CharField(max_length=63, default="", allow_blank=True)
    standing = serializers.ChoiceField(choices=STANDINGS, default="", allow_blank=True)
    freshness = serializers.ChoiceField(
        choices=[*(str(each) for each in Freshness), "unseen"], default="", allow_blank=True
    )
    behind = serializers.ChoiceField(choices=["0", "1"], default="0", help_text="1: only those behind Git")
    q = serializers.CharField(max_length=200, default="", allow_blank=True, help_text="part of a name or sync path")
    label = serializers.ListField(  # type: ignore[assignment]
        child=serializers.CharField(max_length=300), default=list, max_length=20, help_text="key=value, repeatable"
    )

    def validate_label(self, labels: list[str]) -> list[str]:
        if any("=" not in label for label in labels):
            raise serializers.ValidationError(_("A label is written key=value."))
        return labels


class ClusterQuery(FleetQuery, PageQuery):
    pass


def filters_of(asked: dict[str, Any]) -> Filters:
    return Filters(
        environment=asked["environment"],
        standing=asked["standing"],
        freshness=asked["freshness"],
        is_behind=asked["behind"] == "1",
        text=asked["q"],
        labels=dict(label.split("=", 1) for label in asked["label"]),
    )
