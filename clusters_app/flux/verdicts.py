"""What is said of an object: three independent axes, never one enum, and what must be remembered between rounds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from .freshness import Freshness
from .identity import ObjectRef


class Health(StrEnum):
    """What an object's own documents and those that it waits for say."""

    READY = "Ready"
    DEGRADED = "Degraded"
    WAITING = "Waiting"
    PROGRESSING = "Progressing"
    FAILING = "Failing"
    STALLED = "Stalled"
    PENDING_APPROVAL = "PendingApproval"
    TERMINATING = "Terminating"
    STATIC = "Static"
    UNKNOWN = "Unknown"


SETTLED = frozenset(
    {Health.READY, Health.DEGRADED, Health.FAILING, Health.STALLED, Health.PENDING_APPROVAL, Health.STATIC}
)
"""Healths that are a verdict; the others are on the way to one."""
BROKEN = frozenset({Health.FAILING, Health.STALLED})


class Control(StrEnum):
    """Who works on an object: its controller, nobody because a person said so, nobody at all."""

    ACTIVE = "Active"
    SUSPENDED = "Suspended"
    ORPHANED = "Orphaned"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why, what to do, a command to copy, where to read more. `id` is stable; texts are English."""

    id: str
    cause: str
    remedy: str = ""
    command: str = ""
    link: str = ""


OK = Explanation("ok", "It does what its document says, at this generation.")


@dataclass(frozen=True, slots=True)
class Notice:
    """Green, yet broken in a way that Flux cannot see, or behind for a reason that no status names."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Suspension:
    """Since when and by which field manager `spec.suspend` is set, as far as managedFields tell.

    `flux suspend` takes the field's ownership, so a manager other than kustomize-controller does not prove that Git
    leaves the field alone.
    """

    since: datetime | None = None
    manager: str = ""


class Verdict(Struct, frozen=True, kw_only=True):
    """All that pages, API and commands say of one object: none derives its own.

    `blocked_by` is the direct neighbour that an object waits for, `caused_by` the root behind it (it may be an object
    that does not exist). `cycle` holds the members when the root is a dependency cycle. Revisions are whole; print them
    with `revisions.short`. `applied` is what is in the cluster, `revision` what is applied and healthy and pruned.
    `attempts` counts the failed ones at the same content, as far as the kind counts them.
    """

    ref: ObjectRef
    health: Health
    control: Control = Control.ACTIVE
    freshness: Freshness = Freshness.LIVE
    settled_health: Health
    rule: str
    reason: str = ""
    message: str = ""
    revision: str | None = None
    applied: str | None = None
    attempted: str | None = None
    deployed: str | None = None
    origin_revision: str | None = None
    blocked_by: ObjectRef | None = None
    caused_by: ObjectRef | None = None
    cycle: tuple[ObjectRef, ...] = ()
    evidence_at: datetime | None = None
    failing_since: datetime | None = None
    attempts: int | None = None
    is_confirmed: bool = True
    suspension: Suspension | None = None
    explanation: Explanation = OK
    notices: tuple[Notice, ...] = ()

    @property
    def is_green(self) -> bool:
        """Earned: Ready, worked on, and with live evidence."""
        return (self.health, self.control, self.freshness) == (Health.READY, Control.ACTIVE, Freshness.LIVE)

    @property
    def is_blocked(self) -> bool:
        """Counted once, under its root, and not by itself."""
        return self.root != self.ref

    @property
    def root(self) -> ObjectRef:
        """Whose problem this is; the members of a cycle share one."""
        if self.cycle:
            return min(self.cycle)
        return self.caused_by or self.ref


@dataclass(frozen=True, slots=True)
class Memory:
    """What is remembered of one object between rounds, because no document of it tells.

    A message that only differs in what differs at every retry does not start a new failure: `failing_since` is ours,
    Ready's own `lastTransitionTime` moves at every attempt. `failures_seen` counts observations in a row.
    """

    settled_health: Health | None = None
    failing_since: datetime | None = None
    failures_seen: int = 0
    generation: int | None = None
    generation_seen_at: datetime | None = None
    deployed: str | None = None
    health_at_suspension: Health | None = None
