"""The repository that the demo begins with: sound, with a past, and made once."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from clusters_app.commands import demo_story as story
from clusters_app.commands.demo_repository import create_repository, history_of
from clusters_app.git.mirror import Mirror
from clusters_app.repo.graph import build_graph
from clusters_app.repo.lint import lint
from clusters_app.repo.plan import plan_promotion
from clusters_app.repo.release import promoted_values, version_of
from clusters_app.simulation.documents import documents_of
from clusters_app.simulation.fleet import create_fleet, follow, worth_replaying

BORN = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("demo") / "fleet.git"
    create_repository(made, BORN)
    return made


@pytest.fixture
def repository(path: Path) -> Mirror:
    return Mirror.open(path)


def test_it_is_made_once(path: Path, repository: Mirror) -> None:
    head = repository.head("main")
    create_repository(path, BORN + timedelta(days=1))
    assert repository.head("main") == head
    assert not path.with_suffix(".draft").exists()


def test_several_people_wrote_it_over_weeks(repository: Mirror) -> None:
    commits = repository.log(None, repository.head("main"))
    assert len({commit.author.name for commit in commits}) == 5
    assert commits[0].at - commits[-1].at > timedelta(weeks=2)
    assert commits[0].at < BORN


def test_nothing_in_it_is_a_finding(repository: Mirror) -> None:
    assert [
        finding.message for finding in lint(repository.tree(repository.head("main"))) if finding.severity == "error"
    ] == []


def test_versions_differ_so_that_there_is_something_to_promote(repository: Mirror) -> None:
    tree = repository.tree(repository.head("main"))
    graph = build_graph(tree)
    assert [environment.name for environment in graph.environments] == ["dev", "staging", "prod"]
    assert len(graph.clusters) >= 9
    assert len(graph.apps) >= 6
    found = [version_of(promoted_values(tree, graph, "web", environment)) for environment in story.ENVIRONMENTS]
    assert found == sorted(set(found), reverse=True)
    plan = plan_promotion(tree, graph, ["web"], "dev", "staging", rules=None, history=None)
    assert [(edit.file, len(plan.files)) for edit in plan.edits] == [("clusters/staging/apps/web/version.yaml", 1)]


def test_the_scaffold_gives_the_sync_paths_that_clusters_are_registered_with(repository: Mirror) -> None:
    graph = build_graph(repository.tree(repository.head("main")))
    assert {(each.name, each.path) for each in graph.clusters} == {(each.name, each.path) for each in story.roots()}


def test_a_start_replays_enough_to_be_broken_on_purpose(repository: Mirror) -> None:
    history = history_of(repository)
    faults = story.faults(BORN, None)
    fleet = create_fleet(story.CLUSTERS, born_at=history[0].at, faults=faults)
    replayed = worth_replaying(history, [each for found in faults.values() for each in found])
    assert replayed[-1] == history[-1]
    for pushed in replayed:
        follow(fleet, pushed, repository.tree(pushed.commit), story.roots())
    unready = {}
    for name, cluster in fleet.items():
        cluster.advance(BORN)
        assert cluster.is_settled()
        unready[name] = sorted(
            str(document["metadata"]["name"])  # type: ignore[index]
            for _, document in documents_of(cluster)
            if '"status": "False", "type": "Ready"' in str(document).replace("'", '"')
        )
    broken = {name: found for name, found in unready.items() if found}
    assert broken == {"dev-nyc": ["previews"], "prod-syd": ["metrics", "monitoring-metrics", "observability"]}
    stopped = fleet["staging-nyc"].appliers["Kustomization/flux-system/monitoring"]
    assert stopped.suspended is not None
    assert stopped.applied != history[-1].commit
