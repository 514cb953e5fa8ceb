"""From an empty remote to a promotion that is live on every cluster, service by service, on the `local` forge."""

import pytest

from clusters_app.models import App, AppOnCluster, AppStage, Cluster, Environment
from clusters_app.services.audit import first_broken_link
from clusters_app.services.promotions import advancing, requesting
from clusters_app.services.remotes import forge_of

from .fleet import VERSION, Fleet

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_scaffolded_fleet_is_live_once_every_cluster_applied_it(fleet: Fleet) -> None:
    stages = {stage.environment.name: stage for stage in AppStage.objects.select_related("environment")}
    assert {name: stage.version for name, stage in stages.items()} == dict.fromkeys(("dev", "staging", "prod"), "1.0.0")
    placed = AppOnCluster.objects.values_list("cluster__name", "state")
    assert dict(placed) == dict.fromkeys(("dev", "staging", "prod-a", "prod-b"), "live")
    for cluster in Cluster.objects.select_related("status"):
        assert (cluster.status.commits_behind, cluster.status.healthy) == (0, fleet.head)


def test_one_version_travels_from_dev_to_prod(fleet: Fleet) -> None:
    fleet.release("1.1.0")
    assert AppStage.objects.get(environment__name="dev").version == "1.1.0"
    fleet.reconcile("dev")

    promotion = fleet.promote("dev", "staging")
    assert promotion is not None
    before = fleet.read(VERSION.format("staging"))
    assert fleet.advance(promotion).state == "Open"
    assert fleet.advance(promotion).state == "Open"
    assert fleet.promote("dev", "staging") == promotion
    assert [result.passed for result in promotion.gate_results.all()] == [True]
    fleet.merge(promotion)
    after = fleet.read(VERSION.format("staging"))
    changed = [pair for pair in zip(before.splitlines(), after.splitlines(), strict=True) if pair[0] != pair[1]]
    assert [(old.replace("1.0.0", "1.1.0")) for old, _new in changed] == [new for _old, new in changed]
    assert len(changed) == 1

    assert fleet.advance(promotion).state == "Merged"
    assert fleet.advance(promotion).state == "RollingOut"
    fleet.sync()
    fleet.reconcile("staging")
    assert fleet.advance(promotion).state == "Verified"
    assert promotion.targets.get().revision == fleet.head
    assert fleet.promote("dev", "staging") is None

    to_prod = fleet.promote("staging", "prod")
    assert to_prod is not None
    fleet.advance(to_prod)
    fleet.merge(to_prod)
    fleet.advance(to_prod)
    fleet.sync()
    fleet.reconcile("prod-a")
    assert fleet.advance(to_prod).state == "RollingOut"
    fleet.reconcile("prod-b")
    assert fleet.advance(to_prod).state == "Verified"
    assert first_broken_link() is None


def test_a_failing_rollout_is_failed_and_a_repair_overtakes_it(fleet: Fleet) -> None:
    fleet.release("broken")
    promotion = fleet.promote("dev", "staging")
    assert promotion is not None
    fleet.advance(promotion)
    fleet.merge(promotion)
    fleet.advance(promotion)
    fleet.sync()
    fleet.reconcile("staging", ready=False)
    fleet.reconcile("staging", ready=False)
    assert fleet.advance(promotion).state == "Failed"
    told = promotion.events.last()
    assert told is not None
    assert "Deployment/web/web" in told.why
    fleet.retry("staging")
    assert fleet.advance(promotion).state == "Failed", "a failure that is being retried is a failure"
    assert "Deployment/web/web" in promotion.targets.get().text
    fleet.release("1.2.0", environment="staging")
    fleet.reconcile("staging")
    assert fleet.advance(promotion).state == "Overtaken"


def test_a_closed_pull_request_is_a_rejection(fleet: Fleet) -> None:
    fleet.release("1.1.0")
    promotion = fleet.promote("dev", "staging")
    assert promotion is not None
    fleet.advance(promotion)
    assert promotion.pull_request_number is not None
    with forge_of(fleet.repository) as forge:
        forge.close(promotion.pull_request_number)
    assert fleet.advance(promotion).state == "Closed"


def test_a_newer_release_takes_over_the_open_pull_request(fleet: Fleet) -> None:
    fleet.release("1.1.0")
    older = fleet.promote("dev", "staging")
    assert older is not None
    fleet.advance(older)
    fleet.release("1.2.0")
    newer = fleet.promote("dev", "staging")
    assert newer is not None
    fleet.advance(newer)
    older.refresh_from_db()
    assert (older.state, older.superseded_by) == ("Superseded", newer)
    assert newer.pull_request_number == older.pull_request_number
    fleet.merge(newer)
    assert "1.2.0" in fleet.read(VERSION.format("staging"))


def test_an_open_promotion_carries_the_release_that_was_asked_for(fleet: Fleet) -> None:
    """The source moves on while the pull request is open: it stays what it was, and asking again takes it over."""
    fleet.release("1.1.0")
    promotion = fleet.promote("dev", "staging")
    assert promotion is not None
    fleet.advance(promotion)
    head = promotion.head
    fleet.release("1.2.0")
    assert fleet.advance(promotion).state == "Open"
    assert (promotion.head, promotion.version_after) == (head, "1.1.0")
    assert [edit["new"] for edit in promotion.plan["edits"]] == ["registry.example/web:1.1.0"]
    newer = fleet.promote("dev", "staging")
    assert newer is not None
    assert (newer.pk != promotion.pk, newer.version_after) == (True, "1.2.0")


def test_an_edit_without_effect_is_refused_before_anything_is_pushed(fleet: Fleet) -> None:
    """Something later in the target's build sets the image again: the worker's build sees it."""
    listing = fleet.read("clusters/staging/apps/kustomization.yaml")
    pinned = listing + "images:\n  - name: registry.example/web\n    newTag: 0.9.0\n"
    path = VERSION.format("dev")
    changes = {
        "clusters/staging/apps/kustomization.yaml": pinned.encode(),
        path: fleet.read(path).replace("1.0.0", "1.1.0").encode(),
    }
    fleet.commit(changes, "Pin staging")
    fleet.sync()
    before = set(fleet.remote.references)
    found, _planned = requesting.request_promotion(
        apps=[App.objects.get(name="web")],
        source=Environment.objects.get(name="dev"),
        target=Environment.objects.get(name="staging"),
        actor=fleet.actor,
    )
    assert found is not None
    advancing.advance_promotion(promotion_id=found.pk)
    found.refresh_from_db()
    assert (found.state, bool(found.problem)) == ("Planned", True)
    assert set(fleet.remote.references) == before
