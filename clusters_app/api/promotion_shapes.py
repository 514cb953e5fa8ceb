"""How a promotion and its plan look in JSON."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from clusters_app.models import GateResult, Promotion, PromotionEvent, PromotionTarget

from .base import Strict
from .paging import PageQuery

_PATH = "keys as texts; a list item as the fields that find it"


class EditShape(serializers.Serializer[Any]):
    """One planned change of one value, or of a whole file."""

    kind = serializers.CharField()
    file = serializers.CharField()
    path = serializers.ListField(help_text=_PATH)
    old = serializers.CharField(allow_null=True)
    new = serializers.CharField(allow_null=True)
    app = serializers.CharField()


class RemarkShape(serializers.Serializer[Any]):
    """A difference that is not carried over: kept on purpose, asked about (answer with its `id`), or refused."""

    id = serializers.CharField()
    code = serializers.CharField()
    app = serializers.CharField()
    file = serializers.CharField()
    path = serializers.ListField(help_text=_PATH)
    source = serializers.CharField(allow_null=True)  # type: ignore[assignment]
    target = serializers.CharField(allow_null=True)
    why = serializers.CharField()
    remedy = serializers.CharField()


class FileDifferenceShape(serializers.Serializer[Any]):
    file = serializers.CharField()
    lines = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField(allow_blank=True)), help_text="[mark, text]"
    )


class PlanShape(serializers.Serializer[Any]):
    """Fields are left out of promotions whose plan was stored before they existed."""

    apps = serializers.ListField(child=serializers.CharField(), required=False)
    release = serializers.CharField(required=False)
    adoption = serializers.BooleanField(required=False, help_text="no earlier promotion was found")
    edits = EditShape(many=True, required=False)
    kept = RemarkShape(many=True, required=False)
    asks = RemarkShape(many=True, required=False)
    refusals = RemarkShape(many=True, required=False)
    hash = serializers.CharField(required=False)
    diff = FileDifferenceShape(many=True, required=False)
    clusters = serializers.ListField(child=serializers.CharField(), required=False)

    def get_fields(self) -> dict[str, Any]:
        ends = {name: serializers.CharField(required=False) for name in ("from", "to")}
        return {**super().get_fields(), **ends}

    def to_representation(self, instance: dict[str, Any]) -> dict[str, Any]:
        return instance


class PlannedShape(serializers.Serializer[Any]):
    """What would be opened, or (`state` NoChange) that nothing differs. Nothing was written."""

    dry_run = serializers.BooleanField(required=False)
    state = serializers.ChoiceField(choices=[Promotion.State.NO_CHANGE.value], required=False)
    base = serializers.CharField(help_text="the commit that the plan was made on")
    plan = PlanShape()


class TargetShape(serializers.ModelSerializer[PromotionTarget]):
    cluster = serializers.CharField(source="cluster_name")

    class Meta:
        model = PromotionTarget
        fields = ("cluster", "state", "revision", "text", "since", "verified_at")


class PromotionEventShape(serializers.ModelSerializer[PromotionEvent]):
    class Meta:
        model = PromotionEvent
        fields = ("before", "after", "actor", "why", "at")


class GateShape(serializers.ModelSerializer[GateResult]):
    evidence = serializers.DictField()

    class Meta:
        model = GateResult
        fields = ("gate", "passed", "head", "text", "evidence", "at")


class PromotionShape(serializers.ModelSerializer[Promotion]):
    repository = serializers.CharField(source="repository.name")
    source = serializers.CharField(source="source.name")  # type: ignore[assignment]
    target = serializers.CharField(source="target.name")
    plan = PlanShape()
    requested_by = serializers.CharField(source="requested_by.username", default=None, allow_null=True)

    class Meta:
        model = Promotion
        fields: tuple[str, ...] = (
            "id",
            "repository",
            "slot",
            "source",
            "target",
            "state",
            "version_before",
            "version_after",
            "plan",
            "plan_hash",
            "base",
            "branch",
            "head",
            "pull_request_number",
            "pull_request_url",
            "merge_commit",
            "requested_by",
            "created_at",
            "opened_at",
            "merged_at",
            "verified_at",
            "problem_code",
            "problem",
            "superseded_by",
        )


class PromotionDetailShape(PromotionShape):
    targets = TargetShape(many=True)
    events = PromotionEventShape(many=True)
    gates = GateShape(source="gate_results", many=True)

    class Meta(PromotionShape.Meta):
        fields = (*PromotionShape.Meta.fields, "targets", "events", "gates")


class NewPromotionShape(Strict):
    """`app` is one name, or several in `apps` for a promotion that carries all or nothing."""

    app = serializers.CharField(max_length=100, required=False)
    apps = serializers.ListField(child=serializers.CharField(max_length=100), required=False, max_length=50)
    repository = serializers.CharField(max_length=63, required=False)
    dry_run = serializers.BooleanField(default=False)
    answers = serializers.ListField(
        child=serializers.CharField(max_length=64), default=list, max_length=1000, help_text="ids of `asks` to carry"
    )

    def get_fields(self) -> dict[str, Any]:
        ends = {name: serializers.CharField(max_length=63) for name in ("from", "to")}
        return {**super().get_fields(), **ends}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if bool(attrs.get("app")) is bool(attrs.get("apps")):
            raise serializers.ValidationError({"app": [_("Name one app, or several in apps.")]})
        return attrs


class PromotionQuery(PageQuery):
    state = serializers.ChoiceField(
        choices=[*Promotion.State.values, "moving"], default="", allow_blank=True, help_text="moving: on its way"
    )
    app = serializers.CharField(max_length=100, default="", allow_blank=True)
    to = serializers.CharField(max_length=63, default="", allow_blank=True)
