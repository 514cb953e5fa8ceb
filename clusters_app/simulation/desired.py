"""What one commit wants of each cluster: its Kustomizations with their objects, as kustomize-controller would apply."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from clusters_app.ingest import JsonValue
from clusters_app.repo.build import HELM_GROUP, KUSTOMIZE_GROUP, SOURCE_GROUP, Builder, BuiltObject
from clusters_app.repo.documents import Value, documents, mapping, sequence, text
from clusters_app.repo.graph import ClusterNode, ClusterRoot, FluxKustomizationNode, build_graph
from clusters_app.repo.image_reference import ImageReference
from clusters_app.repo.kustomize import resolve
from clusters_app.repo.sourceignore import artifact_filter
from clusters_app.repo.substitution import substituted
from clusters_app.repo.tree import Tree

WORKLOADS = frozenset({"Deployment", "StatefulSet", "DaemonSet"})
#: What an image tag or a chart's version says when its workload is to fail, as on the clusters of the testbed.
BROKEN = "broken"


@dataclass(frozen=True)
class DesiredObject:
    """One object that a Kustomization applies. `value` is the manifest; for a workload only its identity matters."""

    group: str
    version: str
    kind: str
    namespace: str
    name: str
    value: Value

    @property
    def ref(self) -> str:
        return "/".join(part for part in (self.kind, self.namespace, self.name) if part)

    @property
    def inventory_id(self) -> str:
        return f"{self.namespace}_{self.name}_{self.group}_{self.kind}"

    @property
    def is_flux(self) -> bool:
        return self.group in {KUSTOMIZE_GROUP, HELM_GROUP, SOURCE_GROUP}


@dataclass(frozen=True)
class DesiredKustomization:
    """One Kustomization and what it applies. `digest` changes when anything that it applies does."""

    namespace: str
    name: str
    spec: Value
    parent: str | None
    depends_on: tuple[str, ...]
    source: str
    objects: tuple[DesiredObject, ...]
    broken: tuple[str, ...]
    digest: str
    problem: str = ""

    @property
    def ref(self) -> str:
        return f"Kustomization/{self.namespace}/{self.name}"

    @property
    def waits_for_health(self) -> bool:
        return bool(self.spec.get("wait") or self.spec.get("healthChecks"))


@dataclass(frozen=True)
class DesiredCluster:
    """One cluster as a commit wants it; `kustomizations` by their refs, parents before their children."""

    name: str
    environment: str
    path: str
    kustomizations: Mapping[str, DesiredKustomization]


def desired_fleet(tree: Tree, roots: Sequence[ClusterRoot] | None = None) -> dict[str, DesiredCluster]:
    """Each of these clusters, else every one that the tree describes, by name.

    Cost: one graph of the tree and one build a Kustomization.
    """
    builder = Builder(tree, left_out=artifact_filter(tree, None))
    return {cluster.name: _cluster(builder, cluster) for cluster in build_graph(tree, roots).clusters}


def _cluster(builder: Builder, cluster: ClusterNode) -> DesiredCluster:
    built = {node.ref: _built(builder, node) for node in cluster.kustomizations}
    settings = {(each.namespace, each.name): each for found in built.values() for each in found if _is_settings(each)}
    kustomizations = {
        node.ref: _kustomization(builder.tree, node, built[node.ref], settings) for node in cluster.kustomizations
    }
    return DesiredCluster(cluster.name, cluster.environment, cluster.path, kustomizations)


def _is_settings(each: BuiltObject) -> bool:
    return each.kind == "ConfigMap" and not each.group


def _built(builder: Builder, node: FluxKustomizationNode) -> tuple[BuiltObject, ...]:
    if node.path is None:
        return ()
    written = (resolve(node.path, item) for item in sequence(node.spec, "components") if isinstance(item, str))
    return builder.build_with(node.path, [path for path in written if path is not None]).objects


def _kustomization(
    tree: Tree,
    node: FluxKustomizationNode,
    built: tuple[BuiltObject, ...],
    settings: Mapping[tuple[str, str], BuiltObject],
) -> DesiredKustomization:
    variables = _variables(node, settings)
    objects = tuple(_object(each, variables) for each in built)
    problem = "" if node.path is not None or node.outside else f"kustomization path not found: {node.spec.get('path')}"
    return DesiredKustomization(
        namespace=node.namespace,
        name=node.name,
        spec=node.spec,
        parent=node.parent,
        depends_on=node.depends_on,
        source=node.source,
        objects=objects,
        broken=tuple(_broken(tree, node, objects)),
        digest=_digest(tree, node, objects),
        problem=problem,
    )


def _variables(node: FluxKustomizationNode, settings: Mapping[tuple[str, str], BuiltObject]) -> dict[str, str]:
    variables: dict[str, str] = {}
    for item in sequence(node.spec, "postBuild", "substituteFrom"):
        found = settings.get((node.namespace, text(item, "name")))
        variables |= {key: str(value) for key, value in mapping(found.value if found else {}, "data").items()}
    return variables | {
        key: str(value) for key, value in mapping(node.spec, "postBuild", "substitute").items() if value is not None
    }


def _object(each: BuiltObject, variables: Mapping[str, str]) -> DesiredObject:
    plain: JsonValue = substituted(dict(each.value), variables)
    value = plain if isinstance(plain, dict) else {}
    version = text(value, "apiVersion").rpartition("/")[2]
    return DesiredObject(each.group, version, each.kind, each.namespace, each.name, value)


def _broken(tree: Tree, node: FluxKustomizationNode, objects: tuple[DesiredObject, ...]) -> Iterator[str]:
    """Workloads with an image that says so. A graph's build merges no lists, so all files of the build are asked."""
    bad = {name for name, image in _images(tree, node) if _is_broken(image)}
    for each in objects:
        if each.kind in WORKLOADS and (each.kind, each.name) in bad:
            yield each.ref


def _images(tree: Tree, node: FluxKustomizationNode) -> Iterator[tuple[tuple[str, str], str]]:
    for path in sorted(node.files):
        for document in documents(tree, path).documents:
            if document.kind in WORKLOADS:
                for container in sequence(document.value, "spec", "template", "spec", "containers"):
                    yield (document.kind, document.name), text(container, "image")


def _is_broken(image: str) -> bool:
    parsed = ImageReference.parse(image)
    return parsed is not None and BROKEN in (parsed.tag or "")


def _digest(tree: Tree, node: FluxKustomizationNode, objects: tuple[DesiredObject, ...]) -> str:
    """Of the files that the build reads, which is what Git can change, and of what their variables make of them."""
    files = tree.files()
    read = [(path, files[path].oid) for path in sorted(node.files) if path in files]
    said = json.dumps([read, [each.value for each in objects]], sort_keys=True, default=str)
    return hashlib.sha256(said.encode()).hexdigest()
