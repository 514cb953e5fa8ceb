"""Observed Flux objects with their verdict, and what of them is a problem."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from clusters_app.flux.verdicts import Control, Health
from clusters_app.models import ClusterStatus, FluxObject
from clusters_app.queries import objects_visible_to
from clusters_app.queries.fleet import STANDINGS
from clusters_app.queries.problems import problems, silences

from .base import View
from .paging import PageQuery, page_of, page_of_rows


class ExplanationShape(serializers.Serializer[Any]):
    """Why, and what to do next."""

    id = serializers.CharField(source="explain_id")
    cause = serializers.CharField(source="explain_cause")
    remedy = serializers.CharField(source="explain_remedy")
    command = serializers.CharField(source="explain_command")
    link = serializers.CharField(source="explain_link")


class NoticeShape(serializers.Serializer[Any]):
    code = serializers.CharField()
    text = serializers.CharField()


class ObjectShape(serializers.ModelSerializer[FluxObject]):
    cluster = serializers.CharField(source="cluster.name")
    notices = NoticeShape(many=True)
    explain = ExplanationShape(source="*")

    class Meta:
        model = FluxObject
        fields: tuple[str, ...] = (
            "id",
            "cluster",
            "kind",
            "namespace",
            "name",
            "health",
            "control",
            "settled_health",
            "heartbeat",
            "rule",
            "reason",
            "message",
            "revision",
            "applied",
            "attempted",
            "origin_revision",
            "deployed",
            "caused_by",
            "blocked_by",
            "failing_since",
            "changed_at",
            "evidence_at",
            "gone_at",
            "notices",
            "suspended_since",
            "suspended_by",
            "explain",
        )


class ObjectDetailShape(ObjectShape):
    document = serializers.SerializerMethodField(help_text="the allow-listed fields of the object")
    inventory = serializers.SerializerMethodField()

    class Meta(ObjectShape.Meta):
        fields = (*ObjectShape.Meta.fields, "document", "inventory")

    @extend_schema_field({"type": "object", "additionalProperties": True})
    def get_document(self, row: FluxObject) -> Any:
        return row.detail.document if hasattr(row, "detail") else {}

    @extend_schema_field({"type": "array", "items": {}})
    def get_inventory(self, row: FluxObject) -> Any:
        return row.detail.inventory if hasattr(row, "detail") else []


class ObjectQuery(PageQuery):
    cluster = serializers.CharField(max_length=63, default="", allow_blank=True)
    kind = serializers.CharField(max_length=63, default="", allow_blank=True)
    namespace = serializers.CharField(max_length=63, default="", allow_blank=True)
    name = serializers.CharField(max_length=253, default="", allow_blank=True)
    health = serializers.ChoiceField(choices=[str(each) for each in Health], default="", allow_blank=True)
    control = serializers.ChoiceField(choices=[str(each) for each in Control], default="", allow_blank=True)


#: Parameter → lookup. Nothing of a request becomes a lookup by itself.
OBJECT_FILTERS = {
    "cluster": "cluster__name",
    "kind": "kind",
    "namespace": "namespace",
    "name": "name",
    "health": "health",
    "control": "control",
}


class Objects(View):
    @extend_schema(parameters=[ObjectQuery], responses=page_of(ObjectShape))
    def get(self, request: Request) -> Response:
        """Those that are there now."""
        asked = self.asked(ObjectQuery)
        wanted = {lookup: asked[name] for name, lookup in OBJECT_FILTERS.items() if asked[name]}
        found = objects_visible_to(request.user).filter(gone_at=None, **wanted)
        return page_of_rows(asked, found, ObjectShape)


class OneObject(View):
    @extend_schema(responses=ObjectDetailShape)
    def get(self, request: Request, pk: int) -> Response:
        """With the stored document and inventory."""
        row = get_object_or_404(objects_visible_to(request.user).select_related("detail"), pk=pk)
        return Response(ObjectDetailShape(row).data)


class CauseExplanationShape(serializers.Serializer[Any]):
    id = serializers.CharField(source="explain_id")
    cause = serializers.CharField()
    remedy = serializers.CharField()
    command = serializers.CharField()
    link = serializers.CharField()


class CauseShape(serializers.Serializer[Any]):
    """One cause (`queries.problems.Problem`), however many objects wait for it."""

    subject = serializers.CharField(help_text="Kind/namespace/name of the root")
    health = serializers.ChoiceField(choices=[str(each) for each in Health])
    since = serializers.DateTimeField(allow_null=True)
    clusters = serializers.ListField(child=serializers.CharField())
    held = serializers.IntegerField(help_text="objects that wait for it")
    message = serializers.CharField()
    explain = CauseExplanationShape(source="*")


class SilenceShape(serializers.Serializer[Any]):
    cluster = serializers.CharField(source="cluster.name")
    standing = serializers.ChoiceField(choices=STANDINGS)
    since = serializers.DateTimeField(allow_null=True)
    connection = serializers.ChoiceField(source="status.connection", choices=ClusterStatus.Connection.choices)
    problem = serializers.CharField(source="status.problem")


class ProblemsShape(serializers.Serializer[Any]):
    items = CauseShape(many=True)
    silences = SilenceShape(many=True)
    next = serializers.CharField(allow_null=True, help_text="always null: causes come in one page")


class Problems(View):
    @extend_schema(responses=ProblemsShape)
    def get(self, request: Request) -> Response:
        """One item a cause, oldest first; clusters that are not seen lately stand in `silences`."""
        found = {"items": problems(request.user), "silences": silences(request.user, timezone.now()), "next": None}
        return Response(ProblemsShape(found).data)
