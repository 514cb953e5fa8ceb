"""Explanations of a state: what the verdict's rule already knows, whatever the message says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ..case import Case, first_line, name_of, reconcile_command, resume_command
from ..conditions import condition, has_status, is_true, texts
from ..freshness import Freshness
from ..graph import dependencies_of
from ..identity import ObjectRef
from ..structs import Alert, HelmRelease, Kustomization, Resource, Source
from ..times import parse_duration
from ..verdicts import Control, Explanation, Health
from ..waiting import unhealthy_names
from .rule import CHEAT_SHEET, DOCS, GIT, HELM_RELEASE, IMAGE_POLICY, KUSTOMIZATION, SHARDING, page_of

_CHECKING = re.compile(r"running health checks?", re.IGNORECASE)
_OK = Explanation("ok", "It does what its document says, at this generation.")

State = Callable[[Case], Explanation | None]


def explanation(case: Case) -> Explanation | None:
    """None when only the message can tell."""
    state = _STATES.get(case.verdict.rule)
    return state(case) if state else None


def fallback(case: Case, text: str) -> Explanation:
    """For a failure whose message no rule knows: the message itself, and where to look further."""
    if case.verdict.rule == "in-progress":
        return _in_progress(case)
    if case.verdict.rule == "source-not-ready":
        return _source_not_ready(case)
    if case.verdict.rule == "no-verdict":
        return _no_verdict(case)
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
    "scan-failed": "The registry cannot be scanned",
    "signature-verification-failed": "The signature cannot be verified",
}


def _logs(case: Case) -> str:
    if case.kind not in {"Kustomization", "HelmRelease"} and not case.kind.endswith(("Repository", "Chart")):
        return reconcile_command(case.ref)
    return f"flux logs --kind {case.kind} --name {case.ref.name} --namespace {case.ref.namespace}"


# --- nothing to do, or nothing known --------------------------------------------------------------------------------


def _ready(case: Case) -> Explanation:
    if case.verdict.control is Control.ORPHANED:
        return _nobody_works(case)
    if case.verdict.freshness is not Freshness.LIVE:
        cause = f"It was ready when {case.controller} last wrote it, and is written no more though its interval has passed."
        return Explanation("heartbeat-missing", cause, f"Look at {case.controller} and its queue.", _controller_command(case), CHEAT_SHEET)
    return _OK


def _static(case: Case) -> Explanation:
    if isinstance(case.resource, Alert) and any(item.code == "provider-missing" for item in case.verdict.notices):
        return Explanation("static", "This kind has no status, and its provider does not exist: it delivers nothing.", "Create the provider that spec.providerRef names.")
    return Explanation("static", "This kind has no status: it takes part, but nothing reports on it.")


def _suspended_from_birth(case: Case) -> Explanation:
    cause = "It was suspended before it ever ran, so nothing is known about it."
    return Explanation("suspended", cause, "Resume it when it may run.", resume_command(case.ref), page_of(case.kind))


def _nobody_works(case: Case) -> Explanation:
    absence = case.absence
    if absence and absence.is_shard:
        shard = (case.resource.metadata.labels or {}).get("sharding.fluxcd.io/key")
        what = f"shard {shard}" if shard else "objects without a shard"
        cause = f"No living {absence.controller} serves {what}: the object keeps its last status for ever, whatever happens."
        remedy = f"Start a {absence.controller} whose --watch-label-selector selects it, or correct the label sharding.fluxcd.io/key."
        return Explanation("orphaned-shard", cause, remedy, f"kubectl -n flux-system get leases | grep {absence.controller}", SHARDING)
    controller = absence.controller if absence else case.controller
    cause = f"{controller} is not running: its Lease is no longer renewed, so this status is as old as its last sign of life."
    return Explanation("controller-dead", cause, f"Bring {controller} back; then everything it owns is checked again.", _controller_command(case), CHEAT_SHEET)


def _controller_command(case: Case) -> str:
    return f"kubectl -n flux-system get deployment {case.controller} && kubectl -n flux-system logs deployment/{case.controller} --tail=50"


# --- on the way -----------------------------------------------------------------------------------------------------


def _terminating(case: Case) -> Explanation:
    cause = "It is being deleted; what it owns is removed first."
    return Explanation("terminating", cause, "Wait; after 15 minutes it counts as stuck.", "", page_of(case.kind))


def _finalizer_stuck(case: Case) -> Explanation:
    finalizers = ", ".join(case.resource.metadata.finalizers or ())
    own = "finalizers.fluxcd.io" in (case.resource.metadata.finalizers or ())
    who = f"{case.controller} cannot finish removing what it owns" if own else "Flux is done, but another controller is not"
    cause = f"It has been deleted for more than 15 minutes and {finalizers} still holds it: {who}."
    remedy = (
        f"Read its events for the reason: a denied prune, a missing service account or a stopped {case.controller} are the usual ones."
        if own
        else f"Find the controller that sets {finalizers}; remove the finalizer by hand only when that controller is gone."
    )
    command = f"kubectl -n {case.ref.namespace} get events --field-selector involvedObject.name={case.ref.name}"
    return Explanation("finalizer-stuck", cause, remedy, command, page_of(case.kind))


def _not_observed(case: Case) -> Explanation:
    if case.absence and case.absence.is_shard:
        return _nobody_works(case)
    cause = f"{case.controller} has not taken up this generation yet; what is shown is the verdict on the one before."
    return Explanation("not-observed-yet", cause, "Wait for its next run, or ask for one.", reconcile_command(case.ref), page_of(case.kind))


def _not_picked_up(case: Case) -> Explanation:
    if case.absence and case.absence.is_shard:
        return _nobody_works(case)
    dead = f" {case.absence.controller} is not running." if case.absence else ""
    cause = f"{case.controller} should have taken up this generation by now (interval and timeout have passed) and has not.{dead}"
    remedy = f"See whether {case.controller} runs, watches this namespace and selects this object's labels."
    return Explanation("not-picked-up", cause, remedy, _controller_command(case), CHEAT_SHEET)


def _in_progress(case: Case) -> Explanation:
    running = texts([condition(case.resource, "Healthy"), condition(case.resource, "Reconciling")])
    if isinstance(case.resource, Kustomization) and _CHECKING.search(running):
        cause = f"The manifests are applied; it waits for their health: {first_line(running)}."
        return Explanation("health-check-in-progress", cause, "Wait until its timeout.", "", f"{KUSTOMIZATION}#health-checks")
    if released := _unlocked(case):
        return released
    doing = first_line(case.verdict.message or running)
    return Explanation("in-progress", f"Its controller is at work: {doing}." if doing else "Its controller is at work.", "Wait for the verdict.", "", page_of(case.kind))


def _unlocked(case: Case) -> Explanation | None:
    released = condition(case.resource, "Released")
    if not isinstance(case.resource, HelmRelease) or not released or "nlocked" not in (released.message or ""):
        return None
    cause = f"A release was left half done (its controller was stopped in the middle), and has been unlocked: {first_line(released.message or '')}"
    return Explanation("release-unlocked", cause, "Wait: the next action runs by itself.", "", HELM_RELEASE)


def _no_verdict(case: Case) -> Explanation:
    if case.verdict.control is Control.ORPHANED:
        return _nobody_works(case)
    cause = f"Its timeout has passed without a verdict: {first_line(case.verdict.message)}."
    return Explanation("no-verdict", cause, f"Look at {case.controller}: it may be overloaded or restarting.", _controller_command(case), CHEAT_SHEET)


def _canceled(case: Case) -> Explanation:
    cause = f"The health check was given up because something newer came: {first_line(case.verdict.message)}."
    return Explanation("health-check-canceled", cause, "Wait: the next run starts at once.", "", f"{KUSTOMIZATION}#health-checks")


def _starting_up(case: Case) -> Explanation:
    cause = "It has just started or changed, and the source it takes its content from is a moment behind."
    return Explanation("source-not-ready", cause, "Wait: this passes within seconds.", "", page_of(case.kind))


# --- waiting for another --------------------------------------------------------------------------------------------


def _source_missing(case: Case) -> Explanation:
    missing = case.verdict.caused_by or ObjectRef("Source", "", "")
    if case.verdict.reason in {"NoArtifact", "NotFound"}:
        return _include(case)
    cause = f"It takes its content from {missing}, which does not exist."
    remedy = f"Create {missing}, or correct the reference (a missing namespace means {case.ref.namespace or 'the own one'})."
    return Explanation("source-missing", cause, remedy, f"kubectl get {missing.kind.lower()} -A", page_of(case.kind))


def _source_not_ready(case: Case) -> Explanation:
    root = case.verdict.caused_by or case.verdict.blocked_by
    cause = f"It has nothing to work on: {root} has no artifact that can be used." if root else f"Its source is not ready: {first_line(case.verdict.message)}"
    if not root:
        return Explanation("source-not-ready", cause, "Look at its source.", reconcile_command(case.ref), page_of(case.kind))
    return Explanation("source-not-ready", cause, f"Repair {root}; this object follows by itself.", reconcile_command(root), page_of(case.kind))


def _source_that_needs_no_message(case: Case) -> Explanation | None:
    """A HelmRelease quotes its chart's message, which says more; these kinds say nothing but that they wait."""
    if case.verdict.reason == "NoArtifact" and isinstance(case.resource, Source):
        return _include(case)
    if case.kind == "ImagePolicy":
        return _dependency_failing(case) if case.verdict.health is Health.FAILING else _dependency_not_ready(case)
    return None


