"""The rules of health, first match wins, and every trap that lies beside them."""

from datetime import UTC, timedelta

import pytest

from clusters_app.flux.health import Circumstances, opinion_of, plainly_ready
from clusters_app.flux.identity import ObjectRef
from clusters_app.flux.resources import decode_object
from clusters_app.flux.status import Control, Freshness, Health, Memory
from clusters_app.flux.structs import Resource

from .documents import (
    NOW,
    ago,
    condition,
    document,
    failing,
    git_repository,
    helm_release,
    judged,
    kustomization,
    lease,
    ready,
    running,
    verdict_of,
)
from .recorded import situations


def test_ready_about_this_generation_is_ready() -> None:
    verdict = verdict_of(kustomization("apps", ready()), git_repository())
    assert (verdict.health, verdict.control, verdict.freshness) == (Health.READY, Control.ACTIVE, Freshness.LIVE)
    assert verdict.is_green


def test_ready_stays_true_while_it_is_deleted() -> None:
    verdict = verdict_of(kustomization("apps", ready(), deletionTimestamp=ago(60), finalizers=["finalizers.fluxcd.io"]))
    assert verdict.health is Health.TERMINATING


def test_a_deletion_that_takes_over_15_minutes_fails() -> None:
    verdict = verdict_of(kustomization("apps", ready(), deletionTimestamp=ago(901), finalizers=["example.com/hold"]))
    assert (verdict.health, verdict.explanation.id) == (Health.FAILING, "finalizer-stuck")
    assert "example.com/hold" in verdict.explanation.cause


def test_a_deletion_is_timed_by_the_clock_of_the_cluster() -> None:
    terminating = kustomization("apps", ready(), deletionTimestamp=ago(1000), finalizers=["finalizers.fluxcd.io"])
    assert verdict_of(terminating, skew=timedelta(seconds=-900)).health is Health.TERMINATING


@pytest.mark.parametrize("kind", ["Alert", "Provider"])
def test_kinds_without_status_are_static(kind: str) -> None:
    assert verdict_of(document(kind, "all")).health is Health.STATIC


def test_an_oci_helm_repository_is_static_and_an_http_one_is_not() -> None:
    assert verdict_of(document("HelmRepository", "charts", spec={"type": "oci"})).health is Health.STATIC
    assert verdict_of(document("HelmRepository", "charts", created=10)).health is Health.PROGRESSING


def test_an_alert_of_an_older_version_has_conditions_and_they_count() -> None:
    old = document("Alert", "all", failing("ValidationFailed", "provider not found"))
    old["apiVersion"] = "notification.toolkit.fluxcd.io/v1beta2"
    assert verdict_of(old).health is Health.FAILING


def test_stalled_comes_before_everything_that_ready_says() -> None:
    stalled = condition("Stalled", "True", "RetriesExceeded", "Failed to install after 1 attempt(s)")
    assert verdict_of(helm_release("web", running(), stalled)).health is Health.STALLED


def test_the_default_of_observed_generation_says_nothing() -> None:
    assert (
        verdict_of(kustomization("apps", failing("BuildFailed", "no"), status={"observedGeneration": -1})).health
        is Health.FAILING
    )
    assert verdict_of(kustomization("apps", ready(), status={"observedGeneration": -1})).health is Health.READY


def test_ready_about_an_earlier_generation_is_progress_over_the_last_verdict() -> None:
    verdict = verdict_of(kustomization("apps", ready(generation=1), generation=2))
    assert (verdict.health, verdict.settled_health, verdict.is_green) == (Health.PROGRESSING, Health.READY, False)


def test_ready_that_does_not_say_which_generation_it_is_about_is_no_evidence() -> None:
    silent = ready() | {"observedGeneration": None}
    assert verdict_of(kustomization("apps", silent, created=10)).health is Health.PROGRESSING


def test_helm_release_v2beta1_says_its_generation_in_the_status() -> None:
    silent = ready() | {"observedGeneration": None}
    old = helm_release("web", silent, generation=3, status={"observedGeneration": 3, "lastAppliedRevision": "1.2.0"})
    old["apiVersion"] = "helm.toolkit.fluxcd.io/v2beta1"
    verdict = verdict_of(old, is_whole_cluster=False)
    assert (verdict.health, verdict.deployed) == (Health.READY, "1.2.0")


def test_a_generation_that_nobody_picks_up_fails_after_interval_and_timeout() -> None:
    ref = ObjectRef("Kustomization", "flux-system", "apps")
    changed = kustomization("apps", ready(generation=1), generation=2)
    seen = {ref: Memory(generation=2, generation_seen_at=NOW - timedelta(seconds=361), settled_health=Health.READY)}
    early = {ref: Memory(generation=2, generation_seen_at=NOW - timedelta(seconds=359), settled_health=Health.READY)}
    assert verdict_of(changed, memory=seen).explanation.id == "not-picked-up"
    assert verdict_of(changed, memory=seen).health is Health.FAILING
    assert verdict_of(changed, memory=early).health is Health.PROGRESSING


