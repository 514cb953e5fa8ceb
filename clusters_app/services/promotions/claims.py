"""Who works on a promotion right now: a claim with an end and a fence, so that a late worker writes nothing."""

from datetime import timedelta

from django.db.models import F, Q
from django.utils import timezone

from clusters_app.models import Promotion
from clusters_app.secret import mask

LEASE = timedelta(minutes=3)
#: After so many failed attempts in a row a promotion is left to a person; `retry` starts again.
MOST_ATTEMPTS = 5
SOON = timedelta(seconds=5)


def due_promotions() -> list[int]:
    """Ids of promotions that want a look: due and not held by a worker."""
    now = timezone.now()
    moving = Promotion.objects.filter(state__in=Promotion.MOVING_STATES, attempts__lt=MOST_ATTEMPTS)
    free = Q(claimed_until=None) | Q(claimed_until__lt=now)
    due = Q(due_at=None) | Q(due_at__lte=now)
    return list(moving.filter(free, due).values_list("pk", flat=True)[:200])


def claim(promotion_id: int) -> Promotion | None:
    """The promotion, held until `release` or the lease's end; None when somebody else holds it or nothing is due.

    The attempt is counted before the work: a worker that dies in it has used one up.
    """
    now = timezone.now()
    free = Q(claimed_until=None) | Q(claimed_until__lt=now)
    claimed = Promotion.objects.filter(
        free, pk=promotion_id, state__in=Promotion.MOVING_STATES, attempts__lt=MOST_ATTEMPTS
    ).update(claimed_until=now + LEASE, fence=F("fence") + 1, attempts=F("attempts") + 1)
    if not claimed:
        return None
    return Promotion.objects.select_related("repository", "release", "source", "target", "requested_by").get(
        pk=promotion_id
    )


def still_mine(promotion: Promotion) -> bool:
    """Whether this worker's claim is the newest and has time left; asked before each write to the outside."""
    held = Promotion.objects.filter(pk=promotion.pk, fence=promotion.fence, claimed_until__gt=timezone.now())
    return held.exists()


def write(promotion: Promotion, **changes: object) -> bool:
    """Store results under the fence; False when a later claim exists, and then nothing is written."""
    written = Promotion.objects.filter(pk=promotion.pk, fence=promotion.fence).update(**changes)
    promotion.refresh_from_db()
    return bool(written)


def let_go(promotion: Promotion, *, again_in: timedelta = SOON) -> None:
    """Give the promotion back after work that succeeded."""
    Promotion.objects.filter(pk=promotion.pk, fence=promotion.fence).update(
        claimed_until=None, attempts=0, due_at=timezone.now() + again_in, problem="", problem_code=""
    )


def let_go_failed(promotion: Promotion, *, code: str, text: str, again_in: timedelta, is_transient: bool) -> None:
    """Give it back with what went wrong. A transient failure costs an attempt only when it persists for long."""
    attempts = promotion.attempts if is_transient else MOST_ATTEMPTS
    Promotion.objects.filter(pk=promotion.pk, fence=promotion.fence).update(
        claimed_until=None,
        attempts=min(attempts, MOST_ATTEMPTS - 1) if is_transient else attempts,
        due_at=timezone.now() + again_in,
        problem_code=code,
        problem=mask(text),
    )
