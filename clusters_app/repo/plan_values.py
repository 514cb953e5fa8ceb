"""The decision for each value of two documents that differs: carried over, kept, asked or refused."""

from dataclasses import replace

from clusters_app.repo.carried import carry
from clusters_app.repo.compare import Difference, differences
from clusters_app.repo.edit_paths import Path
from clusters_app.repo.one_sided import Missing, remove_what_went
from clusters_app.repo.plan_model import Remark
from clusters_app.repo.plan_scope import ANSWER, Documents, Outcome, Scope
from clusters_app.repo.rules import Action


def decide_documents(scope: Scope, both: Documents) -> Outcome:
    """All differences of two documents of the same object."""
    outcome, carried = Outcome(), list[Difference]()
    missing = Missing(scope, outcome, both)
    for each in differences(both.source, both.target, both.numbers):
        if missing.lists_created(each):
            continue
        verdict = scope.verdict(each.file, each.source)
        remark = scope.remark(verdict.code, each, verdict.why)
        question = replace(remark, remedy=ANSWER)
        is_item = each.is_new_item and verdict.code == "identity"
        if verdict.action in (Action.KEEP, Action.NEVER) and not is_item:
            outcome.kept.append(_without_secret(remark))
        elif verdict.action is Action.ASK and not each.is_new_item and question.id not in scope.answers:
            outcome.ask(question)
        elif each.target is None:
            missing.decide(each, verdict)
        else:
            carried.append(each)
    carry(scope, outcome, both, carried)
    remove_what_went(scope, outcome, both)
    return outcome


def _without_secret(remark: Remark) -> Remark:
    """The values of a Secret are no matter for a plan that people read."""
    return replace(remark, source=None, target=None, path=_keys(remark.path)) if remark.code == "secret" else remark


def _keys(path: Path) -> Path:
    return tuple(step for step in path if isinstance(step, str) or step.fields[0][0])
