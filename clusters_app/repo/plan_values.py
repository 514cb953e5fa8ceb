"""The decision for each value that differs: carried over, kept, asked or refused. Three-way, pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from clusters_app.repo import fields
from clusters_app.repo.compare import Difference, Parsed, differences, is_same, only_there, parsed, users_of
from clusters_app.repo.edit import Plain
from clusters_app.repo.edit_content import Content, content_of
from clusters_app.repo.edit_nodes import EditRefused, Node
from clusters_app.repo.edit_paths import Match, Path, Step, field_text, locate, matches
from clusters_app.repo.history import LastPromotion
from clusters_app.repo.image_reference import ImageReference
from clusters_app.repo.kustomize import KUSTOMIZATION_NAMES, resolve
from clusters_app.repo.leaves import Leaf
from clusters_app.repo.plan_model import Remark
from clusters_app.repo.rules import Action, Rules, Verdict
from clusters_app.repo.tree import Tree
from clusters_app.repo.versions import is_range, is_surely_newer


@dataclass(frozen=True, slots=True)
class ValueEdit:
    """One value to set, insert or remove. `content` is what an insertion writes, behind its sibling `after`."""

    kind: Literal["set", "insert", "remove"]
    file: str
    document: int
    path: Path
    old: str | None
    new: str | None
    value: str | Plain = ""
    at_anchor: bool = False
    content: Content = ""
    after: Step | None = None
    leaf: Leaf | None = None
    app: str = ""


@dataclass
class Outcome:
    """What was decided so far, in the order in which it was found."""

    edits: list[ValueEdit] = field(default_factory=list)
    kept: list[Remark] = field(default_factory=list)
    asks: list[Remark] = field(default_factory=list)
    refusals: list[Remark] = field(default_factory=list)

    def add(self, other: "Outcome") -> None:
        self.edits += other.edits
        self.kept += other.kept
        self.asks += other.asks
        self.refusals += other.refusals


@dataclass(frozen=True)
class Scope:
    """What a decision may look at. `answers`: ids of asks that a person answered with "take it over"."""

    tree: Tree
    app: str
    environments: tuple[str, str]
    rules: Rules
    past: LastPromotion | None
    answers: frozenset[str] = frozenset()
    created: frozenset[str] = frozenset()
    """Files of the source that are copied: the lines that list them go along."""
    deleted: frozenset[str] = frozenset()
    """Files of the target that go, with the lines that list them."""

    def verdict(self, file: str, leaf: Leaf) -> Verdict:
        return self.rules.of(file, leaf, app=self.app, to=self.environments[1])

    def remark(self, code: str, difference: Difference, why: str, remedy: str = "") -> Remark:
        target = difference.target.text if difference.target is not None else None
        path = difference.missing if difference.is_new_item else difference.path
        return Remark(code, self.app, difference.file, path, difference.source.text, target, why, remedy)


def decide_documents(scope: Scope, source: Parsed, target: Parsed, pair: tuple[int, int]) -> Outcome:
    """All differences of two documents of the same object."""
    outcome, carried = Outcome(), list[Difference]()
    inserted: set[Path] = set()
    for difference in differences(source, target, pair):
        if difference.missing and names_file(difference.source_file, difference.source) & scope.created:
            _list_created(scope, outcome, source, target, pair, difference, inserted)
            continue
        verdict = scope.verdict(difference.file, difference.source)
        if verdict.action in (Action.KEEP, Action.NEVER):
            outcome.kept.append(_without_secret(scope.remark(verdict.code, difference, verdict.why)))
        elif verdict.action is Action.ASK:
            _ask(outcome, scope.remark(verdict.code, difference, verdict.why, _ANSWER))
        elif difference.target is None:
            _missing(scope, outcome, source, target, pair, difference, verdict, inserted)
        else:
            carried.append(difference)
    _carry(scope, outcome, source, target, pair, carried)
    _removed(scope, outcome, source, target, pair)
    return outcome


def _without_secret(remark: Remark) -> Remark:
    """The values of a Secret are no matter for a plan that people read."""
    return replace(remark, source=None, target=None, path=_keys(remark.path)) if remark.code == "secret" else remark


def _keys(path: Path) -> Path:
    return tuple(step for step in path if isinstance(step, str) or step.fields[0][0])


_ANSWER = "answer it on the promotion's page, or write a rule in .flotilla/promotion.yaml"


def _ask(outcome: Outcome, remark: Remark) -> None:
    if remark.id not in {known.id for known in outcome.asks}:
        outcome.asks.append(remark)


# --- values that the target has


def _carry(
    scope: Scope,
    outcome: Outcome,
    source: Parsed,
    target: Parsed,
    pair: tuple[int, int],
    carried: list[Difference],
) -> None:
    for group in _groups(carried):
        stopped = _pinned(scope, group)
        if stopped is not None:
            _stop(outcome, stopped)
            continue
        answers = [_judged(scope, target, pair, each) for each in group]
        stops = [answer for answer in answers if isinstance(answer, _Stopped)]
        for stop in stops:
            _stop(outcome, stop)
        if stops:
            continue
        for each, value in zip(group, answers, strict=True):
            if not isinstance(value, _Stopped):
                _edit(scope, outcome, source, target, pair, each, value)


@dataclass(frozen=True, slots=True)
class _Stopped:
    """A value that is not carried over: `place` is kept, asks or refusals."""

    place: str
    remark: Remark


def _stop(outcome: Outcome, stopped: _Stopped) -> None:
    if stopped.place == "asks":
        _ask(outcome, stopped.remark)
    else:
        getattr(outcome, stopped.place).append(stopped.remark)


def _groups(carried: Iterable[Difference]) -> list[list[Difference]]:
    """Fields that name one artifact together (tag and digest) are carried together or not at all."""
    groups: dict[object, list[Difference]] = {}
    for each in carried:
        key: object = each.path[:-1] if fields.reference_fields(each.source) else (each.path, "alone")
        groups.setdefault(key, []).append(each)
    return list(groups.values())


def _pinned(scope: Scope, group: list[Difference]) -> _Stopped | None:
    """Whether another field decides what is pulled or fetched, so that carrying these over would change nothing."""
    first = group[0]
    order = fields.reference_fields(first.source)
    if not order or first.target is None:
        return None
    ours, theirs = _present(first.source, order), _present(first.target, order)
    decides, there = ours[0], theirs[0]
    if order.index(there) < order.index(decides):
        why = f"{there} decides in the target: {decides} beside it changes nothing that is pulled or fetched"
        remedy = f"remove {there} from {first.file} if it shall no longer pin the version, then promote again"
        return _Stopped("refusals", scope.remark("pinned", first, why, remedy))
    if decides != there:
        why = f"the source is pinned by {decides}, the target is not"
        return _Stopped("asks", scope.remark("pinned-source", first, why, _ANSWER))
    if left := [name for name in theirs if name not in ours]:
        why = f"the target also has {', '.join(left)}, which the source lacks and which would no longer be true"
        return _Stopped("asks", scope.remark("left-behind", first, why, _ANSWER))
    if all(each.source.field[-1] != decides for each in group):
        why = f"{decides} is the same in both and decides: the rest changes nothing that is pulled or fetched"
        return _Stopped("refusals", scope.remark("pinned", first, why, f"change {decides} in the source"))
    return None


def _present(leaf: Leaf, order: tuple[str, ...]) -> list[str]:
    keys = {key.value for key, _ in leaf.place.parents[-1].entries}
    return [name for name in order if name in keys] or [leaf.field[-1]]


def _judged(scope: Scope, target: Parsed, pair: tuple[int, int], each: Difference) -> "str | Plain | _Stopped":
    """The value to write, or why it is not written."""
    value = _wanted(scope, each)
    if isinstance(value, _Stopped):
        return value
    stopped = _three_way(scope, target.identity(pair[1], scope.environments[1]), each)
    if stopped is not None and stopped.remark.id in scope.answers:
        return value
    return stopped or value


def _wanted(scope: Scope, each: Difference) -> "str | Plain | _Stopped":
    source, target = each.source, each.target
    if target is None or not source.is_scalar or not target.is_scalar:
        return _Stopped("asks", scope.remark("list", each, "a list whose items nothing tells apart", _ANSWER))
    if fields.is_image(source) or fields.is_image(target):
        return _wanted_image(scope, each, source.text, target.text)
    if fields.is_chart_version(source) and is_range(source.text) != is_range(target.text):
        return _Stopped(
            "asks", scope.remark("range", each, "one is a range of versions, the other is one version", _ANSWER)
        )
    if source.is_string or fields.is_promoted_field(source):
        return source.text
    return Plain(source.text)


def _wanted_image(scope: Scope, each: Difference, source: str, target: str) -> "str | _Stopped":
    mine, yours = ImageReference.parse(source), ImageReference.parse(target)
    if mine is None or yours is None:
        return _Stopped("asks", scope.remark("no-reference", each, "this is no plain image reference", _ANSWER))
    if mine.name != yours.name:
        return _Stopped("asks", scope.remark("other-image", each, "the two are different images", _ANSWER))
    if mine.tag is None and mine.digest is None:
        return _Stopped("asks", scope.remark("no-version", each, "the source has neither tag nor digest", _ANSWER))
    if yours.digest and (mine.digest is None or mine.digest == yours.digest):
        why = "the digest decides in the target: a new tag beside it changes nothing that is pulled"
        remedy = f"remove the digest from {each.file} if it shall no longer pin the version, then promote again"
        return _Stopped("refusals", scope.remark("pinned", each, why, remedy))
    return str(yours.with_version_of(mine))


def _three_way(scope: Scope, identity: tuple[str, str], each: Difference) -> _Stopped | None:
    target = each.target
    if target is None:
        return None
    written = (
        _value_at(scope.past.written, each.file, identity, each.path, scope.environments[1]) if scope.past else None
    )
    if scope.past is None or written is None:
        return _newer(scope, each)
    if not is_same(written, target):
        if is_same(written, each.source):
            why = "changed by hand since the last promotion; there is no newer release"
            return _Stopped("kept", scope.remark("drift", each, why))
        why = f"changed by hand since the last promotion, which wrote {written.text}"
        return _Stopped("asks", scope.remark("drift", each, why, "take the release over, or keep the target's value"))
    source = scope.past.source
    carried = _value_at(source, each.source_file, identity, each.path, scope.environments[0]) if source else None
    if carried is not None and not is_same(carried, written):
        why = "the last promotion left this value as it was"
        return _Stopped(
            "asks", scope.remark("kept-before", each, why, "take the release over, or keep the target's value")
        )
    return None


def _newer(scope: Scope, each: Difference) -> _Stopped | None:
    """Without history this is an adoption: the target's value goes, unless it is newer beyond doubt."""
    ours, theirs = _version(each.source), _version(each.target)
    if ours and theirs and is_surely_newer(theirs, ours):
        why = f"the target's {theirs} is newer than {ours}, and no promotion is known that wrote it"
        return _Stopped(
            "asks", scope.remark("target-newer", each, why, "take the release over, or keep the target's value")
        )
    return None


