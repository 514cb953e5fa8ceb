"""Explanations of what is well, not known, or on its way."""

from __future__ import annotations

import re

from ..case import Case, first_line, reconcile_command, resume_command
from ..conditions import condition, texts
from ..freshness import Freshness
from ..structs import Alert, HelmRelease, Kustomization
from ..verdicts import OK, Control, Explanation
from .rule import CHEAT_SHEET, HELM_RELEASE, KUSTOMIZATION, SHARDING, page_of

_CHECKING = re.compile(r"running health checks?", re.IGNORECASE)


def ready(case: Case) -> Explanation:
    if case.verdict.control is Control.ORPHANED:
        return nobody_works(case)
    if case.verdict.freshness is not Freshness.LIVE:
        cause = (
            f"It was ready when {case.controller} last wrote it, and is written no more though its interval has passed."
        )
        return Explanation(
            "heartbeat-missing",
            cause,
            f"Look at {case.controller} and its queue.",
            _controller_command(case),
            CHEAT_SHEET,
        )
    return OK


def static(case: Case) -> Explanation:
    if isinstance(case.resource, Alert) and any(item.code == "provider-missing" for item in case.verdict.notices):
        return Explanation(
            "static",
            "This kind has no status, and its provider does not exist: it delivers nothing.",
            "Create the provider that spec.providerRef names.",
        )
    return Explanation("static", "This kind has no status: it takes part, but nothing reports on it.")


def suspended_from_birth(case: Case) -> Explanation:
    cause = "It was suspended before it ever ran, so nothing is known about it."
    return Explanation("suspended", cause, "Resume it when it may run.", resume_command(case.ref), page_of(case.kind))


def nobody_works(case: Case) -> Explanation:
    absence = case.absence
    if absence and absence.is_shard:
        shard = (case.resource.metadata.labels or {}).get("sharding.fluxcd.io/key")
        what = f"shard {shard}" if shard else "objects without a shard"
        cause = (
            f"No living {absence.controller} serves {what}: the object keeps its last status for ever, "
            "whatever happens."
        )
        remedy = (
            f"Start a {absence.controller} whose --watch-label-selector selects it, or correct the "
            "label sharding.fluxcd.io/key."
        )
        return Explanation(
            "orphaned-shard", cause, remedy, f"kubectl -n flux-system get leases | grep {absence.controller}", SHARDING
        )
    controller = absence.controller if absence else case.controller
    cause = (
        f"{controller} is not running: its Lease is no longer renewed, so this status is as old as its "
        "last sign of life."
    )
    return Explanation(
        "controller-dead",
        cause,
        f"Bring {controller} back; then everything it owns is checked again.",
        _controller_command(case),
        CHEAT_SHEET,
    )


def _controller_command(case: Case) -> str:
    return (
        f"kubectl -n flux-system get deployment {case.controller} && kubectl -n flux-system logs "
        f"deployment/{case.controller} --tail=50"
    )


def terminating(case: Case) -> Explanation:
    cause = "It is being deleted; what it owns is removed first."
    return Explanation("terminating", cause, "Wait; after 15 minutes it counts as stuck.", "", page_of(case.kind))


def finalizer_stuck(case: Case) -> Explanation:
    finalizers = ", ".join(case.resource.metadata.finalizers or ())
    own = "finalizers.fluxcd.io" in (case.resource.metadata.finalizers or ())
    who = (
        f"{case.controller} cannot finish removing what it owns"
        if own
        else "Flux is done, but another controller is not"
    )
    cause = f"It has been deleted for more than 15 minutes and {finalizers} still holds it: {who}."
    remedy = (
        (
            "Read its events for the reason: a denied prune, a missing service account or a stopped "
            f"{case.controller} are the usual ones."
        )
        if own
        else (
            f"Find the controller that sets {finalizers}; remove the finalizer by hand only when that "
            "controller is gone."
        )
    )
    command = f"kubectl -n {case.ref.namespace} get events --field-selector involvedObject.name={case.ref.name}"
    return Explanation("finalizer-stuck", cause, remedy, command, page_of(case.kind))


def not_observed(case: Case) -> Explanation:
    if case.absence and case.absence.is_shard:
        return nobody_works(case)
    cause = f"{case.controller} has not taken up this generation yet; what is shown is the verdict on the one before."
    return Explanation(
        "not-observed-yet",
        cause,
        "Wait for its next run, or ask for one.",
        reconcile_command(case.ref),
        page_of(case.kind),
    )


def not_picked_up(case: Case) -> Explanation:
    if case.absence and case.absence.is_shard:
        return nobody_works(case)
    dead = f" {case.absence.controller} is not running." if case.absence else ""
    cause = (
        f"{case.controller} should have taken up this generation by now (interval and timeout have "
        f"passed) and has not.{dead}"
    )
    remedy = f"See whether {case.controller} runs, watches this namespace and selects this object's labels."
    return Explanation("not-picked-up", cause, remedy, _controller_command(case), CHEAT_SHEET)


def in_progress(case: Case) -> Explanation:
    running = texts([condition(case.resource, "Healthy"), condition(case.resource, "Reconciling")])
    if isinstance(case.resource, Kustomization) and _CHECKING.search(running):
        cause = f"The manifests are applied; it waits for their health: {first_line(running)}."
        return Explanation(
            "health-check-in-progress", cause, "Wait until its timeout.", "", f"{KUSTOMIZATION}#health-checks"
        )
    if released := _unlocked(case):
        return released
    doing = first_line(case.verdict.message or running)
    return Explanation(
        "in-progress",
        f"Its controller is at work: {doing}." if doing else "Its controller is at work.",
        "Wait for the verdict.",
        "",
        page_of(case.kind),
    )


def _unlocked(case: Case) -> Explanation | None:
    released = condition(case.resource, "Released")
    if not isinstance(case.resource, HelmRelease) or not released or "nlocked" not in (released.message or ""):
        return None
    cause = (
        "A release was left half done (its controller was stopped in the middle), and has been "
        f"unlocked: {first_line(released.message or '')}"
    )
    return Explanation("release-unlocked", cause, "Wait: the next action runs by itself.", "", HELM_RELEASE)


def no_verdict(case: Case) -> Explanation:
    if case.verdict.control is Control.ORPHANED:
        return nobody_works(case)
    if case.verdict.control is Control.SUSPENDED:
        return _suspended_on_its_way(case)
    cause = f"Its timeout has passed without a verdict: {first_line(case.verdict.message)}."
    return Explanation(
        "no-verdict",
        cause,
        f"Look at {case.controller}: it may be overloaded or restarting.",
        _controller_command(case),
        CHEAT_SHEET,
    )


def _suspended_on_its_way(case: Case) -> Explanation:
    cause = "It was suspended in the middle of a run, so its last verdict is not known."
    return Explanation("suspended", cause, "Resume it when it may run.", resume_command(case.ref), page_of(case.kind))


def canceled(case: Case) -> Explanation:
    cause = f"The health check was given up because something newer came: {first_line(case.verdict.message)}."
    return Explanation(
        "health-check-canceled", cause, "Wait: the next run starts at once.", "", f"{KUSTOMIZATION}#health-checks"
    )


def starting_up(case: Case) -> Explanation:
    cause = "It has just started or changed, and the source it takes its content from is a moment behind."
    return Explanation("source-not-ready", cause, "Wait: this passes within seconds.", "", page_of(case.kind))