def _include(case: Case) -> Explanation:
    cause = f"It includes {case.verdict.blocked_by}, which has no artifact."
    remedy = f"Repair {case.verdict.caused_by}, or take it out of spec.include."
    return Explanation("include-not-ready", cause, remedy, reconcile_command(case.verdict.caused_by or case.ref), f"{GIT}#include")


def _source_terminating(case: Case) -> Explanation:
    source = case.verdict.blocked_by
    cause = f"{source}, from which it takes its content, is being deleted."
    return Explanation("source-terminating", cause, "Let it take another source, or recreate this one.", f"kubectl get {source.kind.lower() if source else ''} -A", page_of(case.kind))


def _artifact_lost(case: Case) -> Explanation:
    source = case.verdict.blocked_by
    item = case.objects.get(source) if source else None
    is_stopped = isinstance(item, Resource) and bool(getattr(getattr(item, "spec", None), "suspend", False))
    cause = f"{source} says that it has an artifact, but the file is gone from source-controller's storage (as after a restart without a volume)."
    remedy = f"{source} is suspended and will not fetch again: resume it." if is_stopped else f"Let {source} fetch again."
    command = (resume_command if is_stopped else reconcile_command)(source) if source else ""
    return Explanation("artifact-lost", cause, remedy, command, f"{GIT}#artifact")


