"""Explanations of verdicts that the whole object tells better than one of its messages."""

from __future__ import annotations

from ..beside import flux_v1_settings
from ..case import Case, first_line, reconcile_command, without_userinfo
from ..conditions import condition, has_status, is_true
from ..structs import Deployment, HelmRelease
from ..verdicts import Explanation
from ..waiting import unhealthy_names
from .rule import DOCS, HELM_RELEASE, page_of


def drifted(case: Case) -> Explanation:
    cause = f"What runs differs from what was applied: {first_line(case.verdict.message) or 'drift was detected'}."
    remedy = (
        "Find who changed it; set spec.driftDetection.mode to enabled to have it put back, or run the release again."
    )
    return Explanation(
        "drift-detected",
        cause,
        remedy,
        _forced(case),
        f"{page_of(case.kind)}#drift-detection" if case.kind == "HelmRelease" else page_of(case.kind),
    )


def _forced(case: Case) -> str:
    return (
        f"flux reconcile helmrelease {case.ref.name} -n {case.ref.namespace} --force"
        if case.kind == "HelmRelease"
        else reconcile_command(case.ref)
    )


def test_failed(case: Case) -> Explanation:
    found = condition(case.resource, "TestSuccess")
    said = first_line(found.message or "") if found else ""
    cause = f"The release is deployed, but its test failed: {said}"
    remedy = (
        "Read the test's log. The failure is ignored because spec.test.ignoreFailures is set."
        if is_true(case.resource, "Ready")
        else "Read the test's log and correct what it found."
    )
    return Explanation(
        "test-failed",
        cause,
        remedy,
        f"kubectl -n {case.ref.namespace} get jobs,pods",
        f"{HELM_RELEASE}#test-configuration",
    )


def approval(case: Case) -> Explanation:
    if case.kind == "Canary":
        return Explanation(
            "pending-approval",
            f"The canary waits at a gate: {case.verdict.reason}.",
            "Open the gate, or let it roll back.",
            reconcile_command(case.ref),
            "https://docs.flagger.app/usage/webhooks",
        )
    plan = getattr(getattr(case.resource, "status", None), "plan", None)
    pending = plan.pending if plan else ""
    loud = " IT DESTROYS RESOURCES." if plan and plan.is_destroy_plan else ""
    cause = f"Plan {pending} waits for approval.{loud}"
    return Explanation(
        "pending-approval",
        cause,
        f"Review the plan; approve it by setting spec.approvePlan to {pending} in Git.",
        f"tfctl show plan {case.ref.name} -n {case.ref.namespace}",
        "https://flux-iac.github.io/tofu-controller/",
    )


def canary_failed(case: Case) -> Explanation:
    cause = (
        "The canary failed its analysis; the primary still serves the version before. "
        f"{first_line(case.verdict.message)}"
    )
    return Explanation(
        "canary-failed",
        cause.strip(),
        "Read the canary's events for the metric that failed, correct it and push.",
        reconcile_command(case.ref),
        "https://docs.flagger.app/usage/how-it-works",
    )


def flux_v1(case: Case) -> Explanation:
    settings = flux_v1_settings(case.resource) if isinstance(case.resource, Deployment) else {}
    follows = without_userinfo(", ".join(f"{name} {value}" for name, value in settings.items()))
    cause = "This Deployment runs Flux v1, which is past its end of life and gets no security fixes."
    cause += f" It follows {follows}." if follows else ""
    return Explanation("flux-v1", cause, "Migrate to Flux v2.", "flux bootstrap --help", f"{DOCS}/migration/")


def argo(case: Case) -> Explanation:
    return Explanation(
        "argo-cd",
        f"Argo CD says: {case.verdict.message}",
        "Look at the application in Argo CD.",
        f"argocd app get {case.ref.name}",
        "https://argo-cd.readthedocs.io/en/stable/operator-manual/health/",
    )


def message(case: Case) -> Explanation:
    return Explanation(
        "module-config-message",
        f"Deckhouse warns: {first_line(case.verdict.message)}",
        "Follow the message; the verdict itself is on the Module.",
        reconcile_command(case.ref),
        "https://deckhouse.io/documentation/",
    )


def failing(case: Case) -> Explanation | None:
    """What the whole object tells better than one message: a release that was rolled back, a test that failed."""
    if not isinstance(case.resource, HelmRelease):
        return None
    remediated = condition(case.resource, "Remediated")
    if remediated and remediated.status == "True" and (remediated.reason or "").startswith("Rollback"):
        return _rolled_back(case)
    return test_failed(case) if _is_failed_test(case.resource) else None


def _is_failed_test(release: HelmRelease) -> bool:
    return has_status(release, "TestSuccess", "False") and has_status(release, "Released", "True")


def _rolled_back(case: Case) -> Explanation:
    released = condition(case.resource, "Released")
    said = (released.message or "") if released else ""
    names = ", ".join(f"{name} ({status})" for name, status in unhealthy_names(said))
    why = f"{names} did not become ready." if names else first_line(said)
    runs = case.verdict.deployed or "the version before"
    cause = f"The upgrade to {case.verdict.attempted} failed and was rolled back; {runs} runs. {why}"
    remedy = "Correct the chart or its values and push; until then nothing is tried again."
    command = f"helm -n {case.ref.namespace} history {case.ref.name}"
    return Explanation("upgrade-failed", cause, remedy, command, f"{HELM_RELEASE}#configuring-failure-handling")
