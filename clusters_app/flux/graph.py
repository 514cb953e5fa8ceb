"""Which object waits for which: references of one cluster, cycles among dependencies, what an applier owns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from .identity import InventoryEntry, ObjectRef
from .resources import FLUX_KINDS, Unreadable
from .structs import (
    Alert,
    ArtifactGenerator,
    Dependency,
    HelmChart,
    HelmRelease,
    ImagePolicy,
    ImageUpdateAutomation,
    Kustomization,
    Reference,
    Resource,
    Source,
    Terraform,
)


def sources_of(resource: Resource) -> tuple[ObjectRef, ...]:
    """What an object takes its content from. An absent namespace is the referrer's own."""
    return tuple(_sources(resource))


def _sources(resource: Resource) -> Iterator[ObjectRef]:
    match resource:
        case (
            Kustomization(spec=spec) | HelmChart(spec=spec) | Terraform(spec=spec) | ImageUpdateAutomation(spec=spec)
        ) if spec:
            yield from _resolved(resource, spec.source_ref, "GitRepository")
        case HelmRelease(spec=spec) if spec and spec.chart_ref:
            yield from _resolved(resource, spec.chart_ref, "OCIRepository")
        case HelmRelease():
            yield from _chart_of(resource)
        case ImagePolicy(spec=spec) if spec:
            yield from _resolved(resource, spec.image_repository_ref, "ImageRepository")
        case ArtifactGenerator(spec=spec) if spec:
            for reference in spec.sources or ():
                yield from _resolved(resource, reference, "GitRepository")
        case Alert(spec=spec) if spec:
            yield from _resolved(resource, spec.provider_ref, "Provider")
        case Source(spec=spec) if spec:
            for include in spec.include or ():
                yield from _resolved(resource, include.repository, "GitRepository")


def _chart_of(release: HelmRelease) -> Iterator[ObjectRef]:
    """The HelmChart that helm-controller makes: `status.helmChart`, else as it will name it, beside the source."""
    namespace, _, name = ((release.status.helm_chart if release.status else None) or "").partition("/")
    if name:
        yield ObjectRef("HelmChart", namespace, name)
    elif release.spec and release.spec.chart and release.spec.chart.spec:
        source = release.spec.chart.spec.source_ref
        own = release.metadata.namespace or ""
        beside = (source.namespace if source else None) or own
        yield ObjectRef("HelmChart", beside, f"{own}-{release.metadata.name}")


def chart_source_of(release: HelmRelease) -> ObjectRef | None:
    """The repository behind the chart of a release, without the HelmChart in between."""
    if not release.spec or not release.spec.chart or not release.spec.chart.spec:
        return next(iter(sources_of(release)), None)
    return next(_resolved(release, release.spec.chart.spec.source_ref, "HelmRepository"), None)


def _resolved(resource: Resource, reference: Reference | None, kind: str) -> Iterator[ObjectRef]:
    if reference and reference.name:
        yield ObjectRef(
            reference.kind or kind, reference.namespace or resource.metadata.namespace or "", reference.name
        )


def dependencies_of(resource: Resource) -> tuple[ObjectRef, ...]:
    """`spec.dependsOn`, of the object's own kind."""
    return tuple(ref for entry in _depends_on(resource) for ref in _resolved(resource, entry, resource.kind))


def _depends_on(resource: Resource) -> tuple[Dependency, ...]:
    match resource:
        case Kustomization(spec=spec) | HelmRelease(spec=spec) | Terraform(spec=spec) if spec:
            return spec.depends_on or ()
    return ()


def owned_by(resource: Resource) -> tuple[ObjectRef, ...]:
    """The Flux objects that an applier has in its inventory; entries that cannot be read are left out."""
    match resource:
        case Kustomization(status=status) | HelmRelease(status=status) if status and status.inventory:
            return tuple(_flux_entries(entry.id or "" for entry in status.inventory.entries or ()))
    return ()


def _flux_entries(identifiers: Iterable[str]) -> Iterator[ObjectRef]:
    for identifier in identifiers:
        if identifier.rpartition("_")[2] in FLUX_KINDS:
            try:
                yield InventoryEntry.parse(identifier).ref
            except ValueError:
                continue


def cycles(objects: Mapping[ObjectRef, Resource | Unreadable]) -> dict[ObjectRef, tuple[ObjectRef, ...]]:
    """Every object that is in a dependency cycle, with the members from itself onwards, in their order."""
    edges = {ref: dependencies_of(item) for ref, item in objects.items() if isinstance(item, Resource)}
    edges = _trimmed(edges)
    return {ref: path for ref in edges if (path := _way_back(ref, edges))}


def _trimmed(edges: Mapping[ObjectRef, tuple[ObjectRef, ...]]) -> dict[ObjectRef, tuple[ObjectRef, ...]]:
    """Without the objects whose dependencies all come to an end; almost always nothing is left."""
    left = {ref: targets for ref, targets in edges.items() if targets}
    dependants: dict[ObjectRef, list[ObjectRef]] = {}
    for ref, targets in left.items():
        for target in targets:
            dependants.setdefault(target, []).append(ref)
    open_ends = {ref: sum(target in left for target in targets) for ref, targets in left.items()}
    ended = [ref for ref, number in open_ends.items() if not number]
    for ref in ended:
        del left[ref]
        for dependant in dependants.get(ref, ()):
            open_ends[dependant] -= 1
            if not open_ends[dependant]:
                ended.append(dependant)
    return left


def _way_back(start: ObjectRef, edges: Mapping[ObjectRef, tuple[ObjectRef, ...]]) -> tuple[ObjectRef, ...]:
    """The shortest path from an object to itself, without the repeated end; empty when there is none."""
    came_from: dict[ObjectRef, ObjectRef] = {}
    queue = [start]
    for here in queue:
        for target in edges.get(here, ()):
            if target == start:
                return _retraced(here, start, came_from)
            if target not in came_from:
                came_from[target] = here
                queue.append(target)
    return ()


def _retraced(end: ObjectRef, start: ObjectRef, came_from: Mapping[ObjectRef, ObjectRef]) -> tuple[ObjectRef, ...]:
    path = [end]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return tuple(reversed(path))