def test_a_newborn_is_timed_from_its_birth_by_our_clock() -> None:
    newborn = kustomization("apps", created=400)
    assert verdict_of(newborn).health is Health.FAILING
    assert verdict_of(newborn, skew=timedelta(hours=2)).health is Health.FAILING
    assert verdict_of(newborn, skew=timedelta(seconds=-300)).health is Health.PROGRESSING


def test_suspending_raises_the_generation_and_is_not_unobserved() -> None:
    suspended = kustomization("apps", ready(generation=1), generation=2, spec={"suspend": True})
    verdict = verdict_of(suspended)
    assert (verdict.health, verdict.control, verdict.is_green) == (Health.READY, Control.SUSPENDED, False)


def test_suspended_while_failing_was_failing() -> None:
    frozen = condition("Reconciling", "True", "ProgressingWithRetry", generation=1)
    verdict = verdict_of(
        kustomization("apps", failing("BuildFailed", "no"), frozen, generation=2, spec={"suspend": True})
    )
    assert (verdict.health, verdict.control) == (Health.FAILING, Control.SUSPENDED)


def test_suspended_from_birth_is_unknown() -> None:
    verdict = verdict_of(kustomization("apps", spec={"suspend": True}))
    assert (verdict.health, verdict.control, verdict.explanation.id) == (Health.UNKNOWN, Control.SUSPENDED, "suspended")


def test_suspended_in_the_middle_of_a_run_is_unknown_once_the_run_must_be_over() -> None:
    verdict = verdict_of(kustomization("apps", running(since=600), generation=2, spec={"suspend": True}))
    assert (verdict.health, verdict.explanation.id) == (Health.UNKNOWN, "suspended")


def test_a_suspension_says_since_when_and_by_which_manager() -> None:
    managed = [
        {"manager": "kustomize-controller", "time": ago(900), "fieldsV1": {"f:spec": {"f:path": {}}}},
        {"manager": "flux", "time": ago(300), "fieldsV1": {"f:spec": {"f:suspend": {}}}},
    ]
    suspension = verdict_of(kustomization("apps", ready(), spec={"suspend": True}, managedFields=managed)).suspension
    assert suspension
    assert (suspension.manager, suspension.since) == ("flux", NOW - timedelta(seconds=300))


def test_a_failure_that_is_retried_is_a_failure() -> None:
    retrying = condition("Reconciling", "True", "ProgressingWithRetry", "Building manifests")
    assert (
        verdict_of(kustomization("apps", failing("BuildFailed", "no"), retrying), git_repository()).health
        is Health.FAILING
    )


def test_a_canceled_health_check_is_progress() -> None:
    canceled = failing("HealthCheckCanceled", "New reconciliation triggered by GitRepository/flux-system/fleet")
    assert verdict_of(kustomization("apps", canceled), git_repository()).health is Health.PROGRESSING


def test_a_flicker_in_front_of_an_upgrade_is_progress() -> None:
    message = (
        "HelmChart 'flux-system/flux-system-web' is not ready: latest generation of object has not been reconciled"
    )
    chart = document("HelmChart", "flux-system-web", ready(), status={"artifact": {"revision": "1.0.0"}})
    verdict = verdict_of(helm_release("web", failing("SourceNotReady", message)), chart)
    assert (verdict.health, verdict.caused_by) == (Health.PROGRESSING, None)


def test_unknown_within_the_timeout_is_progress() -> None:
    verdict = verdict_of(kustomization("apps", running(since=50)), memory=remembering(Health.READY))
    assert (verdict.health, verdict.settled_health) == (Health.PROGRESSING, Health.READY)


def test_unknown_past_the_timeout_fails_while_the_controller_lives() -> None:
    verdict = verdict_of(kustomization("apps", running(since=90)), lease("kustomize-controller"))
    assert (verdict.health, verdict.explanation.id) == (Health.FAILING, "no-verdict")


def test_unknown_past_the_timeout_is_unknown_when_nobody_works() -> None:
    verdict = verdict_of(kustomization("apps", running(since=90)), lease("kustomize-controller", renewed=600))
    assert (verdict.health, verdict.control) == (Health.UNKNOWN, Control.ORPHANED)
    assert verdict.explanation.id == "controller-dead"


def test_a_step_that_has_just_begun_starts_the_timeout_again() -> None:
    step = condition("Reconciling", "True", "Progressing", "Running 'test' action with timeout of 1m0s", since=5)
    assert (
        verdict_of(helm_release("web", running(since=400), step), is_whole_cluster=False).health is Health.PROGRESSING
    )


