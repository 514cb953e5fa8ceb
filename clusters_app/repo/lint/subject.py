"""What rules look at: a tree, its graph, and the builds from which the graph was made."""

from collections.abc import Iterator
from functools import cached_property

from clusters_app.repo.apps import is_bootstrap, is_bootstrap_file
from clusters_app.repo.build import Builder, BuiltObject
from clusters_app.repo.documents import MANIFEST_SUFFIXES, Document, at, documents, sequence, text
from clusters_app.repo.environments import canonical
from clusters_app.repo.graph import ClusterNode, FleetGraph, FluxKustomizationNode
from clusters_app.repo.kustomize import KUSTOMIZATION_NAMES, Kustomization
from clusters_app.repo.sourceignore import artifact_filter
from clusters_app.repo.tree import Mode, Tree


class Subject:
    """One commit, ready to be judged. Everything is computed once, at the first question."""

    def __init__(self, tree: Tree, graph: FleetGraph) -> None:
        self.tree = tree
        self.graph = graph

    @cached_property
    def builder(self) -> Builder:
        """Builds without `.sourceignore`, so that a file which that leaves out is not taken for a missing one."""
        return Builder(self.tree)

    @cached_property
    def artifact(self) -> Builder:
        """Builds of what Flux fetches."""
        return Builder(self.tree, left_out=artifact_filter(self.tree, None))

    @cached_property
    def kustomizations(self) -> tuple[FluxKustomizationNode, ...]:
        """Every Flux Kustomization that a file declares, once for all clusters, without those of bootstrap."""
        found: dict[tuple[str, int, str], FluxKustomizationNode] = {}
        for cluster in self.graph.clusters:
            for node in cluster.kustomizations:
                if self.is_ours(node):
                    found.setdefault((node.file, node.document, node.ref), node)
        return tuple(found.values())

    @cached_property
    def production(self) -> frozenset[str]:
        """The environments that are production: by name, else the last one where the order is certain."""
        environments = self.graph.environments
        named = frozenset(each.name for each in environments if canonical(each.name) == "prod")
        if named or not environments:
            return named
        return frozenset({environments[-1].name} if len(environments) > 1 and environments[-1].order_certain else ())

    def applied(self) -> Iterator[tuple[ClusterNode, FluxKustomizationNode, BuiltObject]]:
        """Every object that a Kustomization of this repository applies, as kustomize builds it; Flux's own left out."""
        for cluster in self.graph.clusters:
            for node in cluster.kustomizations:
                if node.path is not None:
                    for each in self.artifact.build(node.path).objects:
                        if not is_bootstrap(each):
                            yield cluster, node, each

    def line_in(self, each: BuiltObject, *keys: str) -> int:
        """The line of a field of an object in the file that it comes from; of the object where the file lacks it."""
        found = documents(self.tree, each.file).documents
        document = next((document for document in found if document.index == each.document), None)
        if document is None or at(document.value, *keys) is None:
            return each.line
        return document.line_of(*keys)

    def is_ours(self, node: FluxKustomizationNode) -> bool:
        """Whether people wrote it: not bootstrap, and not a FluxInstance in the cluster."""
        return not node.implied and not is_bootstrap_file(node.file)

    @cached_property
    def kustomization_files(self) -> tuple[Kustomization, ...]:
        """Every kustomization file of the artifact, outside of charts."""
        paths = [path for path in self.tree.files() if path.rpartition("/")[2] in KUSTOMIZATION_NAMES]
        directories = dict.fromkeys(path.rpartition("/")[0] for path in paths if not self.is_in_chart(path))
        found = (self.artifact.kustomization(directory) for directory in directories)
        return tuple(each for each in found if each is not None)

    @cached_property
    def included(self) -> tuple[str, ...]:
        """Directories that `spec.include` of a source fills from another repository."""
        items = [
            item
            for file in self.graph.files
            if file.endswith(MANIFEST_SUFFIXES)
            for document in documents(self.tree, file).documents
            if document.kind == "GitRepository"
            for item in sequence(document.value, "spec", "include")
        ]
        tops = [text(item, "toPath") or text(item, "repository", "name") for item in items]
        return tuple(top.strip("./") for top in tops if top)

    @cached_property
    def _charts(self) -> tuple[str, ...]:
        return tuple(path.removesuffix("Chart.yaml") for path in self.tree.files() if path.endswith("/Chart.yaml"))

    def is_in_chart(self, path: str) -> bool:
        """Whether a file is a chart's: a template or its values, not a manifest."""
        return path.startswith(self._charts)

    def is_foreign(self, path: str) -> bool:
        """Whether a path lies in a submodule: its files are in another repository."""
        return any(path == link or path.startswith(f"{link}/") for link in self._submodules)

    @cached_property
    def _submodules(self) -> tuple[str, ...]:
        return tuple(path for path, entry in self.tree.files().items() if entry.mode is Mode.SUBMODULE)

    def document(self, node: FluxKustomizationNode) -> Document | None:
        """The document in which a Kustomization is written."""
        found = documents(self.tree, node.file).documents
        return next((each for each in found if each.index == node.document), None)

    def line(self, node: FluxKustomizationNode, *keys: str) -> int:
        """The line of a field of a Kustomization; of the object where the field stands elsewhere or is missing."""
        document = self.document(node)
        if document is None or at(document.value, *keys) is None:
            return node.line
        return document.line_of(*keys)

    def roots(self) -> Iterator[tuple[ClusterNode, FluxKustomizationNode]]:
        """Each cluster with its root Kustomization."""
        for cluster in self.graph.clusters:
            yield cluster, cluster.kustomizations[0]
