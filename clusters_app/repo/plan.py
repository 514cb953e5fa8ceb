"""The promotion plan: pure, three-way, the same bytes for the same input.

`plan_promotion` reads a tree, its graph, the rules and the history, and says which values go from one environment to
the next, what stays, what a person must decide and what is refused. It writes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from clusters_app.repo.apply_edits import apply_edit
from clusters_app.repo.edit_nodes import EditRefused
from clusters_app.repo.effects import Builds, check_effects
from clusters_app.repo.flux_build import Render
from clusters_app.repo.graph import FleetGraph
from clusters_app.repo.history import History, NoHistory, last_promotion
from clusters_app.repo.new_app import decide_new_app
from clusters_app.repo.place_pairs import pair_places
from clusters_app.repo.plan_files import FileOutcome, decide_places
from clusters_app.repo.plan_model import Edit, Plan, Remark
from clusters_app.repo.plan_scope import Scope
from clusters_app.repo.release import digest_of_content, release_of
from clusters_app.repo.rules import KEPT_NAMES, Rules
from clusters_app.repo.tree import OverlaidTree, Tree


def plan_promotion(
    tree: Tree,
    graph: FleetGraph,
    apps: Sequence[str],
    source: str,
    target: str,
    *,
    rules: Rules | None = None,
    history: History | None = None,
    answers: Iterable[str] = (),
    render: Render | None = None,
) -> Plan:
    """The plan that brings the release of these apps from one environment into another, all or nothing.

    `answers`: ids of asks that a person answered with "take it over". Without `render` an edit is not proved to have
    an effect. Cost: the files of the apps, and two renders of each Flux Kustomization that an edit reaches.
    """
    rules = rules or Rules()
    outcome, owners, adoption = FileOutcome(), dict[str, str](), False
    for app in apps:
        found, is_first = _decide_app(tree, graph, app, (source, target), rules, history or NoHistory(), answers)
        outcome.add(replace(found, edits=[replace(edit, app=app) for edit in found.edits]))
        outcome.files |= found.files
        owners |= dict.fromkeys(found.files, app)
        adoption = adoption or is_first
    release = release_of(tree, graph, apps, source, rules)
    edits, files = _written(tree, owners, outcome)
    if files:
        refusals, pins = check_effects(Builds(tree, graph, target, render), outcome.edits, files)
        outcome.refusals += refusals
        outcome.kept += pins
    if outcome.refusals:
        edits, files = [], {}
    return Plan(
        tuple(apps),
        source,
        target,
        release,
        tuple(sorted(edits, key=lambda edit: edit.file)),
        _sorted(outcome.kept),
        _sorted(outcome.asks),
        _sorted(outcome.refusals),
        files,
        adoption,
    )


def _sorted(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    return tuple(sorted(dict.fromkeys(remarks), key=lambda remark: remark.file))


def _decide_app(
    tree: Tree,
    graph: FleetGraph,
    app: str,
    environments: tuple[str, str],
    rules: Rules,
    history: History,
    answers: Iterable[str],
) -> tuple[FileOutcome, bool]:
    outcome = FileOutcome()
    problem = _unknown(graph, app, environments)
    node = graph.app(app)
    if problem is not None or node is None:
        outcome.refusals += [problem] if problem else []
        return outcome, False
    pairs = pair_places(node, *environments)
    if not pairs:
        scope = Scope(tree, app, environments, rules, None, frozenset(answers))
        return decide_new_app(scope, graph, node), True
    is_adoption = False
    for pair in pairs:
        paths = _promoted_paths(tree, pair.target.path, pair.target.files)
        past = last_promotion(history, app, environments[1], paths)
        scope = Scope(tree, app, environments, rules, past, frozenset(answers))
        found = decide_places(scope, graph, pair)
        outcome.add(found)
        outcome.files |= found.files
        is_adoption = is_adoption or past is None
    return outcome, is_adoption


def _promoted_paths(tree: Tree, place: str, files: Sequence[str]) -> list[str]:
    """The files of a place that a promotion may change, with those that an earlier one wrote and that are gone."""
    names = {path for path in files if path.rpartition("/")[2].partition(".")[0] not in KEPT_NAMES}
    if tree.tree_id(place) is not None:
        names |= {f"{place}/{stem}.yaml" for stem in ("version", "settings")}
    return sorted(names)


def _unknown(graph: FleetGraph, app: str, environments: tuple[str, str]) -> Remark | None:
    known = [node.name for node in graph.environments]
    for name in environments:
        if name not in known:
            return _refusal(
                app, "unknown-environment", f"there is no environment {name}", f"one of: {', '.join(known)}"
            )
    if environments[0] == environments[1]:
        return _refusal(app, "same-environment", "source and target are the same environment", "choose two")
    node = graph.app(app)
    if node is None:
        names = ", ".join(each.name for each in graph.apps)
        return _refusal(app, "unknown-app", f"there is no app {app}", f"one of: {names}")
    if environments[0] not in node.environments:
        return _refusal(app, "not-in-source", f"{app} is not in {environments[0]}", "choose another source")
    return None


def _refusal(app: str, code: str, why: str, remedy: str) -> Remark:
    return Remark(code, app, "", (), None, None, why, remedy)


def _written(tree: Tree, owners: Mapping[str, str], outcome: FileOutcome) -> tuple[list[Edit], dict[str, bytes | None]]:
    """The files after all edits. An edit that cannot be proved becomes a refusal."""
    files: dict[str, bytes | None] = dict(outcome.files)
    edits = [_whole(tree, path, data, owners[path]) for path, data in outcome.files.items()]
    done = set()
    for edit in outcome.edits:
        key = (edit.file, edit.document, edit.path, edit.new)
        if key in done:
            continue
        done.add(key)
        try:
            before = files.get(edit.file) or tree.read(edit.file)
            files[edit.file] = apply_edit(before, edit)
        except EditRefused as error:
            remedy = f"edit {edit.file} by hand, then promote again"
            remark = Remark(error.code, edit.app, edit.file, edit.path, edit.new, edit.old, error.reason, remedy)
            outcome.refusals.append(remark)
        else:
            edits.append(Edit(edit.kind, edit.file, edit.path, edit.old, edit.new, edit.app))
    return edits, files


def _whole(tree: Tree, path: str, data: bytes | None, app: str) -> Edit:
    old = digest_of_content(tree.read(path)) if path in tree.files() else None
    if data is None:
        return Edit("delete", path, (), old, None, app)
    return Edit("create", path, (), old, digest_of_content(data), app)


def tree_after(tree: Tree, plan: Plan) -> Tree:
    """The tree that the plan would leave behind."""
    return OverlaidTree(tree, plan.files)
