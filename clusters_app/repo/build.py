"""What a directory brings to a cluster when kustomize builds it: the files that it reads and the objects that come out.

This is not a renderer. It follows references and applies just those changes that decide where the graph goes on:
namespaces, name prefixes, and patches of objects that point at further files. `render` gives the full text.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

from clusters_app.repo.documents import Document, Value, documents, group_of, mapping, sequence, text
from clusters_app.repo.kustomize import (
    Directories,
    Fate,
    Kustomization,
    Reference,
    Role,
    read_kustomization,
    uses_charts,
)
from clusters_app.repo.patches import Patch, apply_patch, read_patches
from clusters_app.repo.tree import Tree, TreeError

_MAX_DEPTH = 64
_MAX_OBJECTS = 50_000

KUSTOMIZE_GROUP = "kustomize.toolkit.fluxcd.io"
HELM_GROUP = "helm.toolkit.fluxcd.io"
SOURCE_GROUP = "source.toolkit.fluxcd.io"
OPERATOR_GROUP = "fluxcd.controlplane.io"
TERRAFORM_GROUP = "infra.contrib.fluxcd.io"
ARGO_GROUP = "argoproj.io"
LEADING_GROUPS = frozenset({KUSTOMIZE_GROUP, HELM_GROUP, SOURCE_GROUP, OPERATOR_GROUP, TERRAFORM_GROUP, ARGO_GROUP})
_CLUSTER_SCOPED = frozenset(
    {"Namespace", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "StorageClass", "PersistentVolume"}
)


@dataclass(frozen=True, slots=True)
class BuiltObject:
    """An object as the build yields it, and the document that it came from."""

    value: Value
    file: str
    document: int
    line: int
    kind: str
    group: str
    namespace: str
    name: str

    @classmethod
    def of(cls, value: Value, file: str, document: int, line: int) -> Self:
        metadata = mapping(value, "metadata")
        identity = text(value, "kind"), group_of(value), text(metadata, "namespace"), text(metadata, "name")
        return cls(value, file, document, line, *identity)

    def with_value(self, value: Value) -> Self:
        return self if value is self.value else self.of(value, self.file, self.document, self.line)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that the build cannot follow: `code`, the file and line that say it, what they say."""

    code: str
    file: str
    line: int
    what: str


@dataclass(frozen=True)
class Build:
    """The result for one directory. `listed`: the directories that it takes in directly, in order."""

    directory: str
    files: frozenset[str]
    objects: tuple[BuiltObject, ...]
    listed: tuple[str, ...]
    own_objects: tuple[BuiltObject, ...]
    generated: bool
    problems: tuple[Problem, ...]

    @cached_property
    def leading(self) -> tuple[BuiltObject, ...]:
        """The objects from which the graph goes on, and those that hold variables."""
        return tuple(
            each for each in self.objects if each.group in LEADING_GROUPS or each.kind in ("ConfigMap", "Secret")
        )


@dataclass(slots=True)
class _Layer:
    """What is collected while one directory is built."""

    directory: str
    files: set[str] = field(default_factory=set)
    objects: list[BuiltObject] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    own: list[BuiltObject] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    components: set[str] = field(default_factory=set)
    _known: set[tuple[object, ...]] = field(default_factory=set)

    def take_in(self, inner: Build) -> None:
        self.listed.append(inner.directory)
        self.files |= inner.files
        self.add(inner.objects)
        self.problems += inner.problems

    def add(self, objects: Iterable[BuiltObject]) -> None:
        """What comes twice by two ways is one object (kustomize refuses it); so a web of directories stays finite."""
        for each in objects:
            key = each.file, each.document, each.line, each.namespace, each.name
            if key not in self._known and len(self.objects) < _MAX_OBJECTS:
                self._known.add(key)
                self.objects.append(each)

    def frozen(self, *, generated: bool) -> Build:
        return Build(
            self.directory,
            frozenset(self.files),
            tuple(self.objects),
            tuple(self.listed),
            tuple(self.own),
            generated,
            tuple(dict.fromkeys(self.problems)),
        )


