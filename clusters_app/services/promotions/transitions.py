"""The state machine of a promotion as one table, and the one function that moves a promotion along it."""

from django.db import transaction
from django.utils import timezone

from clusters_app.models import Promotion, PromotionEvent
from clusters_app.services.audit import SYSTEM, Actor

S = Promotion.State

_BEFORE_MERGE: set[str] = {S.OPEN, S.CONFLICT, S.HUMAN_EDITED, S.MERGED, S.CLOSED, S.SUPERSEDED, S.ABORTED, S.BLOCKED}

#: From each state, where it may go. What is absent ends there.
TRANSITIONS: dict[str, set[str]] = {
    S.PLANNED: {S.NO_CHANGE, *_BEFORE_MERGE},
    S.BLOCKED: {S.PLANNED, S.NO_CHANGE, *_BEFORE_MERGE} - {S.BLOCKED},
    S.OPEN: {S.NO_CHANGE, *_BEFORE_MERGE} - {S.OPEN},
    S.CONFLICT: _BEFORE_MERGE - {S.CONFLICT},
    S.HUMAN_EDITED: _BEFORE_MERGE - {S.HUMAN_EDITED},
    S.MERGED: {S.ROLLING_OUT, S.VERIFIED, S.FAILED, S.OVERTAKEN},
    S.ROLLING_OUT: {S.VERIFIED, S.FAILED, S.OVERTAKEN},
    # A later commit may repair what failed: then the release is live after all, or overtaken.
    S.FAILED: {S.ROLLING_OUT, S.VERIFIED, S.OVERTAKEN},
}


class ImpossibleMove(Exception):
    """A move that the table does not have: a mistake in the program, never a user's."""


def move(*, promotion: Promotion, to: str, why: str, actor: Actor = SYSTEM, **changes: object) -> bool:
    """Move by compare-and-set, with its event, and write `changes` in the same update; False when somebody was faster.

    The instance is refreshed with what was written. Callers hold no lock and make no network call inside.
    """
    before = promotion.state
    if to not in TRANSITIONS.get(before, set()):
        raise ImpossibleMove(f"{promotion.pk}: {before} → {to}")
    now = timezone.now()
    with transaction.atomic():
        moved = Promotion.objects.filter(pk=promotion.pk, state=before).update(state=to, **changes)
        if not moved:
            return False
        PromotionEvent.objects.create(promotion=promotion, before=before, after=to, actor=actor.name, why=why, at=now)
    promotion.refresh_from_db()
    return True
