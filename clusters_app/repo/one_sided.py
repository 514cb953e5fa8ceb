"""Values that one environment lacks: inserted or removed in promoted files, asked about anywhere else."""

from dataclasses import dataclass, field, replace

from clusters_app.repo.compare import Difference, is_same, only_there
from clusters_app.repo.edit_content import content_of
from clusters_app.repo.edit_nodes import EditRefused, Node
from clusters_app.repo.edit_paths import Match, Path, Step, field_text, matches
from clusters_app.repo.kustomize import KUSTOMIZATION_NAMES, resolve
from clusters_app.repo.leaves import Leaf
from clusters_app.repo.plan_model import Remark
from clusters_app.repo.plan_scope import ANSWER, Documents, Outcome, Scope, ValueEdit, value_at
from clusters_app.repo.rules import Action, Verdict

_WHOLE = ("promoted-file", "rule")
"""Verdicts under which a value goes because of where it stands, so that a new key goes too."""


@dataclass
class Missing:
    """Decides for values that the target lacks, one document at a time: what is inserted is a neighbour of the next."""

    scope: Scope
    outcome: Outcome
    both: Documents
    inserted: list[Path] = field(default_factory=list)
    asked: set[Path] = field(default_factory=set)

    def lists_created(self, each: Difference) -> bool:
        """Whether the value names a file that is copied; then the line that lists it is inserted."""
        if not each.missing or not names_file(each.source_file, each.source) & self.scope.created:
            return False
        if each.missing in self.inserted:
            return True
        try:
            edit = self._insertion(each)
            self.outcome.edits.append(self._only_created(edit) if isinstance(each.missing[-1], str) else edit)
        except EditRefused as error:
            remedy = f"list the file in {each.file} by hand, then promote again"
            self.outcome.refusals.append(self.scope.remark(error.code, each, error.reason, remedy))
        return True

    def decide(self, each: Difference, verdict: Verdict) -> None:
        """For a value that a rule promotes and that the target lacks."""
        if each.missing in self.inserted or each.missing in self.asked:
            return
        problem = each.problem
        if problem is not None and problem.code == "edit.doubled-key":
            remedy = f"remove one of the two in {each.file}"
            self.outcome.refusals.append(self.scope.remark("doubled-key", each, problem.reason, remedy))
        elif problem is not None:
            why = f"{problem.reason} in the target"
            self.asked.add(each.missing)
            self.outcome.ask(self.scope.remark("ambiguous", each, why, ANSWER))
        else:
            self._insert_or_ask(each, verdict)

    def _insert_or_ask(self, each: Difference, verdict: Verdict) -> None:
        question = None
        if each.is_new_item:
            question = self.scope.remark("new-item", each, "the target's list has no such item", ANSWER)
        elif verdict.code not in _WHOLE:
            why = "the target has no value of its own here and inherits it"
            question = self.scope.remark("inherited", each, why, ANSWER)
        if question is not None and question.id not in self.scope.answers:
            self.outcome.ask(question)
            self.asked |= {each.missing} if each.is_new_item else set()
            return
        try:
            self.outcome.edits.append(self._insertion(each))
        except EditRefused as error:
            self.outcome.ask(self.scope.remark(error.code, each, error.reason, ANSWER))

    def _insertion(self, each: Difference) -> ValueEdit:
        place = self.both.source_place(each.missing)
        content = content_of(place.stream, place.node)
        after = neighbour(self.both, each.missing, self.inserted)
        self.inserted.append(each.missing)
        is_scalar = place.node.kind == "scalar"
        text = place.node.value if is_scalar else place.stream.text[place.node.start : place.node.end]
        return ValueEdit("insert", each.file, each.document, each.missing, None, text, content=content, after=after)

    def _only_created(self, edit: ValueEdit) -> ValueEdit:
        """A whole list that the target lacks: of its items only those that are created now."""
        place, length = self.both.source_place(edit.path), len(edit.path)
        below = [leaf for leaf in self.both.in_source if leaf.path[:length] == edit.path]
        listed = {leaf.path[length] for leaf in below if names_file(self.both.source.path, leaf) & self.scope.created}
        steps = [step for step in listed if isinstance(step, Match)]
        items = [item for item in place.node.items if any(matches(item, step) for step in steps)]
        content = [content_of(place.stream, item) for item in items]
        return replace(edit, content=content, new=", ".join(sorted(map(str, steps))))