class Builder:
    """Builds the directories of one tree; each is built once, however many clusters use it."""

    def __init__(self, tree: Tree, *, left_out: Callable[[str], bool] = lambda _: False) -> None:
        self.tree = tree
        self.directories = Directories(tree)
        self.left_out = left_out
        self._builds: dict[str, Build] = {}
        self._kustomizations: dict[str, Kustomization] = {}
        self._open: list[str] = []

    def build(self, directory: str) -> Build:
        """The build of a directory that exists, explicit or generated as Flux would generate it."""
        known = self._builds.get(directory)
        if known is None:
            self._open.append(directory)
            known = self._built(directory)
            self._open.pop()
            self._builds[directory] = known
        return known

    def content(self, path: str) -> bytes:
        """The bytes of a file, none where it cannot be read."""
        try:
            return self.tree.read(path)
        except TreeError:
            return b""

    def build_with(self, directory: str, components: Iterable[str]) -> Build:
        """The build of a directory under further components, as `spec.components` of a Flux Kustomization asks."""
        paths = [path for path in components if path in self.directories]
        plain = self.build(directory)
        if not paths:
            return plain
        layer = _Layer(directory, set(plain.files), list(plain.objects), list(plain.listed), list(plain.own_objects))
        layer.problems += plain.problems
        for path in paths:
            self._component(path, layer)
        return layer.frozen(generated=plain.generated)

    def files_below(self, path: str) -> list[str]:
        """A file, or everything below a directory, that is part of the artifact; empty when there is nothing."""
        if path in self.tree.files():
            return [] if self.left_out(path) else [path]
        if path not in self.directories:
            return []
        own = [each for each in self.directories.files[path] if not self.left_out(each)]
        return own + [each for child in self.directories.children[path] for each in self.files_below(child)]

    def kustomization(self, directory: str) -> Kustomization | None:
        """The kustomization file of a directory, None where Flux would generate one."""
        paths = [path for path in self.directories.kustomization_files(directory) if not self.left_out(path)]
        if not paths:
            return None
        if paths[0] not in self._kustomizations:
            self._kustomizations[paths[0]] = read_kustomization(self.tree, self.directories, paths[0])
        return self._kustomizations[paths[0]]

    def _built(self, directory: str) -> Build:
        explicit = self.kustomization(directory)
        if explicit is None:
            return self._generated(directory)
        layer = _Layer(directory)
        self._compose(explicit, layer)
        return layer.frozen(generated=False)

    def _compose(self, kustomization: Kustomization, layer: _Layer) -> None:
        """Take in what a kustomization lists, then let it change all of it, as a component changes its parent."""
        layer.files.add(kustomization.path)
        if kustomization.problem:
            layer.problems.append(Problem(kustomization.problem, kustomization.path, 1, "kustomization file"))
        if uses_charts(kustomization.value):
            line = kustomization.document.line_of("helmCharts")
            layer.problems.append(Problem("kustomize.helm", kustomization.path, line, "helmCharts"))
        for reference in kustomization.references:
            self._follow(reference, kustomization, layer)
        layer.objects[:] = _changed(self.tree, kustomization, layer.objects)

    def _follow(self, reference: Reference, kustomization: Kustomization, layer: _Layer) -> None:
        if reference.fate is Fate.FILE:
            self._follow_file(reference, layer)
        elif reference.fate is Fate.DIRECTORY:
            self._follow_directory(reference, kustomization, layer)
        else:
            code = f"reference.{reference.fate}"
            layer.problems.append(Problem(code, kustomization.path, reference.line, reference.target))

    def _follow_file(self, reference: Reference, layer: _Layer) -> None:
        if self.left_out(reference.path):
            layer.problems.append(Problem("reference.left-out", reference.path, 1, reference.target))
            return
        layer.files.add(reference.path)
        if reference.role is Role.RESOURCE:
            own = list(self.objects_of(reference.path))
            layer.own += own
            layer.add(own)

    def _follow_directory(self, reference: Reference, kustomization: Kustomization, layer: _Layer) -> None:
        if reference.path in self._open or len(self._open) > _MAX_DEPTH:
            code = "reference.cycle" if reference.path in self._open else "reference.too-deep"
            layer.problems.append(Problem(code, kustomization.path, reference.line, reference.target))
        elif reference.role is Role.COMPONENT:
            self._component(reference.path, layer)
        elif reference.role in (Role.RESOURCE, Role.PLUGIN):
            inner = self.build(reference.path)
            layer.take_in(inner if reference.role is Role.RESOURCE else replace(inner, objects=()))

    def _component(self, directory: str, layer: _Layer) -> None:
        kustomization = self.kustomization(directory)
        if kustomization is not None and directory not in layer.components:
            layer.components.add(directory)
            self._open.append(directory)
            self._compose(kustomization, layer)
            self._open.pop()

    def _generated(self, directory: str) -> Build:
        """Flux takes in every YAML file below, and a directory with a kustomization file as one resource."""
        layer = _Layer(directory)
        self._scan(directory, layer)
        return layer.frozen(generated=True)

    def _scan(self, directory: str, layer: _Layer) -> None:
        for path in self.directories.files[directory]:
            if path.endswith((".yaml", ".yml")) and self.tree.files()[path].is_file and not self.left_out(path):
                layer.files.add(path)
                own = list(self.objects_of(path))
                layer.own += own
                layer.add(own)
        for child in self.directories.children[directory]:
            if self.kustomization(child) is None:
                self._scan(child, layer)
            elif child not in self._open and len(self._open) <= _MAX_DEPTH:
                layer.take_in(self.build(child))

    def objects_of(self, path: str) -> Iterator[BuiltObject]:
        """The Kubernetes objects of a file as written; a List gives its items."""
        for document in documents(self.tree, path).documents:
            yield from _objects_in(path, document)


