"""Why an object is as it is, and what to do: states first, then the library of messages, then what the kind is about.

Needs no network and no model. The order is that of the verdict: what an object waits for explains it before its own
words do.
"""

from __future__ import annotations

from functools import cache

from .case import Case
from .conditions import condition, is_about, redacted, unwrapped
from .explain_rules import applying, building, connecting, helm, images, sources, states, terraform
from .explain_rules.rule import Rule
from .structs import HelmRelease, Source
from .verdicts import Explanation

__all__ = ["RULES", "Case", "Explanation", "explain"]

RULES: tuple[Rule, ...] = (
    *building.RULES,
    *applying.RULES,
    *helm.RULES,
    *images.RULES,
    *terraform.RULES,
    *connecting.RULES,
    *sources.RULES,
)
"""The library of messages; the first rule that knows one wins. Adding one: a row in the file of its subject, with a
test of a real message and of one that must not match."""


LONGEST_MESSAGE = 4_000
"""What a cluster may make us search; the cause stands at the beginning."""


def explain(case: Case) -> Explanation:
    """Always an explanation; `ok` has no remedy."""
    if state := states.explanation(case):
        return state
    texts = _texts(case)
    if found := next((found for text in texts if (found := _by_message(case, text))), None):
        return found
    return states.fallback(case, texts[0] if texts else "")


@cache
def _rules_for(kind: str) -> tuple[Rule, ...]:
    return tuple(rule for rule in RULES if not rule.kinds or kind in rule.kinds)


def _by_message(case: Case, text: str) -> Explanation | None:
    return next((found for rule in _rules_for(case.kind) if (found := rule.explanation(case, text))), None)


def _texts(case: Case) -> list[str]:
    """The messages in the order in which they tell the truth.

    A HelmRelease's Ready and Stalled are generic: what happened stands in Released and TestSuccess. A source that is
    trying again still holds its last failure in FetchFailed.
    """
    names = ["Ready", "Stalled"]
    if isinstance(case.resource, HelmRelease):
        names = (
            ["Stalled", "Released", "TestSuccess", "Ready"]
            if _is_own_stall(case)
            else ["Released", "TestSuccess", "Ready", "Stalled"]
        )
    if case.verdict.rule == "in-progress":
        names = ["FetchFailed"] if isinstance(case.resource, Source) else []
    found = (condition(case.resource, name) for name in names)
    said = [
        unwrapped(redacted(item.message or ""))
        for item in found
        if item and item.status != _good(item.type) and is_about(case.resource, item)
    ]
    said = list(dict.fromkeys(text[:LONGEST_MESSAGE] for text in said))
    return said or ([case.verdict.message] if case.verdict.message and case.verdict.rule != "in-progress" else [])


def _good(type_: str | None) -> str:
    return "False" if type_ in {"Stalled", "FetchFailed"} else "True"


def _is_own_stall(case: Case) -> bool:
    """RetriesExceeded says nothing but that; every other reason of Stalled is the cause itself."""
    stalled = condition(case.resource, "Stalled")
    return bool(stalled and stalled.status == "True" and stalled.reason not in {"RetriesExceeded", None})
