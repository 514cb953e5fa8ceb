"""Values that both environments have: carried over, kept or asked, compared with what the last promotion left."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from clusters_app.repo import fields
from clusters_app.repo.compare import Difference, is_same, users_of
from clusters_app.repo.edit import Plain
from clusters_app.repo.image_reference import ImageReference
from clusters_app.repo.leaves import Leaf
from clusters_app.repo.plan_model import Remark, path_as_text
from clusters_app.repo.plan_scope import ANSWER, Documents, Outcome, Scope, ValueEdit
from clusters_app.repo.rules import Action
from clusters_app.repo.versions import is_range, is_surely_newer


def carry(scope: Scope, outcome: Outcome, both: Documents, carried: Sequence[Difference]) -> None:
    """Decide for differences that a rule promotes and that have a place in the target."""
    for group in _groups(carried):
        pinned = _pinned(scope, group)
        answers = [pinned] if pinned is not None else [_judged(scope, both, each) for each in group]
        stops = [answer for answer in answers if isinstance(answer, _Stopped)]
        for stop in stops:
            _stop(outcome, stop)
        if not stops:
            for each, value in zip(group, answers, strict=True):
                if not isinstance(value, _Stopped):
                    _edit(scope, outcome, both, each, value)


@dataclass(frozen=True, slots=True)
class _Stopped:
    """A value that is not carried over: `place` is kept, asks or refusals."""

    place: Literal["kept", "asks", "refusals"]
    remark: Remark


def _stop(outcome: Outcome, stopped: _Stopped) -> None:
    if stopped.place == "asks":
        outcome.ask(stopped.remark)
    elif stopped.place == "refusals":
        outcome.refusals.append(stopped.remark)
    else:
        outcome.kept.append(stopped.remark)


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
        return _Stopped("asks", scope.remark("pinned-source", first, why, ANSWER))
    if left := [name for name in theirs if name not in ours]:
        why = f"the target also has {', '.join(left)}, which the source lacks and which would no longer be true"
        return _Stopped("asks", scope.remark("left-behind", first, why, ANSWER))
    if all(each.source.field[-1] != decides for each in group):
        why = f"{decides} is the same in both and decides: the rest changes nothing that is pulled or fetched"
        return _Stopped("refusals", scope.remark("pinned", first, why, f"change {decides} in the source"))
    return None


def _present(leaf: Leaf, order: tuple[str, ...]) -> list[str]:
    keys = {key.value for key, _ in leaf.place.parents[-1].entries}
    return [name for name in order if name in keys] or [leaf.field[-1]]


def _judged(scope: Scope, both: Documents, each: Difference) -> "str | Plain | _Stopped":
    """The value to write, or why it is not written."""
    value = _wanted(scope, each)
    if isinstance(value, _Stopped):
        return value
    stopped = _three_way(scope, both, each)
    return value if stopped is None or stopped.remark.id in scope.answers else stopped


def _wanted(scope: Scope, each: Difference) -> "str | Plain | _Stopped":
    source, target = each.source, each.target
    if target is None or not source.is_scalar or not target.is_scalar:
        return _Stopped("asks", scope.remark("list", each, "a list whose items nothing tells apart", ANSWER))
    if fields.is_image(source) or fields.is_image(target):
        return _wanted_image(scope, each, source.text, target.text)
    if fields.is_chart_version(source) and is_range(source.text) != is_range(target.text):
        why = "one is a range of versions, the other is one version"
        return _Stopped("asks", scope.remark("range", each, why, ANSWER))
    if source.is_string or fields.is_promoted_field(source):
        return source.text
    return Plain(source.text)


def _wanted_image(scope: Scope, each: Difference, source: str, target: str) -> "str | _Stopped":
    mine, yours = ImageReference.parse(source), ImageReference.parse(target)
    if mine is None or yours is None:
        return _Stopped("asks", scope.remark("no-reference", each, "this is no plain image reference", ANSWER))
    if mine.name != yours.name:
        return _Stopped("asks", scope.remark("other-image", each, "the two are different images", ANSWER))
    if mine.tag is None and mine.digest is None:
        return _Stopped("asks", scope.remark("no-version", each, "the source has neither tag nor digest", ANSWER))
    if yours.digest and (mine.digest is None or mine.digest == yours.digest):
        why = "the digest decides in the target: a new tag beside it changes nothing that is pulled"
        remedy = f"remove the digest from {each.file} if it shall no longer pin the version, then promote again"
        return _Stopped("refusals", scope.remark("pinned", each, why, remedy))
    return str(yours.with_version_of(mine))


def _three_way(scope: Scope, both: Documents, each: Difference) -> _Stopped | None:
    """None when the target still has what the last promotion wrote, or nothing is known of one."""
    written, found = scope.before(both, each.path)
    if written is None or each.target is None:
        return _newer(scope, each)
    if not is_same(written, each.target):
        if is_same(written, each.source):
            why = "changed by hand since the last promotion; there is no newer release"
            return _Stopped("kept", scope.remark("drift", each, why))
        why = f"changed by hand since the last promotion, which wrote {written.text}"
        return _Stopped("asks", scope.remark("drift", each, why, _CHOOSE))
    if found is not None and not is_same(found, written):
        return _Stopped("asks", scope.remark("kept-before", each, "the last promotion left this value alone", _CHOOSE))
    return None


_CHOOSE = "take the release over, or keep the target's value"


def _newer(scope: Scope, each: Difference) -> _Stopped | None:
    """Without history this is an adoption: the target's value goes, unless it is newer beyond doubt."""
    ours, theirs = _version(each.source), _version(each.target)
    if ours and theirs and is_surely_newer(theirs, ours):
        why = f"the target's {theirs} is newer than {ours}, and no promotion is known that wrote it"
        return _Stopped("asks", scope.remark("target-newer", each, why, _CHOOSE))
    return None


def _version(leaf: Leaf | None) -> str:
    if leaf is None or not leaf.is_scalar:
        return ""
    image = ImageReference.parse(leaf.text) if fields.is_image(leaf) else None
    return (image.tag or "") if image else leaf.text


def _edit(scope: Scope, outcome: Outcome, both: Documents, each: Difference, value: str | Plain) -> None:
    target = each.target
    if target is None or any(known.leaf is not None and known.leaf.node is target.node for known in outcome.edits):
        return
    users = [user for user in users_of(both.target, both.numbers[1], target) if user.path != each.path]
    stays = [user for user in users if not _moves_too(scope, both, each, user, value)]
    if stays:
        where = ", ".join(path_as_text(user.path) for user in stays)
        why = f"the value is shared by an anchor with {where}, where the release does not set the same"
        remedy = "give the two values of their own in the target, then promote again"
        outcome.ask(scope.remark("shared", each, why, remedy))
        return
    new = value if isinstance(value, str) else value.text
    # Who shares the place is known here: all of them move, or it would have been asked.
    edit = ValueEdit("set", each.file, each.document, each.path, target.text, new, value, at_anchor=True)
    outcome.edits.append(replace(edit, leaf=target))


def _moves_too(scope: Scope, both: Documents, each: Difference, user: Leaf, value: str | Plain) -> bool:
    other = both.source.by_path(both.numbers[0]).get(user.path)
    if other is None or scope.verdict(each.file, other).action is not Action.PROMOTE:
        return False
    return _wanted(scope, Difference(each.source_file, each.file, each.document, other, user)) == value
