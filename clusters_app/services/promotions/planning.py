"""What a promotion would do: the pure plan of `repo.plan`, on the newest commit of a repository's mirror."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from clusters_app.models import App, AppStage, Environment, Repository
from clusters_app.render import RenderError, render
from clusters_app.repo.flux_build import Render, RenderFailed
from clusters_app.repo.graph import FleetGraph
from clusters_app.repo.plan import plan_promotion
from clusters_app.repo.plan_model import Plan
from clusters_app.repo.rules import Rules, RulesError, read_rules
from clusters_app.repo.tree import Tree
from clusters_app.services.differences import diff_lines, text_from, text_of
from clusters_app.services.errors import ServiceError
from clusters_app.services.graphs import fleet_graph
from clusters_app.services.remotes import read_mirror


@dataclass(frozen=True)
class Planned:
    """A plan with what it was made on. `clusters`: those of the target environment whose files it touches."""

    plan: Plan
    base: str
    tree: Tree
    graph: FleetGraph
    clusters: tuple[str, ...]

    @property
    def document(self) -> dict[str, Any]:
        """What a promotion's row keeps and pages and API show."""
        return {**self.plan.as_json(), "hash": self.plan.hash, "diff": self.diff, "clusters": list(self.clusters)}

    @property
    def diff(self) -> list[dict[str, Any]]:
        """[{file, lines: [[mark, text]]}] with three lines around each change; binary files have no lines."""
        return [
            {"file": path, "lines": diff_lines(text_of(self.tree, path), text_from(new))}
            for path, new in sorted(self.plan.files.items())
        ]


def plan(
    *,
    apps: Sequence[App],
    source: Environment,
    target: Environment,
    answers: Iterable[str] = (),
    build: Render | None = None,
) -> Planned:
    """The plan for these apps of one repository, on the newest commit that was read. Writes nothing.

    With `build` (`build_directory`, in a worker) every edit is proved by building what it reaches before and after.
    Raises ServiceError when the apps are of several repositories, the mirror lacks the commit, or the repository's own
    rules cannot be read.
    """
    repository = _repository_of(apps)
    base = repository.head
    mirror = read_mirror(repository, base)
    tree = mirror.tree(base)
    graph = fleet_graph(repository, tree)
    found = plan_promotion(
        tree,
        graph,
        [app.name for app in apps],
        source.name,
        target.name,
        rules=_rules(tree),
        history=mirror.past(base),
        answers=answers,
        render=build,
    )
    return Planned(found, base, tree, graph, _clusters_touched(graph, found, target.name))


def build_directory(tree: Tree, path: str) -> str:
    """A directory as kustomize builds it, confined; RenderFailed for what cannot be built. Some 100 ms of a worker."""
    try:
        return render(tree, path).text
    except RenderError as error:
        raise RenderFailed(str(error)) from error


def _rules(tree: Tree) -> Rules:
    try:
        return read_rules(tree)
    except RulesError as error:
        raise ServiceError(
            "promotion.rules", str(error), remedy=_("Correct .flotilla/promotion.yaml in the repository.")
        ) from error


def _repository_of(apps: Sequence[App]) -> Repository:
    repositories = {app.repository_id: app.repository for app in apps}
    if len(repositories) != 1:
        raise ServiceError(
            "promotion.repositories",
            _("Apps of several repositories cannot be promoted in one pull request."),
            remedy=_("Promote each repository's apps by themselves."),
        )
    return next(iter(repositories.values()))


def _clusters_touched(graph: FleetGraph, found: Plan, target: str) -> tuple[str, ...]:
    touched = {name for path in found.files if (reach := graph.files.get(path)) for name in reach.clusters}
    if touched:
        return tuple(sorted(touched))
    return tuple(cluster.name for cluster in graph.clusters_in(target)) if found.files else ()


def versions_of(apps: Sequence[App], environment: Environment) -> str:
    """What a page calls the version of these apps in an environment: one version, or several joined."""
    stages = AppStage.objects.filter(app__in=apps, environment=environment).order_by("app__name")
    return ", ".join(dict.fromkeys(stage.version for stage in stages if stage.version))