def _dependency_missing(case: Case) -> Explanation:
    missing = case.verdict.caused_by
    cause = f"It depends on {missing}, which does not exist."
    remedy = f"Create {missing}, or correct spec.dependsOn (an entry without namespace means {case.ref.namespace})."
    return Explanation("dependency-missing", cause, remedy, f"kubectl get {case.kind.lower()}s -A", f"{page_of(case.kind)}#dependencies")


def _dependency_cycle(case: Case) -> Explanation:
    circle = " → ".join(name_of(ref) for ref in (*case.verdict.cycle, case.verdict.cycle[0])) if case.verdict.cycle else ""
    cause = f"Its dependencies go round in a circle: {circle}. None of them can ever start, and new revisions of the shared source reach everything late."
    return Explanation("dependency-cycle", cause, "Remove one of these entries from spec.dependsOn.", reconcile_command(case.ref), f"{page_of(case.kind)}#dependencies")


def _dependency_suspended(case: Case) -> Explanation:
    dependency = case.verdict.blocked_by
    cause = f"It depends on {dependency}, which is suspended and so will never become ready or catch up with the source."
    return Explanation("dependency-suspended", cause, f"Resume {dependency}, or take the dependency out.", resume_command(dependency) if dependency else "", f"{page_of(case.kind)}#suspend")


