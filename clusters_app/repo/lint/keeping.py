"""KST007: objects whose deletion takes data with it, and that a renamed path would delete."""

from collections.abc import Iterator

from clusters_app.repo.build import BuiltObject
from clusters_app.repo.documents import mapping
from clusters_app.repo.graph import FluxKustomizationNode
from clusters_app.repo.lint.finding import Place
from clusters_app.repo.lint.subject import Subject

_PRUNE = "kustomize.toolkit.fluxcd.io/prune"
_KEPT = frozenset({"Namespace", "PersistentVolumeClaim", "CustomResourceDefinition", "ModuleConfig", "NodeGroup"})


def object_is_not_kept(subject: Subject) -> Iterator[Place]:
    """Namespaces, volumes, definitions and platform objects without `prune: disabled`, as a label or an annotation."""
    said: set[tuple[str, int]] = set()
    for _, node, each in subject.applied():
        if each.kind in _KEPT and (each.file, each.line) not in said and not _is_kept(node, each):
            said.add((each.file, each.line))
            yield Place(
                each.file,
                each.line,
                "{kind} {name} is deleted with all that is in it when it leaves Git or moves",
                f"annotate it with {_PRUNE}: disabled",
                f"{each.kind}/{each.namespace}/{each.name}" if each.namespace else f"{each.kind}/{each.name}",
                {"kind": each.kind, "name": each.name},
            )


def _is_kept(node: FluxKustomizationNode, each: BuiltObject) -> bool:
    common = mapping(node.spec, "commonMetadata")
    places = [
        mapping(source, field)
        for source in (mapping(each.value, "metadata"), common)
        for field in ("labels", "annotations")
    ]
    return any(str(place.get(_PRUNE, "")).lower() == "disabled" for place in places)
