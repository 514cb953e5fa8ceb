"""Leases: a controller is dead when its Lease does not move, and an object is orphaned when nobody alive serves it."""

from datetime import timedelta

import pytest

from clusters_app.flux.leases import SHARD_KEY, LeaseSeen, read_controllers, remember_leases, selects
from clusters_app.flux.resources import decode_object
from clusters_app.flux.status import Control, Freshness, Health, Verdict
from clusters_app.flux.structs import Lease

from .documents import NOW, Document, ago, document, git_repository, kustomization, lease, ready, verdict_of

SHARD1 = "-73fdc1be"


def leases_of(*documents: Document) -> list[Lease]:
    return [item for item in map(decode_object, documents) if isinstance(item, Lease)]


def on(*leases: Document, labels: dict[str, str] | None = None, **options: object) -> Verdict:
    apps = kustomization("apps", ready(), labels=labels)
    return verdict_of(apps, *leases, git_repository(), **options)


@pytest.mark.parametrize(
    ("renewed", "holder", "control", "freshness"),
    [
        (5, "pod-1", Control.ACTIVE, Freshness.LIVE),
        (59, "pod-1", Control.ACTIVE, Freshness.LIVE),
        (61, "pod-1", Control.ORPHANED, Freshness.LATE),
        (301, "pod-1", Control.ORPHANED, Freshness.STALE),
        (1801, "pod-1", Control.ORPHANED, Freshness.LOST),
        (39, "", Control.ACTIVE, Freshness.LIVE),
        (41, "", Control.ORPHANED, Freshness.LATE),
    ],
)
def test_a_lease_that_does_not_move_is_dead(
    renewed: float, holder: str, control: Control, freshness: Freshness
) -> None:
    verdict = on(lease("kustomize-controller", renewed=renewed, holder=holder))
    assert (verdict.health, verdict.control, verdict.freshness) == (Health.READY, control, freshness)
    assert verdict.is_green is (control is Control.ACTIVE)
    assert verdict.explanation.id == ("ok" if control is Control.ACTIVE else "controller-dead")


def test_another_controllers_lease_says_nothing() -> None:
    assert on(lease("kustomize-controller"), lease("helm-controller", renewed=900)).control is Control.ACTIVE


def test_the_newest_lease_counts_and_old_ones_stay_for_ever() -> None:
    old = lease("kustomize-controller", renewed=9_000, suffix="-42da7484")
    assert on(old, lease("kustomize-controller")).control is Control.ACTIVE


def test_a_clock_that_is_off_does_not_kill_a_controller() -> None:
    """C067: what counts is whether the Lease moves by our clock, whatever it says."""
    for offset in (7200, -7200):
        first = leases_of(lease("kustomize-controller", renewed=offset))
        seen = remember_leases(first, {}, NOW, skew=timedelta(seconds=-offset))
        renewed = lease("kustomize-controller", renewed=offset - 30)
        assert on(renewed, leases_seen=seen, now=NOW + timedelta(seconds=30)).control is Control.ACTIVE
        stuck = lease("kustomize-controller", renewed=offset)
        assert on(stuck, leases_seen=seen, now=NOW + timedelta(seconds=70)).control is Control.ORPHANED


def test_a_lease_of_the_future_is_not_dead_and_one_that_stands_still_is() -> None:
    future = lease("kustomize-controller", renewed=-7200)
    seen = {"kustomize-controller-leader-election": LeaseSeen(ago(-7200), NOW - timedelta(seconds=61))}
    assert on(future).control is Control.ACTIVE
    assert on(future, leases_seen=seen).control is Control.ORPHANED


def test_leases_that_are_gone_are_forgotten() -> None:
    seen = {"helm-controller-leader-election": LeaseSeen("", NOW)}
    assert list(remember_leases(leases_of(lease("source-controller")), seen, NOW)) == [
        "source-controller-leader-election"
    ]


def test_a_shard_without_controller_is_orphaned_though_it_is_green() -> None:
    unsharded = lease("kustomize-controller", suffix="-42da7484")
    verdict = on(unsharded, labels={SHARD_KEY: "shard1"})
    assert (verdict.health, verdict.control, verdict.explanation.id) == (
        Health.READY,
        Control.ORPHANED,
        "orphaned-shard",
    )
    assert "shard1" in verdict.explanation.cause
    assert not verdict.is_green
    assert on(unsharded).control is Control.ACTIVE


def test_an_old_lease_of_all_labels_does_not_serve_a_shard() -> None:
    leases = (lease("kustomize-controller", renewed=900, holder=""), lease("kustomize-controller", suffix="-42da7484"))
    assert on(*leases, labels={SHARD_KEY: "shard1"}).explanation.id == "orphaned-shard"


def test_a_shard_with_its_own_controller_is_served() -> None:
    own = lease("kustomize-controller", suffix=SHARD1)
    controllers = read_controllers(leases_of(own), [], NOW)
    assert controllers.leases[0].selector_hash == "73fdc1be"
    assert (
        on(lease("kustomize-controller", suffix="-42da7484"), own, labels={SHARD_KEY: "shard1"}).control
        is Control.ACTIVE
    )


def test_a_selector_that_a_deployment_declares_is_understood() -> None:
    container = {"args": ["--watch-label-selector=tier=gold"], "image": "controller:v1"}
    deployment = document(
        "Deployment", "kustomize-controller-gold", spec={"template": {"spec": {"containers": [container]}}}
    )
    gold = lease("kustomize-controller", suffix="-66869e39")
    assert on(gold, deployment, labels={"tier": "gold"}).control is Control.ACTIVE
    assert on(gold, deployment, labels={"tier": "lead"}).control is Control.ORPHANED


def test_a_controller_that_is_not_installed_serves_nobody() -> None:
    deployment = document("Deployment", "source-controller")
    assert on(lease("source-controller"), deployment).control is Control.ORPHANED
    assert on(lease("source-controller")).control is Control.ACTIVE


def test_without_leases_nothing_is_said_of_controllers() -> None:
    assert on().control is Control.ACTIVE


def test_suspended_stays_suspended_when_its_controller_dies() -> None:
    apps = kustomization("apps", ready(), spec={"suspend": True})
    assert verdict_of(apps, lease("kustomize-controller", renewed=900)).control is Control.SUSPENDED


@pytest.mark.parametrize(
    ("selector", "labels", "expected"),
    [
        ("", {}, True),
        ("a", {"a": "1"}, True),
        ("!a", {"a": "1"}, False),
        ("a=1", {"a": "1"}, True),
        ("a==2", {"a": "1"}, False),
        ("a!=1", {"a": "1"}, False),
        ("a!=1", {}, True),
        ("a in (1, 2),!b", {"a": "2"}, True),
        ("a in (1,2),!b", {"a": "2", "b": ""}, False),
        ("a notin (1,2)", {"a": "3"}, True),
        ("sharding.fluxcd.io/key in (shard1)", {SHARD_KEY: "shard1"}, True),
    ],
)
def test_label_selectors_are_those_of_kubernetes(selector: str, labels: dict[str, str | None], expected: bool) -> None:
    assert selects(selector, labels) is expected