def _version(leaf: Leaf | None) -> str:
    if leaf is None or not leaf.is_scalar:
        return ""
    image = ImageReference.parse(leaf.text) if fields.is_image(leaf) else None
    return (image.tag or "") if image else leaf.text


def _value_at(tree: Tree, file: str, identity: tuple[str, str], path: Path, environment: str) -> Leaf | None:
    """The value at a path of the same object in another tree."""
    try:
        there = parsed(tree, file)
    except EditRefused:
        return None
    for number in range(len(there.stream.documents)):
        if there.identity(number, environment) == identity and (leaf := there.by_path(number).get(path)):
            return leaf
    return None


def _edit(
    scope: Scope,
    outcome: Outcome,
    source: Parsed,
    target: Parsed,
    pair: tuple[int, int],
    each: Difference,
    value: str | Plain,
) -> None:
    if each.target is None:
        return
    users = users_of(target, pair[1], each.target)
    stays = [
        user for user in users if user.path != each.path and not _moves_too(scope, source, each, pair, user, value)
    ]
    if stays:
        where = ", ".join(" → ".join(map(str, user.path)) for user in stays)
        why = f"the value is shared by an anchor with {where}, where the release does not set the same"
        _ask(
            outcome,
            scope.remark("shared", each, why, "give the two values of their own in the target, then promote again"),
        )
        return
    new = value if isinstance(value, str) else value.text
    is_known = any(known.leaf is not None and known.leaf.node is each.target.node for known in outcome.edits)
    if not is_known:
        # Who shares the place is known here: all of them move, or it would have been asked.
        edit = ValueEdit("set", each.file, each.document, each.path, each.target.text, new, value, at_anchor=True)
        outcome.edits.append(replace(edit, leaf=each.target))


