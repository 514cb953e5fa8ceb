"""What `-o json` and `-o yaml` print of the database: the fields of the API, under the same names. Django is loaded."""

from clusters_app.commands.on_server import instant
from clusters_app.commands.output import Row, Value
from clusters_app.models import Environment, FluxObject, Promotion, Repository
from clusters_app.queries.fleet import Board, ClusterRow, Counts

_STATUS = ("problem_code", "problem", "kubernetes_version", "flux_version", "head", "fetched", "applied", "healthy")


def counts_document(counts: Counts) -> dict[str, Value]:
    names = ("ready", "failing", "waiting", "suspended", "unseen", "total")
    return {name: getattr(counts, name) for name in names}


def cluster_document(row: ClusterRow) -> dict[str, Value]:
    cluster, status = row.cluster, row.status
    return {
        "name": cluster.name,
        "environment": cluster.environment.name,
        "repository": cluster.repository.name,
        "sync_path": cluster.sync_path,
        "labels": cluster.labels,
        "server": cluster.server,
        "badge": cluster.badge,
        "is_paused": cluster.is_paused,
        "status": {
            "standing": row.standing,
            "freshness": str(row.freshness),
            "connection": status.connection,
            "observed_at": instant(status.observed_at),
            "counts": counts_document(row.counts),
            **{name: getattr(status, name) for name in _STATUS},
            "commits_behind": status.commits_behind,
            "behind_since": instant(status.behind_since),
            "cause": status.cause,
            "cause_object": status.cause_object,
        },
    }


def fleet_document(board: Board) -> dict[str, Value]:
    """As the API's fleet, with each cluster whole."""
    return {
        "clusters": board.clusters,
        "is_unwatched": board.is_unwatched,
        "seen_at": instant(board.seen_at),
        "causes": board.causes,
        "counts": counts_document(board.counts),
        "environments": [
            {
                "name": group.environment.name,
                "counts": counts_document(group.counts),
                "clusters": [cluster_document(row) for row in group.rows],
            }
            for group in board.groups
        ],
    }


def environment_document(environment: Environment) -> dict[str, Value]:
    return {name: getattr(environment, name) for name in ("name", "position", "is_production")}


def repository_document(repository: Repository) -> dict[str, Value]:
    return {
        **{name: getattr(repository, name) for name in ("name", "url", "branch", "forge", "head", "read_commit")},
        "head_at": instant(repository.head_at),
        "seen_at": instant(repository.seen_at),
        "is_empty": repository.is_empty,
        "problem_code": repository.problem_code,
        "problem": repository.problem,
    }


_PROMOTION = (
    "id",
    "slot",
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
    "problem_code",
    "problem",
)


def promotion_document(promotion: Promotion) -> dict[str, Value]:
    times = ("created_at", "opened_at", "merged_at", "verified_at")
    return {
        **{name: getattr(promotion, name) for name in _PROMOTION},
        "repository": promotion.repository.name,
        "source": promotion.source.name,
        "target": promotion.target.name,
        "requested_by": promotion.requested_by.get_username() if promotion.requested_by else None,
        **{name: instant(getattr(promotion, name)) for name in times},
        "superseded_by": promotion.superseded_by_id,
    }


def promotion_detail_document(promotion: Promotion) -> dict[str, Value]:
    """With its clusters, its timeline and its gates: three queries."""
    return {
        **promotion_document(promotion),
        "targets": [
            {
                "cluster": target.cluster_name,
                "state": target.state,
                "revision": target.revision,
                "text": target.text,
                "since": instant(target.since),
                "verified_at": instant(target.verified_at),
            }
            for target in promotion.targets.all()
        ],
        "events": [
            {
                "before": event.before,
                "after": event.after,
                "actor": event.actor,
                "why": event.why,
                "at": instant(event.at),
            }
            for event in promotion.events.all()
        ],
        "gates": [
            {
                "gate": result.gate,
                "passed": result.passed,
                "head": result.head,
                "text": result.text,
                "evidence": result.evidence,
                "at": instant(result.at),
            }
            for result in promotion.gate_results.all()
        ],
    }


def object_row(row: FluxObject, *, is_seen: bool) -> Row:
    """An object as `flux get` prints it. What is not seen lately is neither ready nor not."""
    document = row.detail.document if hasattr(row, "detail") else {}
    conditions = (document.get("status") or {}).get("conditions") or []
    ready: dict[str, Value] = next((each for each in conditions if each.get("type") == "Ready"), {})
    return {
        "kind": row.kind,
        "namespace": row.namespace,
        "name": row.name,
        "revision": row.revision,
        "suspended": row.control == "Suspended",
        "ready": (ready.get("status") or _ready_by_verdict(row.health)) if is_seen else "Unknown",
        "message": ready.get("message") or row.message,
        "health": row.health,
        "control": row.control,
        "explain": {"cause": row.explain_cause, "remedy": row.explain_remedy, "command": row.explain_command},
    }


def _ready_by_verdict(health: str) -> str:
    """For kinds that have no condition Ready; "" for those that have no state at all."""
    return {"Ready": "True", "Failing": "False", "Stalled": "False", "Static": ""}.get(health, "Unknown")
