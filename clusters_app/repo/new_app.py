"""An app that the target does not have at all: copied when nothing in it belongs to the source's environment."""

import posixpath
from collections.abc import Iterator

from clusters_app.repo import fields
from clusters_app.repo.apps import AppNode, AppPlace
from clusters_app.repo.compare import parsed
from clusters_app.repo.edit_nodes import EditRefused
from clusters_app.repo.environments import canonical, tokens
from clusters_app.repo.graph import FleetGraph
from clusters_app.repo.leaves import Leaf
from clusters_app.repo.one_sided import names_file, neighbour
from clusters_app.repo.plan_files import FileOutcome, without_policy_markers
from clusters_app.repo.plan_model import Remark
from clusters_app.repo.plan_scope import Documents, Scope, ValueEdit
from clusters_app.repo.rules import Action
from clusters_app.repo.tree import TreeError

_NO_FACT = frozenset(
    {
        "namespace",
        "targetNamespace",
        "storageNamespace",
        "interval",
        "timeout",
        "retryInterval",
        "prune",
        "wait",
        "force",
    }
    | {"path", "sourceRef", "dependsOn", "healthChecks", "newName", "repository", "registry", "branch"}
)


def decide_new_app(scope: Scope, graph: FleetGraph, app: AppNode) -> FileOutcome:
    """The files to copy and the lines that list them; questions alone where facts of the environment stand in it."""
    outcome = FileOutcome()
    for place in app.environments[scope.environments[0]]:
        target = _target_of(scope, graph, place)
        if target is None:
            why = (
                f"{scope.environments[1]} does not have this app, and no directory there is the counterpart of its list"
            )
            outcome.asks.append(
                Remark("new-app", scope.app, place.path, (), place.path, None, why, "add the app there first")
            )
            continue
        listing, directory = target
        facts = list(_facts(scope, place))
        outcome.asks += facts
        if not facts:
            _copy(scope, outcome, place, directory)
            outcome.edits += _listed(scope, outcome, place, listing)
    return outcome


def _target_of(scope: Scope, graph: FleetGraph, place: AppPlace) -> tuple[tuple[str, str], str] | None:
    """The two kustomizations that list the app, there and here, and the directory that it gets."""
    for path in graph.files:
        try:
            documents = parsed(scope.tree, path).documents if path.endswith("kustomization.yaml") else ()
        except EditRefused:
            continue
        if any(place.path in names_file(path, leaf) for leaves in documents for leaf in leaves):
            others = graph.counterpart(path, scope.environments[1])
            if others:
                relative = posixpath.relpath(place.path, posixpath.dirname(path))
                return (path, others[0]), posixpath.normpath(posixpath.join(posixpath.dirname(others[0]), relative))
    return None


def _inside(place: AppPlace) -> list[str]:
    """The files of the app's own directory. A base beside it is shared by where it stands, whoever uses it."""
    return [path for path in place.files if path.startswith(f"{place.path}/")]


def _facts(scope: Scope, place: AppPlace) -> Iterator[Remark]:
    """What belongs to the source's environment and cannot be copied blindly."""
    for path in _inside(place):
        verdict = scope.rules.of_file(path, app=scope.app, to=scope.environments[1])
        if verdict.action in (Action.KEEP, Action.NEVER):
            yield Remark("fact", scope.app, path, (), path, None, verdict.why, "write the target's own file first")
            continue
        try:
            documents = parsed(scope.tree, path).documents
        except EditRefused as error:
            yield Remark("fact", scope.app, path, (), path, None, error.reason, "copy the file by hand")
            continue
        for leaf in (leaf for leaves in documents for leaf in leaves):
            if why := _fact(scope, path, leaf):
                yield Remark(
                    "fact", scope.app, path, leaf.path, leaf.text, None, why, "write the target's own value first"
                )


def _fact(scope: Scope, path: str, leaf: Leaf) -> str:
    verdict = scope.rules.of(path, leaf, app=scope.app, to=scope.environments[1])
    if verdict.action is Action.NEVER:
        return verdict.why
    if verdict.action is Action.PROMOTE:
        return ""
    word = fields.kept_word(leaf)
    if word and word not in _NO_FACT:
        return f"{word} belongs to the environment"
    named = {canonical(token) for part in leaf.text.split("/") for token in tokens(part)}
    if canonical(scope.environments[0]) in named:
        return f"it names {scope.environments[0]}"
    return ""


def _copy(scope: Scope, outcome: FileOutcome, place: AppPlace, directory: str) -> None:
    for path in _inside(place):
        try:
            data = scope.tree.read(path)
        except TreeError as error:
            outcome.asks.append(Remark(error.code, scope.app, path, (), path, None, str(error), "copy it by hand"))
        else:
            outcome.files[f"{directory}/{path.removeprefix(place.path + '/')}"] = without_policy_markers(data)


def _listed(scope: Scope, outcome: FileOutcome, place: AppPlace, listing: tuple[str, str]) -> list[ValueEdit]:
    source, target = parsed(scope.tree, listing[0]), parsed(scope.tree, listing[1])
    line = next(leaf for leaf in source.documents[0] if place.path in names_file(listing[0], leaf))
    try:
        after = neighbour(Documents(source, target, (0, 0)), line.path, [])
    except EditRefused as error:
        remedy = f"list it in {listing[1]} by hand"
        outcome.refusals.append(
            Remark(error.code, scope.app, listing[1], line.path, line.text, None, error.reason, remedy)
        )
        return []
    return [ValueEdit("insert", listing[1], 0, line.path, None, line.text, content=line.text, after=after)]
