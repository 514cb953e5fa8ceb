"""One step of one promotion: read the world, move at most one state, come back soon. Can run twice harmlessly.

Every effect outside is a no-op when it is there already: the commit is deterministic, the push is exact, the pull
request is adopted by its branch. What a crash left behind, the next step finds.
"""

from collections.abc import Callable
from datetime import timedelta

from django.utils.translation import gettext as _

from clusters_app.egress import EgressError, EgressTransient
from clusters_app.forges import ForgeError, ForgeTransient
from clusters_app.git.errors import GitError, GitTransient
from clusters_app.models import Promotion
from clusters_app.services.errors import ServiceError

from . import opening, rollout
from .claims import claim, due_promotions, let_go, let_go_failed

__all__ = ["advance_promotion", "due_promotions"]

S = Promotion.State

STEPS: dict[str, Callable[[Promotion], timedelta]] = {
    S.PLANNED: opening.open_pull_request,
    S.BLOCKED: opening.open_pull_request,
    S.OPEN: opening.watch_pull_request,
    S.CONFLICT: opening.watch_pull_request,
    S.HUMAN_EDITED: opening.watch_pull_request,
    S.MERGED: rollout.follow,
    S.ROLLING_OUT: rollout.follow,
    S.FAILED: rollout.follow,
}


def advance_promotion(*, promotion_id: int) -> None:
    """Take the next step of this promotion, unless another worker has it. What fails is recorded, never raised."""
    promotion = claim(promotion_id)
    if promotion is None:
        return
    try:
        pause = STEPS[promotion.state](promotion)
    except (EgressError, ForgeError, GitError, ServiceError) as error:
        let_go_failed(
            promotion,
            code=error.code,
            text=str(error),
            again_in=_pause_after(promotion, error),
            is_transient=isinstance(error, EgressTransient | ForgeTransient | GitTransient),
        )
    except Exception:
        let_go_failed(
            promotion,
            code="promotion.crashed",
            text=_("Flotilla failed at this step; its log says why."),
            again_in=timedelta(minutes=1),
            is_transient=False,
        )
        raise
    else:
        let_go(promotion, again_in=pause)


def _pause_after(promotion: Promotion, error: Exception) -> timedelta:
    asked = getattr(error, "retry_after_seconds", None)
    grown = min(300, 5 * 2**promotion.attempts)
    return timedelta(seconds=max(asked or 0, grown))
