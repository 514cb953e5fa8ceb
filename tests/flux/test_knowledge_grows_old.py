"""Freshness: our rounds, the object's heartbeat, and the way down and up again."""

from datetime import timedelta

import pytest

from clusters_app.flux.freshness import Reachability, freshness_of_round, next_reachability, older
from clusters_app.flux.status import Freshness, Health

from .documents import NOW, ago, document, git_repository, kustomization, ready, verdict_of


@pytest.mark.parametrize(
    ("age", "missed", "expected"),
    [
        (0, 0, Freshness.LIVE),
        (120, 1, Freshness.LIVE),
        (120, 2, Freshness.LATE),
        (120, 3, Freshness.STALE),
        (300, 0, Freshness.STALE),
        (1799, 9, Freshness.STALE),
        (1800, 0, Freshness.LOST),
    ],
)
def test_a_round_grows_late_stale_lost(age: float, missed: int, expected: Freshness) -> None:
    assert freshness_of_round(NOW - timedelta(seconds=age), NOW, missed_rounds=missed) is expected


def test_what_was_never_read_is_lost() -> None:
    assert freshness_of_round(None, NOW) is Freshness.LOST


def test_the_worse_of_two_counts() -> None:
    assert older(Freshness.LATE, Freshness.LIVE) is Freshness.LATE
    assert older(Freshness.LATE, Freshness.LOST) is Freshness.LOST


def applied(last: float) -> dict[str, object]:
    history = [{"lastReconciled": ago(last), "lastReconciledStatus": "ReconciliationSucceeded"}]
    return kustomization("apps", ready(since=9_000), status={"history": history}, created=9_000)


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        (300, Freshness.LIVE),
        (700, Freshness.LIVE),
        (800, Freshness.LATE),
        (1300, Freshness.STALE),
        (4000, Freshness.LOST),
    ],
)
def test_a_kustomization_that_is_written_no_more_grows_old(last: float, expected: Freshness) -> None:
    verdict = verdict_of(applied(last), git_repository())
    assert (verdict.health, verdict.freshness) == (Health.READY, expected)
    assert verdict.is_green is (expected is Freshness.LIVE)


def test_a_suspended_one_is_not_expected_to_be_written() -> None:
    suspended = applied(4_000)
    suspended["spec"] = {"suspend": True, "interval": "5m"}
    assert verdict_of(suspended, git_repository()).freshness is Freshness.LIVE


def test_an_image_repository_beats_by_its_scans() -> None:
    status = {"lastScanResult": {"scanTime": ago(900), "tagCount": 3}}
    assert verdict_of(document("ImageRepository", "web", ready(since=9_000), status=status)).freshness is Freshness.LATE


def test_evidence_is_never_of_the_future() -> None:
    verdict = verdict_of(kustomization("apps", ready(since=-99_999_999)), git_repository())
    assert (verdict.evidence_at, verdict.health) == (NOW, Health.READY)


def test_evidence_is_told_by_our_clock() -> None:
    ahead = kustomization("apps", ready(since=-7_100))
    assert verdict_of(ahead, skew=timedelta(hours=2)).evidence_at == NOW - timedelta(seconds=100)


def test_it_takes_three_failures_to_go_down_and_two_successes_to_come_up() -> None:
    up, down = Reachability.UP, Reachability.DOWN
    assert [next_reachability(up, failures, 0) for failures in (1, 2, 3)] == [up, up, down]
    assert [next_reachability(down, 0, successes) for successes in (1, 2)] == [down, up]
