"""The decision for each file of two places: its values, and files that are new, removed, binary or encrypted."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from clusters_app.repo import fields
from clusters_app.repo.compare import Parsed, is_encrypted, pair_documents, parsed
from clusters_app.repo.edit_nodes import EditRefused
from clusters_app.repo.edit_paths import Path
from clusters_app.repo.graph import FleetGraph
from clusters_app.repo.kustomize import KUSTOMIZATION_NAMES
from clusters_app.repo.leaves import without_markers
from clusters_app.repo.one_sided import names_file
from clusters_app.repo.place_pairs import FilePair, PlacePair, kustomization_files, own_files, pair_files
from clusters_app.repo.plan_model import Remark
from clusters_app.repo.plan_scope import ANSWER, Documents, Outcome, Scope
from clusters_app.repo.plan_values import decide_documents
from clusters_app.repo.rules import Action
from clusters_app.repo.tree import TreeError, is_binary


@dataclass
class FileOutcome(Outcome):
    """What was decided for two places; whole files to write, None to delete."""

    files: dict[str, bytes | None] = field(default_factory=dict)


def decide_places(scope: Scope, graph: FleetGraph, pair: PlacePair) -> FileOutcome:
    """Everything that the release changes in one target place."""
    outcome = FileOutcome()
    pairs = pair_files(scope.tree, graph, pair)
    for each in pairs:
        _whole_file(scope, outcome, pair, each)
    created = frozenset(each.source for each in pairs if outcome.files.get(each.target) is not None)
    deleted = frozenset(path for path, data in outcome.files.items() if data is None)
    neighbours = frozenset(app.name for app in graph.apps) - {scope.app}
    inner = replace(scope, created=created, deleted=deleted, neighbours=neighbours)
    for each in pairs:
        outcome.add(_both(inner, each))
    for each, *documents in kustomization_files(pair):
        if each.target not in own_files(pair.target):
            outcome.add(_flux_kustomization(inner, each, (documents[0], documents[1]), Uses.of(scope, graph, pair)))
    return outcome


def _remark(scope: Scope, code: str, each: FilePair, why: str, remedy: str = "", *, there: bool = True) -> Remark:
    source = each.source if each.source in scope.tree.files() else None
    return Remark(code, scope.app, each.target, (), source, each.target if there else None, why, remedy)


def _both(scope: Scope, each: FilePair) -> Outcome:
    """The values of a file that both places have."""
    outcome = Outcome()
    files = scope.tree.files()
    source, target = files.get(each.source), files.get(each.target)
    if source is None or target is None or (source.oid, source.mode) == (target.oid, target.mode):
        return outcome
    verdict = scope.rules.of_file(each.target, app=scope.app, to=scope.environments[1])
    if verdict.action is Action.NEVER:
        outcome.kept.append(_remark(scope, verdict.code, each, verdict.why))
        return outcome
    if source.mode != target.mode:
        outcome.asks.append(_remark(scope, "mode", each, "a link or an executable bit differs", ANSWER))
    if source.oid == target.oid or not (source.is_file and target.is_file):
        return outcome
    try:
        ours, theirs = parsed(scope.tree, each.source), parsed(scope.tree, each.target)
        if is_encrypted(ours) or is_encrypted(theirs):
            why = "encrypted files are never promoted: any edit would break their checksum"
            outcome.kept.append(_remark(scope, "encrypted", each, why))
            return outcome
        outcome.add(_values(scope, each, ours, theirs))
    except EditRefused as error:
        place = outcome.kept if verdict.action is Action.KEEP else outcome.asks
        place.append(_remark(scope, error.code, each, error.reason, "" if verdict.action is Action.KEEP else ANSWER))
    return outcome


def _values(scope: Scope, each: FilePair, ours: Parsed, theirs: Parsed) -> Outcome:
    outcome = Outcome()
    paired = set()
    for numbers in pair_documents(ours, theirs, scope.environments):
        paired.add(numbers[0])
        if ours.belongs_to(numbers[0], scope.environments[0], scope.neighbours):
            continue
        outcome.add(decide_documents(scope, Documents(ours, theirs, numbers)))
    for number, root in enumerate(ours.stream.documents):
        if number not in paired and root is not None:
            kind, name = ours.identity(number, scope.environments[0])
            why = f"the target's file has no {kind or 'document'} {name}".rstrip()
            outcome.asks.append(replace(_remark(scope, "new-object", each, why, ANSWER), source=f"{kind}/{name}"))
    return outcome


# --- whole files


def _whole_file(scope: Scope, outcome: FileOutcome, pair: PlacePair, each: FilePair) -> None:
    files = scope.tree.files()
    if each.source in files and each.target not in files:
        _new_file(scope, outcome, pair, each)
    elif each.target in files and each.source not in files:
        _removed_file(scope, outcome, each)


def _new_file(scope: Scope, outcome: FileOutcome, pair: PlacePair, each: FilePair) -> None:
    verdict = scope.rules.of_file(each.target, app=scope.app, to=scope.environments[1])
    data = _content(scope, each.source)
    if data is None or _is_secret(scope, each.source):
        outcome.kept.append(
            _remark(scope, "never", each, "links, encrypted files and Secrets are never promoted", there=False)
        )
    elif verdict.action in (Action.KEEP, Action.NEVER):
        outcome.kept.append(_remark(scope, verdict.code, each, verdict.why, there=False))
    elif verdict.action is Action.ASK:
        outcome.asks.append(_remark(scope, "new-file", each, "the target has no such file", ANSWER, there=False))
    elif verdict.code != "rule" and not _is_listed(scope, pair, each.source):
        outcome.kept.append(_remark(scope, "unlisted", each, "nothing in the source lists this file", there=False))
    else:
        outcome.files[each.target] = data if is_binary(data) else without_policy_markers(data)


def without_policy_markers(data: bytes) -> bytes:
    """A new file never brings an image policy marker along."""
    try:
        return without_markers(data.decode("utf-8")).encode("utf-8")
    except UnicodeDecodeError:
        return data


def _content(scope: Scope, path: str) -> bytes | None:
    try:
        return scope.tree.read(path)
    except TreeError:
        return None


def _is_secret(scope: Scope, path: str) -> bool:
    try:
        file = parsed(scope.tree, path)
    except EditRefused:
        return False
    kinds = {file.identity(number, "")[0] for number in range(len(file.stream.documents))}
    return is_encrypted(file) or "Secret" in kinds


def _is_listed(scope: Scope, pair: PlacePair, path: str) -> bool:
    listings = [other for other in pair.source.files if other.rpartition("/")[2] in KUSTOMIZATION_NAMES]
    for listing in listings:
        try:
            documents = parsed(scope.tree, listing).documents
        except EditRefused:
            continue
        if any(path in names_file(listing, leaf) for leaves in documents for leaf in leaves):
            return True
    return False


def _removed_file(scope: Scope, outcome: FileOutcome, each: FilePair) -> None:
    verdict = scope.rules.of_file(each.target, app=scope.app, to=scope.environments[1])
    if verdict.action is not Action.PROMOTE:
        outcome.kept.append(_remark(scope, "only-in-target", each, "the source has no such file"))
        return
    written = scope.past.written.files().get(each.target) if scope.past else None
    was_there = scope.past is not None and each.source in (scope.past.source or scope.past.written).files()
    if written is None or not was_there:
        outcome.kept.append(
            _remark(scope, "only-in-target", each, "the source has no such file, and no promotion wrote it")
        )
    elif written.oid != scope.tree.files()[each.target].oid:
        why = "the source removed this file, and the target changed it since the last promotion"
        outcome.asks.append(_remark(scope, "removed-file", each, why, ANSWER))
    else:
        outcome.files[each.target] = None


# --- the Flux Kustomizations that apply the app


def _flux_kustomization(scope: Scope, each: FilePair, documents: tuple[int, int], uses: "Uses") -> Outcome:
    """Versions in the Flux Kustomization (`spec.images`, `postBuild.substitute`, patches) that this app uses."""
    try:
        ours, theirs = parsed(scope.tree, each.source), parsed(scope.tree, each.target)
        both = Documents(ours, theirs, documents)
        versions = {leaf.path: leaf for leaf in both.in_source if fields.is_promoted_field(leaf)}
        found = decide_documents(scope, both)
    except (EditRefused, IndexError):
        return Outcome()
    wanted = {path for path, leaf in versions.items() if uses.version(leaf.field)}
    edits = [edit for edit in found.edits if edit.path in wanted]
    return Outcome(edits, [], _of_paths(found.asks, wanted), _of_paths(found.refusals, wanted))


def _of_paths(remarks: Iterable[Remark], wanted: set[Path]) -> list[Remark]:
    return [each for each in remarks if any(path[: len(each.path)] == each.path for path in wanted)]


@dataclass(frozen=True, slots=True)
class Uses:
    """Which versions of a Flux Kustomization an app uses: all when alone there, else those that its files name."""

    is_alone: bool
    text: str

    @classmethod
    def of(cls, scope: Scope, graph: FleetGraph, pair: PlacePair) -> "Uses":
        nearest = {(node.cluster, node.ref) for node in pair.target.kustomizations}
        others = [app for app in graph.apps if app.name != pair.app]
        places = [place for app in others for place in app.environments.get(pair.environment, ())]
        shared = any((node.cluster, node.ref) in nearest for place in places for node in place.kustomizations)
        texts = [_content(scope, path) or b"" for path in {*pair.target.reached, *pair.target.files}]
        return cls(not shared, b"\n".join(texts).decode("utf-8", "replace"))

    def version(self, keys: tuple[str, ...]) -> bool:
        if self.is_alone:
            return True
        if "substitute" in keys:
            return re.search(rf"\$\{{{re.escape(keys[-1])}\b", self.text) is not None
        name = keys[-2].partition("=")[2].partition(",")[0] if len(keys) > 1 else ""
        return bool(name) and name in self.text
