"""Five repositories in five styles: what the graph says of them is what a careful person says."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from clusters_app.commands.graph import graph_document
from clusters_app.repo.graph import build_graph
from clusters_app.repo.tree import DirectoryTree

HERE = Path(__file__).parent
NAMES = sorted(path.name.removesuffix(".expected.json") for path in (HERE / "trees").glob("*.expected.json"))


def load_checker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_trees", HERE / "check_trees.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHECKER: Any = load_checker()


@pytest.fixture(params=NAMES)
def judged(request: pytest.FixtureRequest) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """What is expected of a tree, and what the checker reads out of our answer, through JSON as a script would."""
    expected = json.loads((HERE / "trees" / f"{request.param}.expected.json").read_text())
    root = HERE / "trees" / request.param
    document = json.loads(json.dumps(graph_document(build_graph(DirectoryTree(root)))))
    return expected, CHECKER.read_graph(document, CHECKER.Paths(str(root)))


def test_every_tree_is_there() -> None:
    assert len(NAMES) == 5


def test_it_finds_the_environments_in_order(judged: tuple[dict[str, Any], tuple[Any, ...]]) -> None:
    expected, (environments, *_) = judged
    if expected.get("environments_any_name"):
        assert len(environments) == len(expected["environments"])
    else:
        assert environments == [CHECKER.env_key(name) for name in expected["environments"]]


def test_it_finds_the_clusters_and_no_others(judged: tuple[dict[str, Any], tuple[Any, ...]]) -> None:
    expected, (_, clusters, *_) = judged
    any_name = expected.get("environments_any_name")
    wanted = {(each["path"], "" if any_name else CHECKER.env_key(each["environment"])) for each in expected["clusters"]}
    assert {(each["path"], "" if any_name else each["environment"]) for each in clusters} == wanted
    assert len(clusters) == len(wanted)


def test_it_finds_the_apps_and_invents_none(judged: tuple[dict[str, Any], tuple[Any, ...]]) -> None:
    expected, (_, _, apps, *_) = judged
    any_name = expected.get("environments_any_name", False)
    wanted = [dict(app, _envs=not any_name) for app in expected["apps"]]
    hit, judged_apps, extra, wrong, notes = CHECKER.match_apps(wanted, expected["apps_allowed"], apps)
    assert (wrong, extra, notes) == ([], [], [])
    assert len(hit) == len(wanted) == judged_apps


def test_it_knows_who_reaches_which_file(judged: tuple[dict[str, Any], tuple[Any, ...]]) -> None:
    expected, (*_, reach, _) = judged
    assert CHECKER.check_reach(expected, reach)[1] == []


def test_it_pairs_the_files_of_environments(judged: tuple[dict[str, Any], tuple[Any, ...]]) -> None:
    expected, (*_, pairs) = judged
    assert {frozenset(pair) for pair in expected["counterparts"]} <= (pairs or set())
