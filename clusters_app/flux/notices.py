"""Green though broken: what Flux cannot see about an object and we say, without changing its health."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .conditions import is_true
from .graph import sources_of
from .identity import ObjectRef, Revision
from .resources import Unreadable
from .structs import (
    Alert,
    ImageRepository,
    ImageUpdateAutomation,
    Kustomization,
    Resource,
    Source,
)
from .verdicts import Notice

Objects = Mapping[ObjectRef, Resource | Unreadable]


def notices_of(
    resource: Resource, objects: Objects, cycles: Mapping[ObjectRef, tuple[ObjectRef, ...]]
) -> tuple[Notice, ...]:
    """In a stable order; empty for almost every object."""
    match resource:
        case Kustomization():
            return tuple(_of_kustomization(resource, objects, cycles))
        case ImageRepository():
            return tuple(_of_image_repository(resource, objects))
        case ImageUpdateAutomation():
            return tuple(_of_automation(resource, objects))
        case Alert():
            return tuple(_of_alert(resource, objects))
    return ()


def _of_kustomization(
    resource: Kustomization, objects: Objects, cycles: Mapping[ObjectRef, tuple[ObjectRef, ...]]
) -> Iterator[Notice]:
    status = resource.status
    if status and is_true(resource, "Ready") and not (status.inventory and status.inventory.entries):
        yield Notice("empty-inventory", "It applies without error, but to nothing: the path holds no objects.")
    source = next(iter(sources_of(resource)), None)
    if not source or not status or not _is_behind(resource, objects.get(source)):
        return
    culprit = next((ref for ref in cycles if source in _sources_at(ref, objects) and ref != resource.ref), None)
    if culprit:
        text = (
            f"A newer revision is fetched but not applied yet: the dependency cycle at {culprit} makes the controller "
            f"drop the event of {source}, so everything that follows it waits for its own interval."
        )
        yield Notice("cycle-elsewhere", text)
    else:
        yield Notice("behind-source", f"{source} has fetched a newer revision than the one that is applied.")


def _sources_at(ref: ObjectRef, objects: Objects) -> tuple[ObjectRef, ...]:
    item = objects.get(ref)
    return sources_of(item) if isinstance(item, Resource) else ()


def _is_behind(resource: Kustomization, source: Resource | Unreadable | None) -> bool:
    applied = resource.status.last_applied_revision if resource.status else None
    if not isinstance(source, Source) or not source.status or not source.status.artifact or not applied:
        return False
    fetched = source.status.artifact.revision
    return bool(fetched) and not Revision.parse(fetched or "").is_same_content(Revision.parse(applied))


def _of_image_repository(resource: ImageRepository, objects: Objects) -> Iterator[Notice]:
    scan = resource.status.last_scan_result if resource.status else None
    if scan and scan.tag_count == 0:
        yield Notice("no-tags", "The scan succeeds and finds no tag at all, so no policy on it can ever resolve.")
    image = resource.spec.image if resource.spec else None
    twins = (item for item in objects.values() if isinstance(item, ImageRepository) and item.ref != resource.ref)
    if image and (twin := next((item for item in twins if item.spec and item.spec.image == image), None)):
        yield Notice("duplicate-image", f"{twin.ref} scans the same image; the two overwrite each other's tags.")


def _of_automation(resource: ImageUpdateAutomation, objects: Objects) -> Iterator[Notice]:
    git = resource.spec.git if resource.spec else None
    branch = git.push.branch if git and git.push else None
    source = objects.get(next(iter(sources_of(resource)), ObjectRef("", "", "")))
    if not branch or not isinstance(source, Source) or not source.spec:
        return
    followed = source.spec.ref.branch if source.spec.ref else None
    if followed and followed != branch:
        text = f"It pushes to {branch}, while {source.ref} follows {followed}: nothing arrives before somebody merges."
        yield Notice("push-branch", text)


def _of_alert(resource: Alert, objects: Objects) -> Iterator[Notice]:
    for provider in sources_of(resource):
        if provider not in objects:
            yield Notice("provider-missing", f"{provider} does not exist, so this alert delivers nothing.")
