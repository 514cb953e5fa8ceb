"""How each thing looks in JSON. Output first, then what requests carry."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from clusters_app.models import (
    APIToken,
    App,
    AuditRecord,
    Cluster,
    Environment,
    FluxObject,
    GateResult,
    LocalPullRequest,
    Operation,
    Promotion,
    PromotionEvent,
    PromotionTarget,
    Release,
    Repository,
)
from clusters_app.queries import VERBS
from clusters_app.queries.fleet import cluster_row


class EnvironmentShape(serializers.ModelSerializer[Environment]):
    class Meta:
        model = Environment
        fields = ("name", "position", "is_production")


class RepositoryShape(serializers.ModelSerializer[Repository]):
    is_empty = serializers.BooleanField(read_only=True)

    class Meta:
        model = Repository
        fields = [
            "name",
            "url",
            "branch",
            "forge",
            "head",
            "head_at",
            "read_commit",
            "seen_at",
            "is_empty",
            "problem_code",
            "problem",
        ]


class ReviewShape(serializers.ModelSerializer[LocalPullRequest]):
    url = serializers.CharField(source="get_absolute_url", read_only=True)

    class Meta:
        model = LocalPullRequest
        fields = ("number", "title", "body", "state", "head_branch", "head", "merge_commit", "created_at", "url")


class ClusterShape(serializers.ModelSerializer[Cluster]):
    """The same standing, freshness and counts as the board's row, from the same function."""

    environment = serializers.CharField(source="environment.name")
    repository = serializers.CharField(source="repository.name")
    status = serializers.SerializerMethodField()

    class Meta:
        model = Cluster
        fields = ("name", "environment", "repository", "sync_path", "labels", "server", "badge", "is_paused", "status")

    def get_status(self, cluster: Cluster) -> dict[str, Any]:
        row = cluster_row(cluster, timezone.now())
        status = row.status
        return {
            "standing": row.standing,
            "freshness": str(row.freshness),
            "connection": status.connection,
            "problem_code": status.problem_code,
            "problem": status.problem,
            "observed_at": status.observed_at,
            "kubernetes_version": status.kubernetes_version,
            "flux_version": status.flux_version,
            "counts": {
                "ready": row.counts.ready,
                "failing": row.counts.failing,
                "waiting": row.counts.waiting,
                "suspended": row.counts.suspended,
                "unseen": row.counts.unseen,
                "total": row.counts.total,
            },
            "head": status.head,
            "fetched": status.fetched,
            "applied": status.applied,
            "healthy": status.healthy,
            "commits_behind": status.commits_behind,
            "behind_since": status.behind_since,
            "cause": status.cause,
            "cause_object": status.cause_object,
        }


class ObjectShape(serializers.ModelSerializer[FluxObject]):
    cluster = serializers.CharField(source="cluster.name")
    explain = serializers.SerializerMethodField()

    class Meta:
        model = FluxObject
        fields = [
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
        ]

    def get_explain(self, row: FluxObject) -> dict[str, str]:
        return {
            "id": row.explain_id,
            "cause": row.explain_cause,
            "remedy": row.explain_remedy,
            "command": row.explain_command,
            "link": row.explain_link,
        }


class ReleaseShape(serializers.ModelSerializer[Release]):
    environment = serializers.CharField(source="environment.name")
    repository = serializers.CharField(source="repository.name")

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


class TargetShape(serializers.ModelSerializer[PromotionTarget]):
    cluster = serializers.CharField(source="cluster_name")

    class Meta:
        model = PromotionTarget
        fields = ("cluster", "state", "revision", "text", "since", "verified_at")


class EventShape(serializers.ModelSerializer[PromotionEvent]):
    class Meta:
        model = PromotionEvent
        fields = ("before", "after", "actor", "why", "at")


class GateShape(serializers.ModelSerializer[GateResult]):
    class Meta:
        model = GateResult
        fields = ("gate", "passed", "head", "text", "evidence", "at")


