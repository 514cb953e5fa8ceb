"""Green though broken: what Flux cannot see about an object and we say, without changing its health."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .conditions import is_true
from .graph import cycles, sources_of
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


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What one look over all objects of a cluster finds, so that none has to look again."""

    objects: Objects
    cycles: Mapping[ObjectRef, tuple[ObjectRef, ...]]
    cyclic_sources: Mapping[ObjectRef, ObjectRef]
    scanned_images: Mapping[str, tuple[ObjectRef, ...]]
    is_whole: bool

    @classmethod
    def of(cls, objects: Objects, *, is_whole: bool) -> Surroundings:
        found = cycles(objects)
        sources = {source: ref for ref in found for source in _sources_at(ref, objects)}
        images: dict[str, tuple[ObjectRef, ...]] = {}
        for item in objects.values():
            if isinstance(item, ImageRepository) and item.spec and item.spec.image:
                images[item.spec.image] = (*images.get(item.spec.image, ()), item.ref)
        return cls(objects, found, sources, images, is_whole)


def notices_of(resource: Resource, around: Surroundings) -> tuple[Notice, ...]:
    """In a stable order; empty for almost every object."""
    match resource:
        case Kustomization():
            return tuple(_of_kustomization(resource, around))
        case ImageRepository():
            return tuple(_of_image_repository(resource, around))
        case ImageUpdateAutomation():
            return tuple(_of_automation(resource, around))
        case Alert():
            return tuple(_of_alert(resource, around))
    return ()


def _of_kustomization(resource: Kustomization, around: Surroundings) -> Iterator[Notice]:
    status = resource.status
    if status and is_true(resource, "Ready") and not (status.inventory and status.inventory.entries):
        yield Notice("empty-inventory", "It applies without error, but to nothing: the path holds no objects.")
    source = next(iter(sources_of(resource)), None)
    if not source or not _is_behind(resource, around.objects.get(source)):
        return
    culprit = around.cyclic_sources.get(source)
    if culprit and resource.ref not in around.cycles:
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
    return (
        bool(fetched)
        and fetched != applied
        and not Revision.parse(fetched or "").is_same_content(Revision.parse(applied))
    )


def _of_image_repository(resource: ImageRepository, around: Surroundings) -> Iterator[Notice]:
    scan = resource.status.last_scan_result if resource.status else None
    if scan and scan.tag_count == 0:
        yield Notice("no-tags", "The scan succeeds and finds no tag at all, so no policy on it can ever resolve.")
    image = resource.spec.image if resource.spec else None
    twins = [ref for ref in around.scanned_images.get(image or "", ()) if ref != resource.ref]
    if twins:
        yield Notice("duplicate-image", f"{twins[0]} scans the same image; the two overwrite each other's tags.")


def _of_automation(resource: ImageUpdateAutomation, around: Surroundings) -> Iterator[Notice]:
    git = resource.spec.git if resource.spec else None
    branch = git.push.branch if git and git.push else None
    source = around.objects.get(next(iter(sources_of(resource)), ObjectRef("", "", "")))
    if not branch or not isinstance(source, Source) or not source.spec:
        return
    followed = source.spec.ref.branch if source.spec.ref else None
    if followed and followed != branch:
        text = f"It pushes to {branch}, while {source.ref} follows {followed}: nothing arrives before somebody merges."
        yield Notice("push-branch", text)


def _of_alert(resource: Alert, around: Surroundings) -> Iterator[Notice]:
    for provider in sources_of(resource):
        if around.is_whole and provider not in around.objects:
            yield Notice("provider-missing", f"{provider} does not exist, so this alert delivers nothing.")
