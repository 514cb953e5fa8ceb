"""Explanations of objects that wait for another one: which, and why it does not come."""

from __future__ import annotations

from ..case import Case, first_line, name_of, reconcile_command, resume_command
from ..identity import ObjectRef
from ..structs import Resource, Source
from ..verdicts import Explanation, Health
from .rule import GIT, IMAGE_POLICY, KUSTOMIZATION, page_of


def source_missing(case: Case) -> Explanation:
    missing = case.verdict.caused_by or ObjectRef("Source", "", "")
    if case.kind == "ImagePolicy":
        return dependency_missing(case)
    if case.verdict.reason in {"NoArtifact", "NotFound"}:
        return _include(case)
    cause = f"It takes its content from {missing}, which does not exist."
    remedy = (
        f"Create {missing}, or correct the reference (a missing namespace means {case.ref.namespace or 'the own one'})."
    )
    return Explanation("source-missing", cause, remedy, f"kubectl get {missing.kind.lower()} -A", page_of(case.kind))


def source_not_ready(case: Case) -> Explanation:
    root = case.verdict.caused_by or case.verdict.blocked_by
    cause = (
        f"It has nothing to work on: {root} has no artifact that can be used."
        if root
        else f"Its source is not ready: {first_line(case.verdict.message)}"
    )
    if not root:
        return Explanation(
            "source-not-ready", cause, "Look at its source.", reconcile_command(case.ref), page_of(case.kind)
        )
    return Explanation(
        "source-not-ready",
        cause,
        f"Repair {root}; this object follows by itself.",
        reconcile_command(root),
        page_of(case.kind),
    )


def source_that_needs_no_message(case: Case) -> Explanation | None:
    """A HelmRelease quotes its chart's message, which says more; these kinds say nothing but that they wait."""
    if case.verdict.reason == "NoArtifact" and isinstance(case.resource, Source):
        return _include(case)
    if case.kind == "ImagePolicy":
        return dependency_failing(case) if case.verdict.health is Health.FAILING else dependency_not_ready(case)
    return None


def _include(case: Case) -> Explanation:
    cause = f"It includes {case.verdict.blocked_by}, which has no artifact."
    remedy = f"Repair {case.verdict.caused_by}, or take it out of spec.include."
    return Explanation(
        "include-not-ready", cause, remedy, reconcile_command(case.verdict.caused_by or case.ref), f"{GIT}#include"
    )


def source_terminating(case: Case) -> Explanation:
    source = case.verdict.blocked_by
    cause = f"{source}, from which it takes its content, is being deleted."
    return Explanation(
        "source-terminating",
        cause,
        "Let it take another source, or recreate this one.",
        f"kubectl get {source.kind.lower() if source else ''} -A",
        page_of(case.kind),
    )


def artifact_lost(case: Case) -> Explanation:
    source = case.verdict.blocked_by
    item = case.objects.get(source) if source else None
    is_stopped = isinstance(item, Resource) and bool(getattr(getattr(item, "spec", None), "suspend", False))
    cause = (
        f"{source} says that it has an artifact, but the file is gone from source-controller's storage "
        "(as after a restart without a volume)."
    )
    remedy = (
        f"{source} is suspended and will not fetch again: resume it." if is_stopped else f"Let {source} fetch again."
    )
    command = (resume_command if is_stopped else reconcile_command)(source) if source else ""
    return Explanation("artifact-lost", cause, remedy, command, f"{GIT}#artifact")


def _dependencies_page(case: Case) -> str:
    return IMAGE_POLICY if case.kind == "ImagePolicy" else f"{page_of(case.kind)}#dependencies"


def dependency_missing(case: Case) -> Explanation:
    missing = case.verdict.caused_by
    kind = missing.kind.lower() if missing else case.kind.lower()
    cause = f"It depends on {missing}, which does not exist."
    field = "spec.imageRepositoryRef" if case.kind == "ImagePolicy" else "spec.dependsOn"
    remedy = f"Create {missing}, or correct {field} (a reference without namespace means {case.ref.namespace})."
    return Explanation(
        "dependency-missing",
        cause,
        remedy,
        f"kubectl get {kind} -A",
        _dependencies_page(case),
    )


def dependency_cycle(case: Case) -> Explanation:
    circle = (
        " → ".join(name_of(ref) for ref in (*case.verdict.cycle, case.verdict.cycle[0])) if case.verdict.cycle else ""
    )
    cause = (
        f"Its dependencies go round in a circle: {circle}. No one of them can ever start, and new "
        "revisions of the shared source reach everything late."
    )
    return Explanation(
        "dependency-cycle",
        cause,
        "Remove one of these entries from spec.dependsOn.",
        reconcile_command(case.ref),
        _dependencies_page(case),
    )


def dependency_suspended(case: Case) -> Explanation:
    dependency = case.verdict.blocked_by
    cause = (
        f"It depends on {dependency}, which is suspended and so will never become ready or catch up with the source."
    )
    return Explanation(
        "dependency-suspended",
        cause,
        f"Resume {dependency}, or take the dependency out.",
        resume_command(dependency) if dependency else "",
        f"{page_of(case.kind)}#suspend",
    )


def dependency_failing(case: Case) -> Explanation:
    root, near = case.verdict.caused_by, case.verdict.blocked_by
    through = f" (through {near})" if near and near != root else ""
    cause = f"It waits for {root}{through}, which fails."
    link = _dependencies_page(case)
    return Explanation(
        "dependency-failing",
        cause,
        f"Repair {root}; this object follows by itself.",
        reconcile_command(root) if root else "",
        link,
    )


def dependency_not_ready(case: Case) -> Explanation:
    near, message = case.verdict.blocked_by, case.verdict.message
    if "up to date" in message:
        cause = f"It waits until {near} has applied the newest revision of the source."
    else:
        cause = f"It waits for {near}, which is not ready yet."
    return Explanation(
        "dependency-not-ready",
        cause,
        "Wait; it starts by itself.",
        reconcile_command(near) if near else "",
        _dependencies_page(case),
    )


def child_failing(case: Case) -> Explanation:
    cause = (
        f"It waits for the health of {case.verdict.blocked_by}, which has failed for good; the wait "
        "ends at its timeout."
    )
    root = case.verdict.caused_by or case.ref
    return Explanation(
        "health-check-in-progress",
        cause,
        f"Repair {root}; no need to wait for the timeout.",
        reconcile_command(root),
        f"{KUSTOMIZATION}#health-checks",
    )
