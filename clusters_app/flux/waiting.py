"""Whom a blocked object waits for: read from its reason, its message and its references."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .graph import chart_source_of, dependencies_of, owned_by, sources_of
from .identity import ObjectRef
from .resources import FLUX_KINDS
from .structs import Condition, HelmRelease, Kustomization, Resource

_DEPENDENCY = re.compile(r"(?:dependency '(?P<after>[^']+)'|'(?P<before>[^']+)' dependency)")
_QUOTED_SOURCE = re.compile(r"^(?P<kind>[A-Z]\w+) '(?P<ref>[^']+)' is not ready")
_FULL_NAME = re.compile(r"\b(?P<kind>[A-Z]\w+)\.[a-z.]*fluxcd\.io \"(?P<name>[^\"]+)\" not found")
_INCLUDE = re.compile(r"include '(?P<name>[^']+)'")
_EXPRESSION = re.compile(r"CEL expression|readyExpr.*(?:failed|error)", re.IGNORECASE)
_UNHEALTHY = re.compile(r"(?P<kind>[A-Z]\w*)/(?:(?P<namespace>[\w.-]+)/)?(?P<name>[\w.:-]+) status: '(?P<status>\w+)'")
_HEALTH_CHECK = re.compile(r"running health checks?", re.IGNORECASE)
_RUNNING_ACTION = re.compile(r"running '(?:install|upgrade|rollback|test)' action", re.IGNORECASE)
_MISSING = re.compile(
    r"\b(?:source|dependency) '[^']+' not found"
    r'|fluxcd\.io "[^"]+" not found'
    r"|referenced ImageRepository (?:does not exist|.*not found)",
    re.IGNORECASE,
)
_NO_ARTIFACT = re.compile(r"\bartifact not found|no artifact available|does not have an artifact", re.IGNORECASE)
_LOST = re.compile(r"source (?:is )?not ready[,:] artifact not found", re.IGNORECASE)
_BEHIND = re.compile(r"revision is not up to date", re.IGNORECASE)
_FLICKER = re.compile(r"latest generation of object has not been reconciled|artifact digest changed", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Wait:
    """One neighbour that an object waits for, and what its message says of it."""

    on: ObjectRef
    message: str
    is_dependency: bool = False

    @property
    def says_missing(self) -> bool:
        """The controller has looked for the object itself and did not find it."""
        return bool(_MISSING.search(self.message))

    @property
    def says_no_artifact(self) -> bool:
        return bool(_NO_ARTIFACT.search(self.message))

    @property
    def says_lost(self) -> bool:
        return bool(_LOST.search(self.message))

    @property
    def says_behind(self) -> bool:
        return bool(_BEHIND.search(self.message))

    @property
    def says_not_reconciled_yet(self) -> bool:
        return bool(_FLICKER.search(self.message))


def wait_of(resource: Resource, found: Condition) -> Wait | None:
    """The neighbour behind Ready=False, None when the reason is the object's own."""
    message, reason = found.message or "", found.reason or ""
    if reason == "DependencyNotReady" and resource.kind != "ImagePolicy":
        return _dependency(resource, message)
    if reason == "NoArtifact" or (reason == "NotFound" and "include" in message):
        return _include(resource, message)
    if reason == "NotFound":
        return None
    return _source(resource, message)


def _dependency(resource: Resource, message: str) -> Wait | None:
    if _EXPRESSION.search(message):
        return None
    known = dependencies_of(resource)
    if match := _DEPENDENCY.search(message):
        namespace, _, name = (match["after"] or match["before"]).rpartition("/")
        named = ObjectRef(resource.kind, namespace or resource.metadata.namespace or "", name)
        return Wait(named, message, is_dependency=True)
    return Wait(known[0], message, is_dependency=True) if known else None


def _include(resource: Resource, message: str) -> Wait | None:
    if match := _INCLUDE.search(message):
        return Wait(ObjectRef("GitRepository", resource.metadata.namespace or "", match["name"]), message)
    return next((Wait(ref, message) for ref in sources_of(resource)), None)


def _source(resource: Resource, message: str) -> Wait | None:
    named = _QUOTED_SOURCE.search(message)
    if named:
        namespace, _, name = named["ref"].rpartition("/")
        return Wait(ObjectRef(named["kind"], namespace or resource.metadata.namespace or "", name), message)
    return next((Wait(ref, message) for ref in sources_of(resource)), None)


def missing_behind(resource: Resource, message: str) -> ObjectRef | None:
    """The object that a neighbour's quoted message says is not there: a HelmRelease's repository, through its chart."""
    match = _FULL_NAME.search(message)
    if not match:
        return None
    candidates = [*sources_of(resource)]
    if isinstance(resource, HelmRelease) and (chart_source := chart_source_of(resource)):
        candidates.append(chart_source)
    return next((ref for ref in candidates if (ref.kind, ref.name) == (match["kind"], match["name"])), None)


def children_waited_for(resource: Resource, found: Condition | None, running: str) -> tuple[ObjectRef, ...]:
    """The Flux objects whose health an applier waits for: named in its message, or all that it owns while it checks.

    `running` is what the object says that it does now. The message calls a child "InProgress" even when it has failed
    for good.
    """
    named = tuple(_unhealthy((found.message or "") if found else ""))
    if named or not isinstance(resource, Kustomization | HelmRelease):
        return named
    is_checking = _HEALTH_CHECK.search(running) or (
        isinstance(resource, HelmRelease) and _RUNNING_ACTION.search(running)
    )
    return owned_by(resource) if is_checking else ()


def _unhealthy(message: str) -> Iterator[ObjectRef]:
    for match in _UNHEALTHY.finditer(message):
        if match["kind"] in FLUX_KINDS:
            yield ObjectRef(match["kind"], match["namespace"] or "", match["name"])


def unhealthy_names(message: str) -> tuple[tuple[str, str], ...]:
    """Every object that a health check names, with the status it gives, in its order."""
    found = (
        ("/".join(part for part in (match["kind"], match["namespace"], match["name"]) if part), match["status"])
        for match in _UNHEALTHY.finditer(message)
    )
    return tuple(dict(found).items())


def has_artifact(resource: Resource) -> bool:
    """Whether a source has something to serve; an image repository has when it found tags."""
    status = getattr(resource, "status", None)
    if resource.kind == "ImageRepository":
        scan = getattr(status, "last_scan_result", None)
        return scan is not None and bool(scan.tag_count)
    return getattr(status, "artifact", None) is not None