class PromotionShape(serializers.ModelSerializer[Promotion]):
    repository = serializers.CharField(source="repository.name")
    source = serializers.CharField(source="source.name")
    target = serializers.CharField(source="target.name")
    requested_by = serializers.CharField(source="requested_by.username", default=None)

    class Meta:
        model = Promotion
        fields = [
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
        ]


class PromotionDetailShape(PromotionShape):
    targets = TargetShape(many=True)
    events = EventShape(many=True)
    gates = GateShape(source="gate_results", many=True)

    class Meta(PromotionShape.Meta):
        fields = [*PromotionShape.Meta.fields, "targets", "events", "gates"]


class OperationShape(serializers.ModelSerializer[Operation]):
    class Meta:
        model = Operation
        fields = ("id", "kind", "subject", "state", "steps", "result", "problem", "created_at", "finished_at")


class AuditShape(serializers.ModelSerializer[AuditRecord]):
    class Meta:
        model = AuditRecord
        fields = ("id", "at", "actor", "token", "address", "verb", "subject", "outcome", "detail", "digest")


class TokenShape(serializers.ModelSerializer[APIToken]):
    class Meta:
        model = APIToken
        fields = ("id", "name", "prefix", "scopes", "created_at", "expires_at", "last_used_at")


class AppShape(serializers.ModelSerializer[App]):
    repository = serializers.CharField(source="repository.name")

    class Meta:
        model = App
        fields = ("name", "repository")


# --- what requests carry --------------------------------------------------------------------------------------------


class Strict(serializers.Serializer[Any]):
    """Unknown fields are mistakes, not noise."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := sorted(set(data) - set(self.fields))):
            raise serializers.ValidationError({unknown[0]: ["Unknown field."]})
        return super().to_internal_value(data)


class NewEnvironment(Strict):
    name = serializers.CharField(max_length=63)
    is_production = serializers.BooleanField(required=False, allow_null=True, default=None)


class EnvironmentOrder(Strict):
    names = serializers.ListField(child=serializers.CharField(max_length=63), max_length=100)


class NewRepository(Strict):
    name = serializers.CharField(max_length=63)
    url = serializers.CharField(max_length=500)
    branch = serializers.CharField(max_length=200, default="main")
    username = serializers.CharField(max_length=100, default="", allow_blank=True)
    token = serializers.CharField(max_length=2000, required=False, write_only=True)
    ca_pem = serializers.CharField(max_length=200_000, default="", allow_blank=True)


class Scaffold(Strict):
    answers = serializers.JSONField()  # type: ignore[assignment]
    dry_run = serializers.BooleanField(default=False)


class NewCluster(Strict):
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
    accept_reason = serializers.CharField(max_length=200, default="", allow_blank=True)


class NewClusterToken(Strict):
    token = serializers.CharField(max_length=10_000, write_only=True)


class NewPromotion(Strict):
    """`app` is one name, or several in `apps` for a promotion that carries all or nothing."""

    app = serializers.CharField(max_length=100, required=False)
    apps = serializers.ListField(child=serializers.CharField(max_length=100), required=False, max_length=50)
    repository = serializers.CharField(max_length=63, required=False)
    dry_run = serializers.BooleanField(default=False)
    answers = serializers.ListField(child=serializers.CharField(max_length=64), default=list, max_length=1000)

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        fields["from"] = serializers.CharField(max_length=63)
        fields["to"] = serializers.CharField(max_length=63)
        return fields

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if bool(attrs.get("app")) is bool(attrs.get("apps")):
            raise serializers.ValidationError({"app": ["Name one app, or several in apps."]})
        return attrs


class NewToken(Strict):
    name = serializers.CharField(max_length=100)
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=VERBS), min_length=1)
    days = serializers.IntegerField(min_value=1, max_value=730, default=90)


class ReviewHead(Strict):
    head = serializers.CharField(max_length=64, default="", allow_blank=True)