def _moves_too(
    scope: Scope, source: Parsed, each: Difference, pair: tuple[int, int], user: Leaf, value: str | Plain
) -> bool:
    other = source.by_path(pair[0]).get(user.path)
    if other is None or scope.verdict(each.file, other).action is not Action.PROMOTE:
        return False
    return _wanted(scope, Difference(each.source_file, each.file, each.document, other, user)) == value


# --- values that one side lacks


def names_file(file: str, leaf: Leaf) -> set[str]:
    """The file that a value of a kustomization names, as a path from the repository's root."""
    if file.rpartition("/")[2] not in KUSTOMIZATION_NAMES or not leaf.is_scalar:
        return set()
    path = resolve(file.rpartition("/")[0], leaf.text.rpartition("=")[2])
    return {path} if path else set()


def _list_created(
    scope: Scope,
    outcome: Outcome,
    source: Parsed,
    target: Parsed,
    pair: tuple[int, int],
    each: Difference,
    inserted: set[Path],
) -> None:
    if each.missing in inserted:
        return
    inserted.add(each.missing)
    try:
        edit = _insertion(source, target, pair, each)
        if isinstance(each.missing[-1], str):
            edit = _only_created(scope, source, pair, edit)
        outcome.edits.append(edit)
    except EditRefused as error:
        remedy = f"list the file in {each.file} by hand, then promote again"
        outcome.refusals.append(scope.remark(error.code, each, error.reason, remedy))


