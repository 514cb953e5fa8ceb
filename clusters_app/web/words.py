"""States in words and looks: one place decides which of the five signs a state wears."""

from datetime import datetime

from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from clusters_app.models import AppOnCluster, Promotion, PromotionTarget
from clusters_app.queries.fleet import ClusterRow

#: A cluster's standing → its look (static/flotilla/states.css).
STANDING_LOOKS = {
    "failing": "failing",
    "lost": "unseen",
    "stale": "unseen",
    "degraded": "warning",
    "progressing": "waiting",
    "suspended": "held",
    "ready": "ready",
    "unknown": "none",
}

HEALTH_LOOKS = {
    "Ready": "ready",
    "Static": "ready",
    "Degraded": "warning",
    "PendingApproval": "warning",
    "Waiting": "waiting",
    "Progressing": "waiting",
    "Terminating": "waiting",
    "Failing": "failing",
    "Stalled": "failing",
    "Unknown": "unseen",
}

_App = AppOnCluster.State
APP_LOOKS: dict[str, str] = {
    _App.LIVE: "ready",
    _App.APPLIED: "waiting",
    _App.FETCHED: "waiting",
    _App.WAITING: "todo",
    _App.FAILING: "failing",
    _App.SUSPENDED: "held",
    _App.UNKNOWN: "unseen",
}

_Target = PromotionTarget.State
TARGET_LOOKS: dict[str, str] = {
    _Target.VERIFIED: "ready",
    _Target.APPLIED: "waiting",
    _Target.FETCHED: "waiting",
    _Target.MERGED: "none",
    _Target.FAILING: "failing",
    _Target.OVERTAKEN: "held",
    _Target.UNKNOWN: "unseen",
}

_Promotion = Promotion.State
PROMOTION_LOOKS: dict[str, str] = {
    _Promotion.PLANNED: "waiting",
    _Promotion.NO_CHANGE: "none",
    _Promotion.BLOCKED: "held",
    _Promotion.OPEN: "waiting",
    _Promotion.CONFLICT: "failing",
    _Promotion.HUMAN_EDITED: "warning",
    _Promotion.MERGED: "waiting",
    _Promotion.ROLLING_OUT: "waiting",
    _Promotion.VERIFIED: "ready",
    _Promotion.FAILED: "failing",
    _Promotion.OVERTAKEN: "held",
    _Promotion.SUPERSEDED: "held",
    _Promotion.ABORTED: "none",
    _Promotion.CLOSED: "none",
}

STANDING_WORDS = {
    "failing": gettext_lazy("Failing"),
    "lost": gettext_lazy("Lost"),
    "stale": gettext_lazy("Stale"),
    "degraded": gettext_lazy("Degraded"),
    "progressing": gettext_lazy("Progressing"),
    "suspended": gettext_lazy("Ready, some suspended"),
    "ready": gettext_lazy("Ready"),
    "unknown": gettext_lazy("Not read yet"),
}


def standing_text(row: ClusterRow, now: datetime) -> str:
    """The word for a cluster's standing, with how long it has not been seen or how many are suspended."""
    seen = row.status.observed_at
    if row.standing in {"lost", "stale"} and seen is not None:
        return _("%(standing)s for %(time)s") % {
            "standing": STANDING_WORDS[row.standing],
            "time": timesince(seen, now, depth=1),
        }
    if row.standing == "suspended":
        return _("Ready, %(count)d suspended") % {"count": row.counts.suspended}
    return str(STANDING_WORDS[row.standing])
