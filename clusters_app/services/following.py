"""After a round or a new commit: how far behind Git each cluster is, and how far each app has come on it.

Works on stored rows and the mirror alone. Runs where the mirrors are (the git queue).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache

from django.db import transaction
from django.utils import timezone

from clusters_app.git.mirror import Mirror
from clusters_app.models import AppOnCluster, Cluster, ClusterStatus, FluxObject, Promotion, Repository
from clusters_app.queries import freshness_of

from .nudges import nudge
from .progress import Contains, Progress, progress_of, source_commit_of
from .remotes import mirror_of

State = AppOnCluster.State


def follow_clusters(*, cluster_ids: Sequence[int]) -> None:
    """Recompute the revision chain and the apps of these clusters; nudges the promotions that wait for them."""
    now = timezone.now()
    clusters = Cluster.objects.filter(pk__in=cluster_ids).select_related("status", "repository")
    by_repository: dict[int, list[Cluster]] = {}
    for cluster in clusters:
        by_repository.setdefault(cluster.repository_id, []).append(cluster)
    for group in by_repository.values():
        _follow_group(group[0].repository, group, now)
    _nudge_promotions(cluster_ids)


def _follow_group(repository: Repository, clusters: Sequence[Cluster], now: datetime) -> None:
    mirror = mirror_of(repository)
    contains = contains_in(mirror)
    rows = _rows_by_cluster(clusters)
    placed = AppOnCluster.objects.filter(cluster__in=clusters).select_related("stage")
    apps: dict[int, list[AppOnCluster]] = {}
    for app in placed:
        apps.setdefault(app.cluster_id, []).append(app)
    for cluster in clusters:
        by_name = rows.get(cluster.pk, {})
        chain = _chain(cluster, repository, by_name, mirror)
        with transaction.atomic():
            ClusterStatus.objects.filter(pk=cluster.pk).update(**chain)
            for app in apps.get(cluster.pk, []):
                progress = cluster_progress(
                    cluster=cluster, commit=app.stage.commit, refs=app.refs, rows=by_name, contains=contains, now=now
                )
                _store_progress(app, progress, cluster.status.observed_at, now)


def contains_in(mirror: Mirror) -> Contains:
    """Whether the mirror's history has the first commit in the second; each pair is asked once."""

    @cache
    def contains(commit: str, revision: str) -> bool:
        return bool(commit and revision) and (commit == revision or mirror.is_ancestor(commit, revision))

    return contains


def _rows_by_cluster(clusters: Iterable[Cluster]) -> dict[int, dict[str, FluxObject]]:
    """Kustomizations, HelmReleases and sources of these clusters by `Kind/namespace/name`, in one query."""
    kinds = ("Kustomization", "HelmRelease", "GitRepository", "OCIRepository", "Bucket", "ExternalArtifact")
    found: dict[int, dict[str, FluxObject]] = {}
    for row in FluxObject.objects.filter(cluster__in=list(clusters), kind__in=kinds, gone_at=None):
        found.setdefault(row.cluster_id, {})[str(row)] = row
    return found


def cluster_progress(
    *,
    cluster: Cluster,
    commit: str,
    refs: Sequence[str],
    rows: dict[str, FluxObject],
    contains: Contains,
    now: datetime,
) -> Progress:
    """How far this commit has come on the cluster for the objects `refs` that Git wants there."""
    found = progress_of(
        commit=commit,
        rows=[rows[ref] for ref in refs if ref in rows],
        fetched=cluster.status.fetched,
        freshness=freshness_of(cluster.status, now),
        contains=contains,
    )
    missing = next((ref for ref in refs if ref not in rows), None)
    return Progress(State.APPLIED, found.revision, missing) if missing and found.state == State.LIVE else found


def _chain(cluster: Cluster, repository: Repository, rows: dict[str, FluxObject], mirror: Mirror) -> dict[str, object]:
    """head → fetched → applied → healthy of the sync path's own Kustomization, and what lies between."""
    namespace = cluster.flux_namespace
    root = rows.get(f"Kustomization/{namespace}/{namespace}")
    source = rows.get(f"GitRepository/{namespace}/{namespace}") or rows.get(f"OCIRepository/{namespace}/{namespace}")
    fetched = source_commit_of(source, source.revision) if source else ""
    applied = source_commit_of(root, root.applied) if root else ""
    healthy = source_commit_of(root, root.revision) if root else ""
    behind = _commits_behind(mirror, applied, repository.head)
    return {
        "head": repository.head,
        "fetched": fetched,
        "applied": applied,
        "healthy": healthy,
        "commits_behind": None if behind is None else len(behind),
        "behind_since": behind[-1] if behind else None,
    }


def _commits_behind(mirror: Mirror, applied: str, head: str) -> list[datetime] | None:
    """Times of the commits that the cluster lacks, newest first; None when that cannot be known."""
    if not applied or not head or not mirror.has(applied) or not mirror.has(head):
        return None
    return [commit.at for commit in mirror.log(applied, head)]


def _store_progress(app: AppOnCluster, progress: Progress, observed_at: datetime | None, now: datetime) -> None:
    state = progress.state
    if state == State.LIVE and not _is_seen_again(app, observed_at):
        state = State.APPLIED
    is_same_commit = app.commit == app.stage.commit
    if is_same_commit and app.state == State.FAILING and state in {State.FETCHED, State.APPLIED}:
        # Flux tries again and again: a failure that is being retried is a failure until it is live.
        return
    changed = (app.state, app.commit) != (state, app.stage.commit)
    if not changed and (app.revision, app.text) == (progress.revision, progress.text):
        return
    AppOnCluster.objects.filter(pk=app.pk).update(
        state=state,
        commit=app.stage.commit,
        revision=progress.revision,
        text=progress.text,
        since=now if changed else app.since,
    )


def _is_seen_again(app: AppOnCluster, observed_at: datetime | None) -> bool:
    """Whether a round that began after the commit was seen applied says live.

    The lists of one round are read side by side, so a HelmRelease may have been read just before its Kustomization
    changed it: its Ready is then about the version before.
    """
    if not any(ref.startswith("HelmRelease/") for ref in app.refs):
        return True
    was_applied = app.commit == app.stage.commit and app.state in {State.APPLIED, State.LIVE}
    return was_applied and app.since is not None and observed_at is not None and app.since < observed_at


def _nudge_promotions(cluster_ids: Sequence[int]) -> None:
    waiting = Promotion.objects.filter(
        state__in=(Promotion.State.MERGED, Promotion.State.ROLLING_OUT, Promotion.State.FAILED),
        targets__cluster__in=cluster_ids,
    )
    for pk in waiting.values_list("pk", flat=True).distinct():
        nudge("advance_promotion", pk)