def names_file(file: str, leaf: Leaf) -> set[str]:
    """The file that a value of a kustomization names, as a path from the repository's root."""
    if file.rpartition("/")[2] not in KUSTOMIZATION_NAMES or not leaf.is_scalar:
        return set()
    path = resolve(file.rpartition("/")[0], leaf.text.rpartition("=")[2])
    return {path} if path else set()


def neighbour(both: Documents, path: Path, inserted: list[Path]) -> Step | None:
    """The sibling behind which a new child goes in the target: its neighbour in the source, else the last one."""
    *above, last = path
    steps = _steps(both.source_place(path).parents[-1], last)
    there = _steps(both.target_place(tuple(above)).node, last)
    known = {*there, *(each[-1] for each in inserted if each[:-1] == path[:-1])}
    number = steps.index(last)
    if before := next((step for step in reversed(steps[:number]) if step in known), None):
        return before
    behind = next((step for step in steps[number + 1 :] if step in there), None)
    if behind is None:
        return there[-1] if there else None
    return there[there.index(behind) - 1] if there.index(behind) else None


def _steps(node: Node, like: Step) -> list[Step]:
    """The children of a node as steps, list items by the fields that `like` has."""
    if isinstance(like, str):
        return [key.value for key, _ in node.entries]
    names = [name for name, _ in like.fields]
    return [Match(tuple((name, field_text(item, name) or "") for name in names)) for item in node.items]


def remove_what_went(scope: Scope, outcome: Outcome, both: Documents) -> None:
    """What the source no longer has, though the last promotion wrote it and the target left it alone."""
    done: set[Path] = set()
    for leaf in only_there(both.source, both.target, both.numbers):
        path = _first_missing(both, leaf.path)
        if path in done:
            continue
        done.add(path)
        edit = ValueEdit("remove", both.target.path, both.numbers[1], path, leaf.text, None)
        verdict = scope.verdict(both.target.path, leaf)
        if names_file(both.target.path, leaf) & scope.deleted:
            outcome.edits.append(edit)
        elif verdict.action is Action.PROMOTE and verdict.code in _WHOLE:
            _remove(scope, outcome, both, leaf, edit)


def _remove(scope: Scope, outcome: Outcome, both: Documents, leaf: Leaf, edit: ValueEdit) -> None:
    why = "the source has no such value"
    remark = Remark("only-in-target", scope.app, edit.file, edit.path, None, leaf.text, why)
    if not _was_promoted(scope, both, leaf):
        outcome.kept.append(remark)
    elif isinstance(edit.path[-1], Match):
        outcome.ask(replace(remark, code="removed-item", why="the source removed this item", remedy=ANSWER))
    else:
        outcome.edits.append(edit)


def _first_missing(both: Documents, path: Path) -> Path:
    for length in range(1, len(path) + 1):
        try:
            both.source_place(path[:length])
        except EditRefused:
            return path[:length]
    return path


def _was_promoted(scope: Scope, both: Documents, leaf: Leaf) -> bool:
    """Whether the last promotion wrote this value from one that the source had then, and nobody changed it since."""
    written, found = scope.before(both, leaf.path)
    if scope.past is not None and scope.past.source is None:
        # Which commit was carried is not known: what the source had when the promotion was merged stands for it.
        identity = both.target.identity(both.numbers[1], scope.environments[1])
        found = value_at(scope.past.written, both.source.path, identity, leaf.path, scope.environments[0])
    return written is not None and found is not None and is_same(written, leaf)
