"""A new commit was read: what Git now wants of each app in each environment, and the releases that it brought."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from clusters_app.git.mirror import Mirror
from clusters_app.models import App, AppOnCluster, AppStage, Cluster, Environment, Promotion, Release, Repository
from clusters_app.repo.apps import AppNode, AppPlace
from clusters_app.repo.graph import FleetGraph
from clusters_app.repo.plan_model import path_as_json
from clusters_app.repo.release import promoted_values, release_of, version_of
from clusters_app.repo.tree import Tree, normal_directory

from .graphs import fleet_graph

#: Commits that a release names at most; the rest stay in Git.
MOST_COMMITS = 50
LONGEST_VERSION = 200


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the commit says of one app in one environment."""

    node: AppNode
    environment: Environment
    places: tuple[AppPlace, ...]
    version: str
    values: list[dict[str, object]]
    content_hash: str
    commit: str
    changed_at: datetime


def read_commit(*, repository: Repository, mirror: Mirror, commit: str) -> None:
    """Store apps, their stages and new releases as of this commit; the old ones stay until all of it is known.

    Cost: one graph, one walk of the history for each app and environment.
    """
    tree = mirror.tree(commit)
    graph = fleet_graph(repository, tree)
    environments = {environment.name: environment for environment in Environment.objects.all()}
    wanted = [
        _wanted(mirror, commit, tree, graph, node, environments[name])
        for node in graph.apps
        for name in node.environments
        if name in environments
    ]
    clusters = {normal_directory(cluster.sync_path): cluster for cluster in repository.clusters.all()}
    by_name = {
        node.name: clusters[path] for node in graph.clusters if (path := normal_directory(node.path)) in clusters
    }
    with transaction.atomic():
        for each in wanted:
            _store(repository, each, by_name, mirror)
        _mark_gone(repository, wanted)
        # Due at once: what waits for this commit should not wait for the sweep as well.
        Promotion.objects.filter(repository=repository, state__in=Promotion.MOVING_STATES).update(due_at=timezone.now())
        Repository.objects.filter(pk=repository.pk).update(read_commit=commit)


def _wanted(
    mirror: Mirror, commit: str, tree: Tree, graph: FleetGraph, node: AppNode, environment: Environment
) -> _Wanted:
    values = promoted_values(tree, graph, node.name, environment.name)
    places = node.environments[environment.name]
    files = sorted({path for place in places for path in place.files})
    newest = next(iter(mirror.log(None, commit, files, limit=1)), None) or mirror.describe(commit)
    return _Wanted(
        node=node,
        environment=environment,
        places=places,
        version=version_of(values)[:LONGEST_VERSION],
        values=[
            {
                "file": value.file,
                "path": path_as_json(value.path),
                "value": value.text,
                "kind": value.kind,
                "version": value.version,
                "name": value.name,
            }
            for value in values
        ],
        content_hash=release_of(tree, graph, [node.name], environment.name),
        commit=newest.sha,
        changed_at=newest.at,
    )


def _store(repository: Repository, wanted: _Wanted, clusters: dict[str, Cluster], mirror: Mirror) -> None:
    app, _created = App.objects.update_or_create(
        repository=repository, name=wanted.node.name, defaults={"is_gone": False}
    )
    before = AppStage.objects.filter(app=app, environment=wanted.environment).first()
    stage, _created = AppStage.objects.update_or_create(
        app=app,
        environment=wanted.environment,
        defaults={
            "path": wanted.places[0].path,
            "version": wanted.version,
            "values": wanted.values,
            "content_hash": wanted.content_hash,
            "commit": wanted.commit,
            "changed_at": wanted.changed_at,
        },
    )
    if before is None or before.content_hash != wanted.content_hash:
        _store_release(app, stage, wanted, mirror, since=before.commit if before else None)
    _place(stage, wanted.places, clusters)


def _store_release(app: App, stage: AppStage, wanted: _Wanted, mirror: Mirror, *, since: str | None) -> None:
    """A release is seen: the promoted values of the app in this environment are new."""
    files = sorted({path for place in wanted.places for path in place.files})
    # Of a release that was there before we were, only the commit that brought it is known to belong to it.
    commits = mirror.log(since, wanted.commit, files, limit=MOST_COMMITS if since else 1)
    release, created = Release.objects.get_or_create(
        repository=app.repository,
        environment=stage.environment,
        app_key=app.name,
        content_hash=wanted.content_hash,
        commit=wanted.commit,
        defaults={
            "version": wanted.version,
            "values": wanted.values,
            "commits": [
                {"sha": each.sha, "author": each.author.name, "subject": each.subject, "at": each.at.isoformat()}
                for each in commits
            ],
            "seen_at": timezone.now(),
        },
    )
    if created:
        release.apps.add(app)


def _place(stage: AppStage, places: Sequence[AppPlace], clusters: dict[str, Cluster]) -> None:
    """One row for each registered cluster that reaches the app, with the objects that apply it there."""
    here: dict[int, list[str]] = {}
    for place in places:
        for name in place.clusters:
            if name in clusters:
                refs = [str(node.ref) for node in place.kustomizations if node.cluster == name]
                here.setdefault(clusters[name].pk, []).extend([*refs, *place.releases])
    AppOnCluster.objects.filter(stage=stage).exclude(cluster__in=here).delete()
    for cluster_id, refs in here.items():
        AppOnCluster.objects.update_or_create(
            stage=stage, cluster_id=cluster_id, defaults={"refs": list(dict.fromkeys(refs))}
        )


def _mark_gone(repository: Repository, wanted: Sequence[_Wanted]) -> None:
    """Apps and stages that this commit no longer has."""
    kept: dict[str, set[int]] = {}
    for each in wanted:
        kept.setdefault(each.node.name, set()).add(each.environment.pk)
    App.objects.filter(repository=repository).exclude(name__in=kept).update(is_gone=True)
    for stage in AppStage.objects.filter(app__repository=repository).select_related("app"):
        if stage.environment_id not in kept.get(stage.app.name, set()):
            stage.delete()