@pytest.mark.parametrize(
    ("type_", "status", "id_"), [("Drifted", "True", "drift-detected"), ("TestSuccess", "False", "test-failed")]
)
def test_ready_with_a_reservation_is_degraded(type_: str, status: str, id_: str) -> None:
    verdict = verdict_of(
        helm_release("web", ready(), condition(type_, status, "Because", "of this")), is_whole_cluster=False
    )
    assert (verdict.health, verdict.explanation.id, verdict.is_green) == (Health.DEGRADED, id_, False)


def test_a_source_that_cannot_fetch_fails_and_what_it_feeds_does_not() -> None:
    verdicts = judged(
        git_repository("fleet", failing("GitOperationFailed", "dial tcp: connection refused")),
        kustomization("apps", ready()),
    )
    assert verdicts["GitRepository/flux-system/fleet"].health is Health.FAILING
    assert verdicts["Kustomization/flux-system/apps"].health is Health.READY


def test_healthy_freezes_at_true_and_is_never_read_alone() -> None:
    frozen = condition("Healthy", "True", "Succeeded", "Health check passed")
    broken = kustomization("apps", failing("BuildFailed", "no"), frozen)
    assert verdict_of(broken, git_repository()).health is Health.FAILING
    assert verdict_of(kustomization("apps", frozen, created=10), git_repository()).health is Health.PROGRESSING


def test_an_object_without_conditions_is_never_green() -> None:
    for kind in ("Kustomization", "HelmRelease", "GitRepository", "ImagePolicy", "Receiver", "Terraform", "Canary"):
        assert not verdict_of(document(kind, "thing"), is_whole_cluster=False).is_green


def test_a_rollback_that_has_no_target_is_explained_from_stalled() -> None:
    """C035: Ready is generic, the reason stands in Stalled alone."""
    stalled = condition("Stalled", "True", "MissingRollbackTarget", "no release in storage for object")
    history = [{"chartVersion": "1.1.0", "status": "failed", "version": 1}]
    verdict = verdict_of(
        helm_release(
            "shop", failing("UpgradeFailed", "upgrade failed: timed out"), stalled, status={"history": history}
        ),
        is_whole_cluster=False,
    )
    assert verdict.health is Health.STALLED
    assert verdict.message.splitlines() == ["no release in storage for object", "upgrade failed: timed out"]
    assert verdict.explanation.id == "missing-rollback-target"
    assert "--reset --force" in verdict.explanation.command
    assert "cannot bring a version back" in verdict.explanation.remedy


def test_after_a_failed_check_the_new_objects_are_in_the_cluster() -> None:
    status = {"lastAppliedRevision": "main@sha1:" + "1" * 40, "lastAttemptedRevision": "main@sha1:" + "2" * 40}
    for reason in ("HealthCheckFailed", "PruneFailed"):
        verdict = verdict_of(kustomization("apps", failing(reason, "no"), status=status), git_repository())
        assert (verdict.revision, verdict.applied) == (status["lastAppliedRevision"], status["lastAttemptedRevision"])
    built = verdict_of(kustomization("apps", failing("BuildFailed", "no"), status=status), git_repository())
    assert built.applied == status["lastAppliedRevision"]


def test_the_deployed_version_is_the_newest_release_that_is_deployed() -> None:
    history = [
        {"chartVersion": "1.2.0", "status": "failed", "version": 3},
        {"chartVersion": "1.1.0", "status": "deployed", "version": 2},
        {"chartVersion": "1.0.0", "status": "superseded", "version": 1},
    ]
    verdict = verdict_of(helm_release("web", ready(), status={"history": history}), is_whole_cluster=False)
    assert verdict.deployed == "1.1.0"


def test_the_path_of_a_receiver_is_in_no_verdict() -> None:
    path = "/hook/0123456789abcdef0123456789abcdef"
    receiver = document(
        "Receiver", "gitea", ready(f"Receiver initialized for path: {path}"), status={"webhookPath": path}
    )
    verdict = verdict_of(receiver)
    assert "0123456789" not in repr(verdict)
    assert verdict.health is Health.READY


def test_the_short_way_to_ready_says_what_the_rules_say() -> None:
    for situation in situations():
        for item in map(decode_object, situation.record["objects"]):
            if isinstance(item, Resource) and (plain := plainly_ready(item)):
                assert opinion_of(item, Circumstances(NOW.replace(tzinfo=UTC), Memory())) == plain


def remembering(settled: Health) -> dict[ObjectRef, Memory]:
    return {ObjectRef("Kustomization", "flux-system", "apps"): Memory(settled_health=settled)}
