"""Apps as the matrix of the Apps page, and releases."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from clusters_app.models import App, AppOnCluster, Release
from clusters_app.queries import apps_visible_to, releases_visible_to
from clusters_app.queries.apps import AppRow, app_matrix
from clusters_app.services.errors import ServiceError

from .base import Strict, View
from .paging import PageQuery, page_of, page_of_names, page_of_rows

GAPS = ("same", "differs", "moving", "failed", "absent")


class PipShape(serializers.Serializer[Any]):
    """The app on one cluster."""

    name = serializers.CharField(source="cluster")
    state = serializers.ChoiceField(choices=AppOnCluster.State.choices)
    text = serializers.CharField()


class StageShape(serializers.Serializer[Any]):
    """The app in one environment: what Git says, and where it is live."""

    version = serializers.CharField(source="stage.version")
    commit = serializers.CharField(source="stage.commit")
    path = serializers.CharField(source="stage.path")
    changed_at = serializers.DateTimeField(source="stage.changed_at", allow_null=True)
    is_live = serializers.BooleanField(help_text="on every cluster")
    clusters = PipShape(source="pips", many=True)


class GapShape(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=GAPS)
    promotion = serializers.IntegerField(source="promotion.pk", allow_null=True, default=None)

    def get_fields(self) -> dict[str, Any]:
        ends = {
            "from": serializers.CharField(source="source.name"),
            "to": serializers.CharField(source="target.name"),
        }
        return {**ends, **super().get_fields()}


class AppShape(serializers.Serializer[Any]):
    name = serializers.CharField(source="app.name")
    repository = serializers.CharField(source="app.repository.name")
    environments = serializers.DictField(child=StageShape(), help_text="environment → what is there")
    gaps = GapShape(many=True)

    def to_representation(self, instance: AppRow) -> dict[str, Any]:
        found = {cell.stage.environment.name: cell for cell in instance.cells if cell}
        return {
            "name": instance.app.name,
            "repository": instance.app.repository.name,
            "environments": {name: StageShape(cell).data for name, cell in found.items()},
            "gaps": GapShape(instance.gaps, many=True).data,
        }


class ReleaseShape(serializers.ModelSerializer[Release]):
    environment = serializers.CharField(source="environment.name")
    repository = serializers.CharField(source="repository.name")
    commits = serializers.ListField(child=serializers.DictField(), help_text="[{sha, author, subject, at}]")

    class Meta:
        model = Release
        fields = (
            "id",
            "repository",
            "environment",
            "app_key",
            "version",
            "content_hash",
            "commit",
            "commits",
            "seen_at",
        )


class AppQuery(PageQuery):
    q = serializers.CharField(max_length=200, default="", allow_blank=True, help_text="part of the name")
    gap = serializers.ChoiceField(choices=GAPS, default="", allow_blank=True, help_text="only with such a gap")


class OneAppQuery(Strict):
    repository = serializers.CharField(max_length=63, default="", allow_blank=True)


class ReleaseQuery(PageQuery):
    app = serializers.CharField(max_length=400, default="", allow_blank=True)
    environment = serializers.CharField(max_length=63, default="", allow_blank=True)


class Apps(View):
    @extend_schema(parameters=[AppQuery], responses=page_of(AppShape))
    def get(self, request: Request) -> Response:
        """Version and liveness in each environment, gaps between neighbours; by name in natural order."""
        asked = self.asked(AppQuery)
        matrix = app_matrix(request.user, timezone.now(), text=asked["q"], only=asked["gap"])
        return page_of_names(asked, matrix.rows, AppShape, lambda row: f"{row.app.name} {row.app.repository.name}")


class OneApp(View):
    @extend_schema(parameters=[OneAppQuery], responses=AppShape)
    def get(self, request: Request, name: str) -> Response:
        app = apps_named(self, [name], self.asked(OneAppQuery)["repository"])[0]
        return Response(AppShape(app_matrix(request.user, timezone.now(), app=app).rows[0]).data)


def apps_named(view: View, names: Sequence[str], repository: str) -> list[App]:
    """The apps of these names in one repository: the one that is named, else the only one that has them."""
    found: list[App] = []
    for name in dict.fromkeys(names):
        rows = apps_visible_to(view.request.user).filter(name=name)
        if repository:
            rows = rows.filter(repository__name=repository)
        candidates = list(rows[:2])
        if not candidates:
            raise ServiceError(
                "not-found", _("There is no app %(name)s, or you may not see it.") % {"name": name}, field="app"
            )
        if len(candidates) > 1:
            raise ServiceError(
                "app.ambiguous",
                _("Several repositories have an app %(name)s.") % {"name": name},
                remedy=_("Name the repository."),
                field="repository",
            )
        found += candidates
    return found


class Releases(View):
    @extend_schema(parameters=[ReleaseQuery], responses=page_of(ReleaseShape))
    def get(self, request: Request) -> Response:
        """Every version of an app as it was seen in an environment, newest first."""
        asked = self.asked(ReleaseQuery)
        found = releases_visible_to(request.user)
        if asked["app"]:
            found = found.filter(app_key=asked["app"])
        if asked["environment"]:
            found = found.filter(environment__name=asked["environment"])
        return page_of_rows(asked, found, ReleaseShape)
