"""Many verdicts in one line: counts always, the worst settled health, every cause once, green only when all is live."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from .freshness import Freshness
from .identity import ObjectRef
from .verdicts import Control, Health, Verdict

WORST_FIRST = (
    Health.STALLED,
    Health.FAILING,
    Health.DEGRADED,
    Health.UNKNOWN,
    Health.PENDING_APPROVAL,
    Health.WAITING,
    Health.TERMINATING,
    Health.PROGRESSING,
    Health.READY,
    Health.STATIC,
)
_RANK = {health: rank for rank, health in enumerate(WORST_FIRST)}
_FAILING = frozenset({Health.STALLED, Health.FAILING, Health.DEGRADED})


@dataclass(frozen=True, slots=True)
class Member:
    """One object as a roll-up sees it; its freshness already counts the age of our own reading."""

    health: Health
    settled_health: Health
    control: Control
    freshness: Freshness
    is_blocked: bool = False

    @property
    def is_green(self) -> bool:
        """Proven and worked on; an object without status has nothing to prove and does not stand in the way."""
        good = self.health is Health.READY or self.health is Health.STATIC
        return good and self.control is Control.ACTIVE and self.freshness is Freshness.LIVE


@dataclass(frozen=True, slots=True)
class RollUp:
    """`counts` adds up to `total`: each object is counted once, under the first of its words that applies."""

    total: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    worst: Health | None = None
    is_green: bool = False

    def __str__(self) -> str:
        return " / ".join(f"{number} {word}" for word, number in self.counts.items()) or "nothing"


def _is_failing(member: Member) -> bool:
    return member.settled_health in _FAILING or member.health in _FAILING


_WORDS: tuple[tuple[str, Callable[[Member], bool]], ...] = (
    ("suspended", lambda member: member.control is Control.SUSPENDED),
    ("blocked", lambda member: member.is_blocked and _is_failing(member)),
    ("failing", _is_failing),
    ("orphaned", lambda member: member.control is Control.ORPHANED),
    ("stale", lambda member: member.freshness is not Freshness.LIVE),
    ("approval", lambda member: member.health is Health.PENDING_APPROVAL),
    ("ok", lambda member: member.health in {Health.READY, Health.STATIC}),
    ("unknown", lambda member: member.health is Health.UNKNOWN),
)
WORDS = ("ok", "failing", "blocked", "waiting", "approval", "suspended", "orphaned", "stale", "unknown")
"""In the order in which a line shows them."""


def word_of(member: Member) -> str:
    """Under which word an object is counted. What is not proven is never `ok`, however it looked when last seen."""
    return next((word for word, is_so in _WORDS if is_so(member)), "waiting")


def roll_up(members: Iterable[Member]) -> RollUp:
    """Over any level: objects of an app, a cluster, an environment, the fleet. An empty one is not green."""
    listed = list(members)
    found = Counter(map(word_of, listed))
    counts = {word: found[word] for word in WORDS if found[word]}
    own = [member.settled_health for member in listed if not member.is_blocked] or [
        member.settled_health for member in listed
    ]
    worst = min(own, key=_RANK.__getitem__, default=None)
    return RollUp(len(listed), counts, worst, bool(listed) and all(member.is_green for member in listed))


def member_of(verdict: Verdict) -> Member:
    return Member(verdict.health, verdict.settled_health, verdict.control, verdict.freshness, verdict.is_blocked)


@dataclass(frozen=True, slots=True)
class Problem:
    """One cause and everything that waits for it. `root` may name an object that does not exist, so has no verdict."""

    root: ObjectRef
    verdict: Verdict | None
    blocked: tuple[ObjectRef, ...]

    @property
    def is_confirmed(self) -> bool:
        return self.verdict is None or self.verdict.is_confirmed


def problems(verdicts: Mapping[ObjectRef, Verdict]) -> list[Problem]:
    """One row a cause, the one with most objects behind it first. Suspended objects are no problem by themselves."""
    behind: dict[ObjectRef, list[ObjectRef]] = {}
    for ref, verdict in verdicts.items():
        if _is_problem(verdict):
            members = behind.setdefault(verdict.root, [])
            members.extend([ref] if ref != verdict.root else [])
    rows = [Problem(root, verdicts.get(root), tuple(refs)) for root, refs in behind.items()]
    return sorted(rows, key=lambda row: (-len(row.blocked), row.root))


def _is_problem(verdict: Verdict) -> bool:
    if verdict.control is Control.SUSPENDED and not verdict.is_blocked:
        return False
    return verdict.settled_health in _FAILING or verdict.health in _FAILING
