"""Terraform, Canary, Deckhouse, Argo CD, Flux v1 and whatever has conditions: each by its own words."""

from typing import Any

import pytest

from clusters_app.flux.beside import can_approve, is_flux_v1, pending_plan
from clusters_app.flux.resources import decode_object
from clusters_app.flux.status import Health
from clusters_app.flux.structs import Deployment, Terraform

from .documents import ago, condition, document, failing, ready, running, verdict_of

PLANNED = condition("Ready", "Unknown", "TerraformPlannedWithChanges", "Plan generated: set approvePlan: plan-main-7")


def terraform(*conditions: dict[str, Any], spec: dict[str, Any] | None = None, **status: Any) -> dict[str, Any]:
    return document("Terraform", "vpc", *conditions, spec=spec, status=status)


def test_a_plan_that_waits_for_a_person_is_pending_approval() -> None:
    verdict = verdict_of(terraform(PLANNED, plan={"pending": "plan-main-7"}))
    assert verdict.health is Health.PENDING_APPROVAL
    assert "plan-main-7" in verdict.explanation.remedy


@pytest.mark.parametrize("approval", ["auto", "plan-main-7"])
def test_a_plan_that_is_approved_is_on_its_way(approval: str) -> None:
    planned = terraform(PLANNED, spec={"approvePlan": approval}, plan={"pending": "plan-main-7"})
    assert verdict_of(planned).health is Health.PROGRESSING


def test_a_plan_that_destroys_is_loud() -> None:
    plan = {"pending": "plan-main-7", "isDestroyPlan": True}
    assert "DESTROYS" in verdict_of(terraform(PLANNED, plan=plan)).explanation.cause


def test_a_plan_of_another_generation_is_never_offered() -> None:
    current = decode_object(terraform(PLANNED, plan={"pending": "p"}, lastPlannedGeneration=1))
    old = decode_object(terraform(PLANNED, plan={"pending": "p"}, lastPlannedGeneration=0))
    assert isinstance(current, Terraform)
    assert isinstance(old, Terraform)
    assert (pending_plan(current), can_approve(current), can_approve(old)) == ("p", True, False)


def test_drift_after_the_last_apply_is_degraded() -> None:
    applied = condition("Apply", "True", "TerraformAppliedSucceed", since=600)
    assert verdict_of(terraform(ready(), applied, lastDriftDetectedAt=ago(60))).health is Health.DEGRADED
    assert verdict_of(terraform(ready(), applied, lastDriftDetectedAt=ago(900))).health is Health.READY


def test_terraform_fails_and_waits_as_flux_does() -> None:
    locked = failing("StateLocked", "error acquiring the state lock: Lock Info: ID: 1234")
    assert verdict_of(terraform(locked)).health is Health.FAILING
    assert verdict_of(terraform(locked)).explanation.id == "terraform-state-locked"
    assert verdict_of(terraform(running(since=9_000))).health is Health.PROGRESSING


@pytest.mark.parametrize(
    ("phase", "health"),
    [
        ("Initialized", Health.READY),
        ("Succeeded", Health.READY),
        ("Waiting", Health.PENDING_APPROVAL),
        ("WaitingPromotion", Health.PENDING_APPROVAL),
        ("Failed", Health.DEGRADED),
        ("Progressing", Health.PROGRESSING),
        ("Promoting", Health.PROGRESSING),
        ("Finalising", Health.PROGRESSING),
        ("Initializing", Health.PROGRESSING),
        ("SomethingNew", Health.PROGRESSING),
    ],
)
def test_a_canary_is_judged_by_its_phase(phase: str, health: Health) -> None:
    verdict = verdict_of(document("Canary", "web", status={"phase": phase}))
    assert verdict.health is health
    assert verdict.explanation.id == ("canary-failed" if phase == "Failed" else verdict.explanation.id)


def test_a_module_config_has_no_verdict_but_a_warning() -> None:
    assert verdict_of(document("ModuleConfig", "ingress", namespace="")).health is Health.STATIC
    warned = verdict_of(document("ModuleConfig", "ingress", namespace="", status={"message": "unknown field nginx"}))
    assert (warned.health, "unknown field nginx" in warned.explanation.cause) == (Health.DEGRADED, True)


@pytest.mark.parametrize(
    ("phase", "health"),
    [
        ("Ready", Health.READY),
        ("Error", Health.FAILING),
        ("Reconciling", Health.PROGRESSING),
        ("Available", Health.STATIC),
    ],
)
def test_a_module_is_judged_by_its_phase(phase: str, health: Health) -> None:
    module = document("Module", "ingress", namespace="", status={"phase": phase}) | {
        "properties": {"version": "v1.2.0"}
    }
    assert (verdict_of(module).health, verdict_of(module).revision) == (health, "v1.2.0")


