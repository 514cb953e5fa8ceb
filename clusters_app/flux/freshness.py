"""How old knowledge is, and when it stops counting: our own rounds, the controller's Lease, the object's heartbeat."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

STALE_AFTER = timedelta(minutes=5)
LOST_AFTER = timedelta(minutes=30)
LATE_ROUNDS, STALE_ROUNDS = 2, 3
FAILURES_TO_GO_DOWN, SUCCESSES_TO_COME_UP = 3, 2
_HEARTBEAT_SLACK = timedelta(minutes=1)


class Freshness(StrEnum):
    """In rising order of age; only Live may be green."""

    LIVE = "Live"
    LATE = "Late"
    STALE = "Stale"
    LOST = "Lost"


_ORDER = list(Freshness)


def older(first: Freshness, second: Freshness) -> Freshness:
    return max(first, second, key=_ORDER.index)


def freshness_of_round(observed_at: datetime | None, now: datetime, *, missed_rounds: int = 0) -> Freshness:
    """Of what a round of ours has read, by our own clock. None: it never was."""
    if observed_at is None:
        return Freshness.LOST
    age = now - observed_at
    if age >= LOST_AFTER:
        return Freshness.LOST
    if age >= STALE_AFTER or missed_rounds >= STALE_ROUNDS:
        return Freshness.STALE
    return Freshness.LATE if missed_rounds >= LATE_ROUNDS else Freshness.LIVE


def freshness_of_silence(silent_since: datetime, now: datetime) -> Freshness:
    """Of an object that nobody works on any more: it may have been true until then, and is proven by nobody since."""
    age = now - silent_since
    if age >= LOST_AFTER:
        return Freshness.LOST
    return Freshness.STALE if age >= STALE_AFTER else Freshness.LATE


def freshness_of_heartbeat(beat_at: datetime, now: datetime, period: timedelta) -> Freshness:
    """Of an object that its controller writes every `period`: Late after 2 beats that did not come, Stale after 3.

    Half a minute or a missed beat is nothing: intervals carry jitter and controllers have queues.
    """
    age = now - beat_at - _HEARTBEAT_SLACK
    if age < LATE_ROUNDS * period:
        return Freshness.LIVE
    if age < max(STALE_ROUNDS * period, STALE_AFTER):
        return Freshness.LATE
    return Freshness.LOST if age >= max(10 * period, LOST_AFTER) else Freshness.STALE


class Reachability(StrEnum):
    UP = "up"
    DOWN = "down"


def next_reachability(now_is: Reachability, failures: int, successes: int) -> Reachability:
    """Hysteresis: 3 failures in a row to go down, 2 successes in a row to come up."""
    if now_is is Reachability.UP and failures >= FAILURES_TO_GO_DOWN:
        return Reachability.DOWN
    if now_is is Reachability.DOWN and successes >= SUCCESSES_TO_COME_UP:
        return Reachability.UP
    return now_is