def _only_created(scope: Scope, source: Parsed, pair: tuple[int, int], edit: ValueEdit) -> ValueEdit:
    """A whole list that the target lacks: of its items only those that are created now."""
    place = locate(source.stream, pair[0], edit.path)
    listed = {leaf.path[len(edit.path)] for leaf in source.documents[pair[0]]
              if leaf.path[: len(edit.path)] == edit.path and names_file(source.path, leaf) & scope.created}  # fmt: skip
    items = [content_of(place.stream, item) for item in place.node.items
             if any(isinstance(step, Match) and matches(item, step) for step in listed)]  # fmt: skip
    return replace(edit, content=items, new=", ".join(sorted(map(str, listed))))


def _missing(
    scope: Scope,
    outcome: Outcome,
    source: Parsed,
    target: Parsed,
    pair: tuple[int, int],
    each: Difference,
    verdict: Verdict,
    inserted: set[Path],
) -> None:
    if each.missing in inserted:
        return
    if each.problem is not None and each.problem.code == "edit.doubled-key":
        outcome.refusals.append(
            scope.remark("doubled-key", each, each.problem.reason, f"remove one of the two in {each.file}")
        )
        return
    if each.problem is not None:
        _ask(outcome, scope.remark("ambiguous", each, f"{each.problem.reason} in the target", _ANSWER))
        return
    if each.is_new_item:
        inserted.add(each.missing)
        _ask(outcome, scope.remark("new-item", each, "the target's list has no such item", _ANSWER))
        return
    if verdict.code not in ("promoted-file", "rule"):
        why = "the target has no value of its own here and inherits it"
        _ask(outcome, scope.remark("inherited", each, why, _ANSWER))
        return
    inserted.add(each.missing)
    try:
        outcome.edits.append(_insertion(source, target, pair, each))
    except EditRefused as error:
        _ask(outcome, scope.remark(error.code, each, error.reason, _ANSWER))