def _dependency_failing(case: Case) -> Explanation:
    root, near = case.verdict.caused_by, case.verdict.blocked_by
    through = f" (through {near})" if near and near != root else ""
    cause = f"It waits for {root}{through}, which fails."
    link = IMAGE_POLICY if case.kind == "ImagePolicy" else f"{page_of(case.kind)}#dependencies"
    return Explanation("dependency-failing", cause, f"Repair {root}; this object follows by itself.", reconcile_command(root) if root else "", link)


def _dependency_not_ready(case: Case) -> Explanation:
    near, message = case.verdict.blocked_by, case.verdict.message
    if "up to date" in message:
        cause = f"It waits until {near} has applied the newest revision of the source."
    else:
        cause = f"It waits for {near}, which is not ready yet."
    return Explanation("dependency-not-ready", cause, "Wait; it starts by itself.", reconcile_command(near) if near else "", f"{page_of(case.kind)}#dependencies")


def _child_failing(case: Case) -> Explanation:
    cause = f"It waits for the health of {case.verdict.blocked_by}, which has failed for good; the wait ends at its timeout."
    root = case.verdict.caused_by or case.ref
    return Explanation("health-check-in-progress", cause, f"Repair {root}; no need to wait for the timeout.", reconcile_command(root), f"{KUSTOMIZATION}#health-checks")


# --- settled, with something to say ---------------------------------------------------------------------------------


def _drifted(case: Case) -> Explanation:
    cause = f"What runs differs from what was applied: {first_line(case.verdict.message) or 'drift was detected'}."
    remedy = "Find who changed it; set spec.driftDetection.mode to enabled to have it put back, or run the release again."
    return Explanation("drift-detected", cause, remedy, _forced(case), f"{page_of(case.kind)}#drift-detection" if case.kind == "HelmRelease" else page_of(case.kind))


def _forced(case: Case) -> str:
    return f"flux reconcile helmrelease {case.ref.name} -n {case.ref.namespace} --force" if case.kind == "HelmRelease" else reconcile_command(case.ref)


def _test_failed(case: Case) -> Explanation:
    found = condition(case.resource, "TestSuccess")
    said = first_line(found.message or "") if found else ""
    cause = f"The release is deployed, but its test failed: {said}"
    remedy = "Read the test's log. The failure is ignored because spec.test.ignoreFailures is set." if is_true(case.resource, "Ready") else "Read the test's log and correct what it found."
    return Explanation("test-failed", cause, remedy, f"kubectl -n {case.ref.namespace} get jobs,pods", f"{HELM_RELEASE}#test-configuration")


def _approval(case: Case) -> Explanation:
    if case.kind == "Canary":
        return Explanation("pending-approval", f"The canary waits at a gate: {case.verdict.reason}.", "Open the gate, or let it roll back.", reconcile_command(case.ref), "https://docs.flagger.app/usage/webhooks")
    plan = getattr(getattr(case.resource, "status", None), "plan", None)
    pending = plan.pending if plan else ""
    loud = " IT DESTROYS RESOURCES." if plan and plan.is_destroy_plan else ""
    cause = f"Plan {pending} waits for approval.{loud}"
    return Explanation("pending-approval", cause, f"Review the plan; approve it by setting spec.approvePlan to {pending} in Git.", f"tfctl show plan {case.ref.name} -n {case.ref.namespace}", "https://flux-iac.github.io/tofu-controller/")