@pytest.mark.parametrize(
    ("status", "health"),
    [
        ({"ready": 3, "nodes": 3, "upToDate": 3}, Health.READY),
        ({"ready": 2, "nodes": 3, "upToDate": 3}, Health.PROGRESSING),
        ({"ready": 3, "nodes": 3, "upToDate": 2}, Health.PROGRESSING),
        ({"ready": 3, "nodes": 3, "upToDate": 3, "error": "no quota"}, Health.FAILING),
        ({"ready": 0, "nodes": 0, "upToDate": 0}, Health.READY),
        ({"conditionSummary": {"ready": "True"}}, Health.PROGRESSING),
    ],
)
def test_a_node_group_is_ready_when_its_nodes_are(status: dict[str, Any], health: Health) -> None:
    assert verdict_of(document("NodeGroup", "worker", namespace="", status=status, created=10)).health is health


@pytest.mark.parametrize(
    ("sync", "state", "health"),
    [
        ("Synced", "Healthy", Health.READY),
        ("OutOfSync", "Healthy", Health.DEGRADED),
        ("Synced", "Degraded", Health.DEGRADED),
        ("Synced", "Progressing", Health.PROGRESSING),
        ("Unknown", "Unknown", Health.UNKNOWN),
    ],
)
def test_argo_cd_is_shown_as_it_is(sync: str, state: str, health: Health) -> None:
    application = document(
        "Application", "web", status={"sync": {"status": sync, "revision": "abc"}, "health": {"status": state}}
    )
    verdict = verdict_of(application)
    assert (verdict.health, verdict.revision) == (health, "abc")
    assert verdict.message.startswith(f"{sync}, {state}")


@pytest.mark.parametrize(
    ("image", "is_old"),
    [
        ("docker.io/fluxcd/flux:1.25.4", True),
        ("registry.lab:5000/weaveworks/flux:1.0", True),
        ("fluxcd/flux@sha256:" + "a" * 64, True),
        ("ghcr.io/fluxcd/flux-cli:v2.3.0", False),
        ("ghcr.io/fluxcd/source-controller:v1.9.4", False),
    ],
)
def test_flux_v1_is_past_its_end_of_life(image: str, is_old: bool) -> None:
    available = condition("Available", "True")
    spec = {"template": {"spec": {"containers": [{"image": image, "args": ["--git-branch=main"]}]}}}
    deployment = document("Deployment", "flux", available, spec=spec)
    found = decode_object(deployment)
    assert isinstance(found, Deployment)
    assert is_flux_v1(found) is is_old
    verdict = verdict_of(deployment)
    assert (verdict.health, verdict.explanation.id) == (
        (Health.DEGRADED, "flux-v1") if is_old else (Health.READY, "ok")
    )


def test_flux_v1_says_what_it_follows_without_its_password() -> None:
    followed = ["--git-url=https://bot:hunter2@git.lab/fleet", "--git-branch=main", "--git-path=prod"]
    arguments = [*followed, "--sync-interval=5m", "--k8s-verbosity=1"]
    spec = {"template": {"spec": {"containers": [{"image": "fluxcd/flux:1.25.4", "args": arguments}]}}}
    cause = verdict_of(document("Deployment", "flux", spec=spec)).explanation.cause
    assert "git-url https://git.lab/fleet, git-branch main, git-path prod, sync-interval 5m" in cause
    assert "hunter2" not in cause


@pytest.mark.parametrize(
    ("conditions", "health"),
    [
        ([condition("Ready", "True")], Health.READY),
        ([condition("Ready", "True"), condition("Synced", "True")], Health.READY),
        ([condition("Ready", "True"), condition("Synced", "False", "ReconcileError")], Health.FAILING),
        ([condition("Ready", "False", "Creating"), condition("Synced", "True")], Health.PROGRESSING),
        ([condition("Ready", "False", "DoesNotExist"), condition("Issuing", "True")], Health.PROGRESSING),
        ([condition("Ready", "Unknown")], Health.PROGRESSING),
        ([condition("Available", "False", "Broken")], Health.FAILING),
        ([condition("Ready", "True", generation=0) | {"observedGeneration": None}], Health.READY),
        ([condition("Ready", "True") | {"observedGeneration": 1}], Health.PROGRESSING),
    ],
)
def test_everything_else_goes_by_its_conditions(conditions: list[dict[str, Any]], health: Health) -> None:
    is_behind = health is Health.PROGRESSING and conditions[0]["status"] == "True" and len(conditions) == 1
    certificate = document("Certificate", "web", *conditions, generation=2 if is_behind else 1)
    assert verdict_of(certificate).health is health


def test_an_unknown_kind_without_status_is_context_and_static() -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web", "namespace": "shop"}}
    assert verdict_of(config).health is Health.STATIC


def test_a_workload_that_rolls_out_is_on_its_way_and_one_that_gave_up_fails() -> None:
    unavailable = condition("Available", "False", "MinimumReplicasUnavailable")
    moving = condition("Progressing", "True", "ReplicaSetUpdated")
    stuck = condition("Progressing", "False", "ProgressDeadlineExceeded")
    assert verdict_of(document("Deployment", "web", unavailable, moving)).health is Health.PROGRESSING
    assert verdict_of(document("Deployment", "web", unavailable, stuck)).health is Health.FAILING