def _insertion(source: Parsed, target: Parsed, pair: tuple[int, int], each: Difference) -> ValueEdit:
    place = locate(source.stream, pair[0], each.missing)
    content = content_of(place.stream, place.node)
    after = neighbour(source, target, pair, each.missing)
    text = place.node.value if place.node.kind == "scalar" else place.stream.text[place.node.start : place.node.end]
    return ValueEdit("insert", each.file, each.document, each.missing, None, text, content=content, after=after)


def neighbour(source: Parsed, target: Parsed, pair: tuple[int, int], path: Path) -> Step | None:
    """The sibling of the target behind which a new child goes: its neighbour in the source, else the last one."""
    parents = locate(source.stream, pair[0], path).parents
    steps = _steps(parents[-1], path[-1])
    there = _steps(locate(target.stream, pair[1], path[:-1]).node, path[-1])
    number = steps.index(path[-1])
    for step in reversed(steps[:number]):
        if step in there:
            return step
    for step in steps[number + 1 :]:
        if step in there:
            position = there.index(step)
            return there[position - 1] if position else None
    return there[-1] if there else None


def _steps(node: Node, like: Step) -> list[Step]:
    """The children of a node as steps, list items by the fields that `like` has."""
    if isinstance(like, str):
        return [key.value for key, _ in node.entries]
    names = [name for name, _ in like.fields]
    return [Match(tuple((name, field_text(item, name) or "") for name in names)) for item in node.items]


def _removed(scope: Scope, outcome: Outcome, source: Parsed, target: Parsed, pair: tuple[int, int]) -> None:
    """What the source no longer has, though the last promotion wrote it and the target left it alone."""
    done: set[Path] = set()
    identity = target.identity(pair[1], scope.environments[1])
    for leaf in only_there(source, target, pair):
        if names_file(target.path, leaf) & scope.deleted:
            path = _first_missing(source, pair[0], leaf.path)
            outcome.edits.append(ValueEdit("remove", target.path, pair[1], path, leaf.text, None))
            continue
        verdict = scope.verdict(target.path, leaf)
        if verdict.action is not Action.PROMOTE or verdict.code not in ("promoted-file", "rule"):
            continue
        path = _first_missing(source, pair[0], leaf.path)
        if path in done:
            continue
        done.add(path)
        remark = Remark("only-in-target", scope.app, target.path, path, None, leaf.text, "the source has no such value")
        if not _was_promoted(scope, target.path, source.path, identity, leaf):
            outcome.kept.append(remark)
        elif isinstance(path[-1], Match):
            _ask(outcome, replace(remark, code="removed-item", why="the source removed this item", remedy=_ANSWER))
        else:
            outcome.edits.append(ValueEdit("remove", target.path, pair[1], path, leaf.text, None))


def _first_missing(source: Parsed, document: int, path: Path) -> Path:
    for length in range(1, len(path) + 1):
        try:
            locate(source.stream, document, path[:length])
        except EditRefused:
            return path[:length]
    return path


def _was_promoted(scope: Scope, file: str, source_file: str, identity: tuple[str, str], leaf: Leaf) -> bool:
    if scope.past is None:
        return False
    written = _value_at(scope.past.written, file, identity, leaf.path, scope.environments[1])
    source = scope.past.source or scope.past.written
    carried = _value_at(source, source_file, identity, leaf.path, scope.environments[0])
    return written is not None and carried is not None and is_same(written, leaf)


def by_file(edits: Iterable[ValueEdit]) -> Mapping[str, list[ValueEdit]]:
    grouped: dict[str, list[ValueEdit]] = {}
    for edit in edits:
        grouped.setdefault(edit.file, []).append(edit)
    return grouped
