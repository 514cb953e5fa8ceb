"""Explanations of a state: what the verdict's rule already knows, whatever the message says."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..case import Case, first_line, reconcile_command
from ..verdicts import Explanation
from . import blocked, moving, settled
from .rule import page_of

State = Callable[[Case], Explanation | None]


def explanation(case: Case) -> Explanation | None:
    """None when only the message can tell."""
    state = _STATES.get(case.verdict.rule)
    return state(case) if state else None


def fallback(case: Case, text: str) -> Explanation:
    """For a failure whose message no rule knows: the message itself, and where to look further."""
    if case.verdict.rule == "in-progress":
        return moving.in_progress(case)
    if case.verdict.rule == "source-not-ready":
        return blocked.source_not_ready(case)
    if case.verdict.rule == "no-verdict":
        return moving.no_verdict(case)
    reason = case.verdict.reason
    id_ = _IDS_OF_REASONS.get(reason, "failing")
    said = first_line(text)
    what = _WORDS_OF_REASONS.get(id_, "It fails")
    cause = f"{what}: {said}" if said else f"{what} with reason {reason or 'unknown'}."
    remedy = "Read the whole message and the controller's log for this object, correct what it names and push."
    return Explanation(id_, cause, remedy, _logs(case), page_of(case.kind))


_IDS_OF_REASONS = {
    "BuildFailed": "build-failed",
    "HealthCheckFailed": "health-check-failed",
    "PruneFailed": "prune-failed",
    "ReconciliationFailed": "apply-failed",
    "InstallFailed": "install-failed",
    "UpgradeFailed": "upgrade-failed",
    "RollbackFailed": "rollback-failed",
    "RollbackSucceeded": "upgrade-failed",
    "UninstallFailed": "uninstall-failed",
    "UninstallSucceeded": "install-failed",
    "TestFailed": "test-failed",
    "RetriesExceeded": "retries-exhausted",
    "MissingRollbackTarget": "missing-rollback-target",
    "ValuesError": "values-invalid",
    "TFExecPlanFailed": "terraform-plan-failed",
    "TFExecApplyFailed": "terraform-apply-failed",
    "AccessDenied": "access-denied",
    "InvalidCELExpression": "invalid-cel",
    "InvalidPolicy": "invalid-policy",
    "ImageURLInvalid": "invalid-image",
    "InvalidChartReference": "chart-not-found",
    "ChartPullError": "chart-download-failed",
    "ChartPackageError": "not-a-chart",
    "IndexationFailed": "not-a-helm-index",
    "EmptyGitRepository": "empty-repository",
    "InvalidCommitSignature": "signature-verification-failed",
    "VerificationError": "signature-verification-failed",
    "AuthenticationFailed": "authentication-failed",
    "DependencyNotReady": "dependency-not-ready",
    "SourceNotReady": "source-not-ready",
    "NoSourceArtifact": "source-not-ready",
    "GitOperationFailed": "git-operation-failed",
    "OCIArtifactPullFailed": "artifact-pull-failed",
    "OCIArtifactLayerOperationFailed": "layer-not-found",
    "BucketOperationFailed": "bucket-operation-failed",
    "ReadOperationFailed": "scan-failed",
}
_WORDS_OF_REASONS = {
    "build-failed": "The manifests cannot be built",
    "health-check-failed": "What was applied is not healthy",
    "apply-failed": "The manifests cannot be applied",
    "install-failed": "Helm could not install the release",
    "upgrade-failed": "Helm could not upgrade the release",
    "rollback-failed": "Helm could not roll the release back",
    "uninstall-failed": "Helm could not uninstall the release",
    "git-operation-failed": "The Git repository cannot be fetched",
    "artifact-pull-failed": "The artifact cannot be pulled",
    "bucket-operation-failed": "The bucket cannot be read",
    "terraform-plan-failed": "Terraform cannot plan",
    "terraform-apply-failed": "Terraform cannot apply the plan",
    "scan-failed": "The registry cannot be scanned",
    "signature-verification-failed": "The signature cannot be verified",
}


def _logs(case: Case) -> str:
    if case.kind not in {"Kustomization", "HelmRelease"} and not case.kind.endswith(("Repository", "Chart")):
        return reconcile_command(case.ref)
    return f"flux logs --kind {case.kind} --name {case.ref.name} --namespace {case.ref.namespace}"


_STATES: Mapping[str, State] = {
    "ready": moving.ready,
    "static": moving.static,
    "suspended-from-birth": moving.suspended_from_birth,
    "terminating": moving.terminating,
    "finalizer-stuck": moving.finalizer_stuck,
    "not-observed": moving.not_observed,
    "not-picked-up": moving.not_picked_up,
    "canceled": moving.canceled,
    "starting-up": moving.starting_up,
    "source-missing": blocked.source_missing,
    "source-not-ready": blocked.source_that_needs_no_message,
    "source-terminating": blocked.source_terminating,
    "artifact-lost": blocked.artifact_lost,
    "dependency-missing": blocked.dependency_missing,
    "dependency-cycle": blocked.dependency_cycle,
    "dependency-suspended": blocked.dependency_suspended,
    "dependency-failing": blocked.dependency_failing,
    "dependency-not-ready": blocked.dependency_not_ready,
    "child-failing": blocked.child_failing,
    "drifted": settled.drifted,
    "test-failed": settled.test_failed,
    "approval": settled.approval,
    "canary-failed": settled.canary_failed,
    "flux-v1": settled.flux_v1,
    "argo": settled.argo,
    "message": settled.message,
    "failing": settled.failing,
    "stalled": settled.failing,
}
