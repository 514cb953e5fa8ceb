"""States in words and looks: one place decides which of the five signs a state wears."""

from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from clusters_app.flux.freshness import Freshness
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

#: Looks in the order in which a person wants to see them.
WORST_FIRST = ("failing", "warning", "waiting", "unseen", "none", "held", "ready")

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


_UNITS = (
    (timedelta(days=1), gettext_lazy("%(count)d d")),
    (timedelta(hours=1), gettext_lazy("%(count)d h")),
    (timedelta(minutes=1), gettext_lazy("%(count)d min")),
    (timedelta(seconds=1), gettext_lazy("%(count)d s")),
)


def age_text(at: datetime, now: datetime) -> str:
    """How long ago, in one short unit; empty under a second, also when it lies ahead, since clocks differ."""
    age = now - at
    return next((text % {"count": age // unit} for unit, text in _UNITS if age >= unit), "")


def standing_text(row: ClusterRow, now: datetime) -> str:
    """The word for a cluster's standing, with how long it has not been seen or how many are suspended."""
    seen = row.status.observed_at
    if row.standing in {"lost", "stale"} and seen is not None:
        return _("%(standing)s for %(time)s") % {
            "standing": _("Late") if row.freshness is Freshness.LATE else STANDING_WORDS[row.standing],
            "time": age_text(seen, now),
        }
    if row.standing == "suspended":
        return _("Ready, %(count)d suspended") % {"count": row.counts.suspended}
    return str(STANDING_WORDS[row.standing])


OPERATION_WORDS = {
    "repository.add": gettext_lazy("Adding %(subject)s"),
    "repository.scaffold": gettext_lazy("Scaffolding %(subject)s"),
    "cluster.register": gettext_lazy("Registering %(subject)s"),
    "review.merge": gettext_lazy("Merging %(subject)s"),
    "review.close": gettext_lazy("Closing %(subject)s"),
}

#: States in which the line stands still and says why, instead of going on.
_STOPPED = {
    _Promotion.FAILED,
    _Promotion.CONFLICT,
    _Promotion.NO_CHANGE,
    _Promotion.SUPERSEDED,
    _Promotion.ABORTED,
    _Promotion.CLOSED,
    _Promotion.OVERTAKEN,
}


def promotion_steps(promotion: Promotion, targets: list[PromotionTarget]) -> list[dict[str, Any]]:
    """[{label, look, text, at}] of the line: planned, opened, merged, rolling out, verified."""
    live = sum(target.verified_at is not None for target in targets)
    who = promotion.requested_by.username if promotion.requested_by else ""
    number = f"#{promotion.pull_request_number}" if promotion.pull_request_number else ""
    steps: list[dict[str, Any]] = [
        {"label": _("Planned"), "text": who, "at": promotion.created_at},
        {"label": _("Opened"), "text": number, "at": promotion.opened_at},
        {"label": _("Merged"), "text": promotion.merge_commit[:7], "at": promotion.merged_at},
        {
            "label": _("Rolling out"),
            "text": _("%(live)d of %(all)d live") % {"live": live, "all": len(targets)} if targets else "",
            "at": None,
        },
        {"label": _("Verified"), "text": "", "at": promotion.verified_at},
    ]
    reached = _reached(promotion)
    for index, step in enumerate(steps):
        step["look"] = "done" if index < reached else "todo"
    if promotion.state != _Promotion.VERIFIED:
        is_stopped = promotion.state in _STOPPED
        steps[reached]["look"] = "stopped" if is_stopped else "now"
        if is_stopped:
            steps[reached]["label"] = str(promotion.get_state_display())
    return steps


def _reached(promotion: Promotion) -> int:
    """How many steps of the line are done."""
    if promotion.state == _Promotion.VERIFIED:
        return 5
    if promotion.merged_at:
        return 3
    return 2 if promotion.opened_at else 1