def _objects_in(path: str, document: Document) -> Iterator[BuiltObject]:
    if not document.is_object:
        return
    if not document.kind.endswith("List") or "items" not in document.value:
        yield BuiltObject.of(document.value, path, document.index, document.line)
        return
    for number, item in enumerate(sequence(document.value, "items")):
        if isinstance(item, dict):
            yield BuiltObject.of(item, path, document.index, document.line_of("items", number))


def _changed(tree: Tree, kustomization: Kustomization, objects: Iterable[BuiltObject]) -> list[BuiltObject]:
    value = kustomization.value
    patches = list(read_patches(tree, kustomization))
    namespace = text(value, "namespace")
    prefix, suffix = text(value, "namePrefix"), text(value, "nameSuffix")
    changed = patched(objects, patches)
    if prefix or suffix:
        changed = [_renamed(each, prefix, suffix) for each in changed]
    labels, annotations = _common_labels(value), mapping(value, "commonAnnotations")
    if labels or annotations:
        changed = [_marked(each, labels, annotations) for each in changed]
    # kustomize sets the namespace after the patches, so a patch selects by the one that the file says.
    return in_namespace(changed, namespace) if namespace else changed


def patched(objects: Iterable[BuiltObject], patches: Iterable[Patch]) -> list[BuiltObject]:
    """The objects that remain after the patches, each with its changes."""
    remaining = list(objects)
    for patch in patches:
        results = [(each, apply_patch(patch, each.value)) for each in remaining]
        remaining = [each.with_value(value) for each, value in results if value is not None]
    return remaining


def in_namespace(objects: Iterable[BuiltObject], namespace: str) -> list[BuiltObject]:
    return [
        each
        if each.kind in _CLUSTER_SCOPED or each.namespace == namespace
        else _with_metadata(each, namespace=namespace)
        for each in objects
    ]


def _renamed(each: BuiltObject, prefix: str, suffix: str) -> BuiltObject:
    if each.kind in ("Namespace", "CustomResourceDefinition"):
        return each
    return _with_metadata(each, name=f"{prefix}{each.name}{suffix}")


def _common_labels(kustomization: Value) -> Value:
    pairs = [mapping(item, "pairs") for item in sequence(kustomization, "labels")]
    return {key: value for found in (mapping(kustomization, "commonLabels"), *pairs) for key, value in found.items()}


def _marked(each: BuiltObject, labels: Value, annotations: Value) -> BuiltObject:
    metadata = dict(mapping(each.value, "metadata"))
    if labels:
        metadata["labels"] = {**mapping(metadata, "labels"), **labels}
    if annotations:
        metadata["annotations"] = {**mapping(metadata, "annotations"), **annotations}
    return each.with_value({**each.value, "metadata": metadata})


def _with_metadata(each: BuiltObject, **changes: str) -> BuiltObject:
    metadata = {**mapping(each.value, "metadata"), **changes}
    return each.with_value({**each.value, "metadata": metadata})