def _canary_failed(case: Case) -> Explanation:
    cause = f"The canary failed its analysis; the primary still serves the version before. {first_line(case.verdict.message)}"
    return Explanation("canary-failed", cause.strip(), "Read the canary's events for the metric that failed, correct it and push.", reconcile_command(case.ref), "https://docs.flagger.app/usage/how-it-works")


def _flux_v1(case: Case) -> Explanation:
    cause = "This Deployment runs Flux v1, which is past its end of life and gets no security fixes."
    return Explanation("flux-v1", cause, "Migrate to Flux v2.", "flux bootstrap --help", f"{DOCS}/migration/")


def _argo(case: Case) -> Explanation:
    return Explanation("argo-cd", f"Argo CD says: {case.verdict.message}", "Look at the application in Argo CD.", f"argocd app get {case.ref.name}", "https://argo-cd.readthedocs.io/en/stable/operator-manual/health/")


def _message(case: Case) -> Explanation:
    return Explanation("module-config-message", f"Deckhouse warns: {first_line(case.verdict.message)}", "Follow the message; the verdict itself is on the Module.", reconcile_command(case.ref), "https://deckhouse.io/documentation/")


def _failing(case: Case) -> Explanation | None:
    """What the whole object tells better than one message: a check that names objects, a release that was rolled back."""
    if isinstance(case.resource, HelmRelease) and has_status(case.resource, "Remediated", "True"):
        return _rolled_back(case)
    return None


def _rolled_back(case: Case) -> Explanation:
    released, remediated = condition(case.resource, "Released"), condition(case.resource, "Remediated")
    said = (released.message or "") if released else ""
    names = ", ".join(f"{name} ({status})" for name, status in unhealthy_names(said))
    why = f"{names} did not become ready" if names else first_line(said)
    was_install = bool(remediated and remediated.reason == "UninstallSucceeded")
    done = "uninstalled again" if was_install else f"rolled back; {case.verdict.deployed or 'the version before'} runs"
    cause = f"The {'install' if was_install else 'upgrade'} to {case.verdict.attempted} failed and was {done}. {why}"
    remedy = "Correct the chart or its values and push; until then nothing is tried again."
    return Explanation("install-failed" if was_install else "upgrade-failed", cause, remedy, f"helm -n {case.ref.namespace} history {case.ref.name}", f"{HELM_RELEASE}#configuring-failure-handling")


def minutes(text: str | None) -> str:
    """A Go duration in words, for a sentence."""
    duration = parse_duration(text)
    return f"{duration.total_seconds() / 60:g} min" if duration else "its interval"


def blocked_dependencies(case: Case) -> str:
    return ", ".join(map(str, dependencies_of(case.resource)))


_STATES: Mapping[str, State] = {
    "ready": _ready,
    "static": _static,
    "suspended-from-birth": _suspended_from_birth,
    "terminating": _terminating,
    "finalizer-stuck": _finalizer_stuck,
    "not-observed": _not_observed,
    "not-picked-up": _not_picked_up,
    "canceled": _canceled,
    "starting-up": _starting_up,
    "source-missing": _source_missing,
    "source-not-ready": _source_that_needs_no_message,
    "source-terminating": _source_terminating,
    "artifact-lost": _artifact_lost,
    "dependency-missing": _dependency_missing,
    "dependency-cycle": _dependency_cycle,
    "dependency-suspended": _dependency_suspended,
    "dependency-failing": _dependency_failing,
    "dependency-not-ready": _dependency_not_ready,
    "child-failing": _child_failing,
    "drifted": _drifted,
    "test-failed": _test_failed,
    "approval": _approval,
    "canary-failed": _canary_failed,
    "flux-v1": _flux_v1,
    "argo": _argo,
    "message": _message,
    "failing": _failing,
    "stalled": _failing,
}
