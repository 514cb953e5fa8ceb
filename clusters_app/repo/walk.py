"""Everything that one cluster reaches from its sync path: Flux Kustomization by Flux Kustomization, file by file."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from clusters_app.repo.build import (
    ARGO_GROUP,
    HELM_GROUP,
    KUSTOMIZE_GROUP,
    LEADING_GROUPS,
    OPERATOR_GROUP,
    SOURCE_GROUP,
    TERRAFORM_GROUP,
    Build,
    Builder,
    BuiltObject,
    in_namespace,
    patched,
)
from clusters_app.repo.documents import Value, mapping, sequence, text
from clusters_app.repo.kustomize import resolve
from clusters_app.repo.patches import inline_patch
from clusters_app.repo.resourcesets import expanded
from clusters_app.repo.sources import SourceKey, is_same_repository, same_url, source_key
from clusters_app.repo.substitution import has_variable, substituted

_REASONS = {
    "kustomize.helm": "needs Helm inside of kustomize, which Flux does not run",
    "reference.cycle": "leads back to where it comes from",
    "reference.left-out": "is kept out of the artifact by .sourceignore",
    "reference.link": "is a symbolic link, which Flux does not fetch",
    "reference.missing": "is not there",
    "reference.outside": "is outside of this repository",
    "reference.remote": "is fetched from elsewhere",
    "reference.too-deep": "is too deep",
}

_MAX_KUSTOMIZATIONS = 5_000
_MAX_PASSES = 4


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something that Git alone does not tell: `what` it is, `why` not; `file` and `line` say where it is written."""

    what: str
    why: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class FluxKustomizationNode:
    """A Flux Kustomization as a cluster has it: after the patches, namespaces and variables of its parents.

    `path` is a directory of this tree, None when the source is another repository or the path is not there. `files`
    are those that its build reads. `implied` objects exist in the cluster alone (what a FluxInstance makes).
    """

    cluster: str
    namespace: str
    name: str
    path: str | None
    source: str
    depends_on: tuple[str, ...]
    file: str
    document: int
    line: int
    spec: Value
    files: frozenset[str]
    parent: str | None = None
    implied: bool = False
    outside: bool = False

    @property
    def ref(self) -> str:
        return f"Kustomization/{self.namespace}/{self.name}"


@dataclass(frozen=True)
class Root:
    """Where a cluster starts: its root Kustomization, written down, implied or only given."""

    path: str
    evidence: str
    source: SourceKey
    namespace: str = "flux-system"
    name: str = "flux-system"
    file: str = ""
    document: int = 0
    line: int = 0
    spec: Value = field(default_factory=dict)
    cluster: str = ""
    environment: str = ""

    @property
    def is_implied(self) -> bool:
        return not self.spec

    @property
    def identity(self) -> tuple[str, str]:
        return self.namespace, self.name


@dataclass(frozen=True)
class Walked:
    """What a root leads to. `builds`: what each Kustomization brings, by its ref; `variables`: all that are used."""

    root: Root
    kustomizations: tuple[FluxKustomizationNode, ...]
    files: frozenset[str]
    builds: Mapping[str, Build]
    unknown: tuple[Unknown, ...]
    sources: Mapping[SourceKey, Value]
    variables: Mapping[str, str]


@dataclass(slots=True)
class _Known:
    """What the objects of a cluster say about each other, whatever the order in which they are found."""

    sources: dict[SourceKey, Value] = field(default_factory=dict)
    settings: dict[tuple[str, str, str], Mapping[str, str]] = field(default_factory=dict)

    def says_no_more_than(self, other: "_Known") -> bool:
        return self.sources.keys() <= other.sources.keys() and self.settings.keys() <= other.settings.keys()


def walk(builder: Builder, root: Root, home_urls: tuple[str, ...] = ()) -> Walked:
    """Follow a root. Sources and variables may stand anywhere, so passes repeat until no new ones turn up."""
    known = _Known()
    for _ in range(_MAX_PASSES):
        one_pass = _Pass(builder, root, home_urls, known)
        walked = one_pass.run()
        if not one_pass.missed or one_pass.found.says_no_more_than(known):
            break
        known = one_pass.found
    return walked


class _Pass:
    def __init__(self, builder: Builder, root: Root, home_urls: tuple[str, ...], known: _Known) -> None:
        self.builder = builder
        self.root = root
        self.home_urls = home_urls
        self.known = known
        self.found = _Known()
        self.missed = False
        self.nodes: dict[str, FluxKustomizationNode] = {}
        self.builds: dict[str, Build] = {}
        self.files: set[str] = set()
        self.unknown: dict[Unknown, None] = {}
        self.variables: dict[str, str] = {}
        self.pending: deque[FluxKustomizationNode] = deque()

    def run(self) -> Walked:
        self._meet(self._root_node())
        while self.pending and len(self.nodes) < _MAX_KUSTOMIZATIONS:
            self._enter(self.pending.popleft())
        return Walked(
            self.root,
            tuple(self.nodes.values()),
            frozenset(self.files),
            self.builds,
            tuple(self.unknown),
            self.found.sources,
            self.variables,
        )

    def _root_node(self) -> FluxKustomizationNode:
        root = self.root
        spec = root.spec or {
            "path": f"./{root.path}",
            "sourceRef": {"kind": root.source.kind, "name": root.source.name},
        }
        return self._node(
            spec, root.namespace, root.name, BuiltObject.of({}, root.file, root.document, root.line), None
        )

    def _node(
        self, spec: Value, namespace: str, name: str, where: BuiltObject, parent: str | None
    ) -> FluxKustomizationNode:
        key = source_key(mapping(spec, "sourceRef"), namespace)
        depends_on = tuple(
            f"Kustomization/{text(item, 'namespace') or namespace}/{text(item, 'name')}"
            for item in sequence(spec, "dependsOn")
        )
        return FluxKustomizationNode(
            cluster=self.root.cluster,
            namespace=namespace,
            name=name,
            path=None,
            source=str(key),
            depends_on=depends_on,
            file=where.file,
            document=where.document,
            line=where.line,
            spec=spec,
            files=frozenset(),
            parent=parent,
            implied=parent is None and self.root.is_implied,
        )

    def _meet(self, node: FluxKustomizationNode) -> None:
        if node.ref not in self.nodes:
            self.nodes[node.ref] = node
            self.pending.append(node)

    def _enter(self, node: FluxKustomizationNode) -> None:
        key = source_key(mapping(node.spec, "sourceRef"), node.namespace)
        home = self._is_home(key)
        if home is not True:
            self.nodes[node.ref] = replace(node, outside=True)
            why = "its source is outside this repository" if home is False else f"its source {key} is not in Git"
            self._say(Unknown(node.ref, why, node.file, node.line))
            return
        path = self._directory(node)
        if path is None:
            return
        components = [resolve(path, item) for item in sequence(node.spec, "components") if isinstance(item, str)]
        build = self.builder.build_with(path, [item for item in components if item is not None])
        self.nodes[node.ref] = replace(node, path=path, files=build.files)
        self.builds[node.ref] = build
        self.files |= build.files
        for problem in build.problems:
            why = _REASONS.get(problem.code, f"cannot be read ({problem.code})")
            self._say(Unknown(problem.what, why, problem.file, problem.line))
        self._follow_objects(node, build)

    def _directory(self, node: FluxKustomizationNode) -> str | None:
        written = text(node.spec, "path") or "./"
        path = resolve("", written.lstrip("/"))
        if path is not None and path in self.builder.directories:
            return path
        why = (
            "its path has a variable that is not in Git"
            if has_variable(written)
            else f"its path {written} is not there"
        )
        self._say(Unknown(node.ref, why, node.file, node.line))
        return None

    def _follow_objects(self, node: FluxKustomizationNode, build: Build) -> None:
        for each in self._applied(node, build.leading):
            self._remember(each)
            if each.group == KUSTOMIZE_GROUP and each.kind == "Kustomization":
                namespace = each.namespace or "default"
                self._meet(self._node(mapping(each.value, "spec"), namespace, each.name, each, node.ref))
            else:
                self._leaf(each)

    def _applied(self, node: FluxKustomizationNode, objects: tuple[BuiltObject, ...]) -> Iterator[BuiltObject]:
        """The objects that lead somewhere, as this Kustomization applies them."""
        patches = [patch for item in sequence(node.spec, "patches") for patch in inline_patch(item)]
        changed = patched(objects, patches)
        if namespace := text(node.spec, "targetNamespace"):
            changed = in_namespace(changed, namespace)
        variables = self._variables(node)
        for each in changed:
            applied = each
            if variables and each.group in LEADING_GROUPS:
                value = substituted(dict(each.value), variables)
                applied = each.with_value(value) if isinstance(value, dict) else each
            if applied.kind == "ResourceSet" and applied.group == OPERATOR_GROUP:
                yield from self._expanded(applied)
            yield applied

    def _expanded(self, resource_set: BuiltObject) -> Iterator[BuiltObject]:
        values, why = expanded(resource_set.value)
        for value in values:
            yield resource_set.with_value(value)
        if why:
            what = f"ResourceSet/{resource_set.namespace}/{resource_set.name}"
            self._say(Unknown(what, why, resource_set.file, resource_set.line))

    def _variables(self, node: FluxKustomizationNode) -> dict[str, str]:
        variables: dict[str, str] = {}
        for item in sequence(node.spec, "postBuild", "substituteFrom"):
            key = (text(item, "kind"), node.namespace, text(item, "name"))
            found = self.found.settings.get(key) or self.known.settings.get(key)
            self.missed |= found is None
            variables.update(found or {})
        inline = mapping(node.spec, "postBuild", "substitute")
        variables.update({key: str(value) for key, value in inline.items() if isinstance(value, (str, int, float))})
        self.variables.update(variables)
        return variables

    def _remember(self, each: BuiltObject) -> None:
        namespace = each.namespace or "default"
        if each.group == SOURCE_GROUP:
            self.found.sources.setdefault(SourceKey(each.kind, namespace, each.name), each.value)
        elif each.kind == "ConfigMap":
            data = {key: value for key, value in mapping(each.value, "data").items() if isinstance(value, str)}
            self.found.settings.setdefault((each.kind, namespace, each.name), data)

    def _is_home(self, key: SourceKey) -> bool | None:
        """Whether a source is this repository; None when Git does not say what it is."""
        if key == self.root.source:
            return True
        source, root_source = self._source(key), self._source(self.root.source)
        if source is None:
            return None
        return is_same_repository(source, root_source or {}) or any(
            same_url(text(source, "spec", "url"), url) for url in self.home_urls
        )

    def _source(self, key: SourceKey) -> Value | None:
        found = self.found.sources.get(key) or self.known.sources.get(key)
        self.missed |= found is None
        return found

    def _leaf(self, each: BuiltObject) -> None:
        """Objects that read further files of a repository without being a Kustomization."""
        namespace = each.namespace or "default"
        if each.group == HELM_GROUP and each.kind == "HelmRelease":
            chart = mapping(each.value, "spec", "chart", "spec")
            key = source_key(mapping(chart, "sourceRef"), namespace)
            self._look_into_chart(each, self._read_below(each, key, text(chart, "chart")))
            for item in sequence(chart, "valuesFiles"):
                self._read_below(each, key, str(item))
        elif each.group == TERRAFORM_GROUP and each.kind == "Terraform":
            key = source_key(mapping(each.value, "spec", "sourceRef"), namespace)
            self._read_below(each, key, text(each.value, "spec", "path") or "./")
        elif each.group == ARGO_GROUP and each.kind == "Application":
            self._argo(each)

    def _look_into_chart(self, each: BuiltObject, files: list[str]) -> None:
        templates = [file for file in files if "/templates/" in file]
        if any(b".toolkit.fluxcd.io/" in self.builder.content(file) for file in templates):
            why = "its chart brings Flux objects: known only after a template"
            self._say(Unknown(f"{each.kind}/{each.namespace}/{each.name}", why, each.file, each.line))

    def _read_below(self, each: BuiltObject, key: SourceKey, written: str) -> list[str]:
        """The files at a path of a source, when that is this repository; they count as reached."""
        if not self._is_home(key):
            return []
        path = resolve("", written.lstrip("/"))
        files = self.builder.files_below(path) if path is not None else []
        if not files:
            self._say(
                Unknown(f"{each.kind}/{each.namespace}/{each.name}", f"{written} is not there", each.file, each.line)
            )
        self.files.update(files)
        return files

    def _argo(self, each: BuiltObject) -> None:
        home = text(self._source(self.root.source), "spec", "url")
        source = mapping(each.value, "spec", "source")
        if same_url(text(source, "repoURL"), home):
            path = resolve("", text(source, "path"))
            self.files.update(self.builder.files_below(path) if path else [])
        else:
            why = "an Argo CD application of another repository"
            self._say(Unknown(f"Application/{each.namespace}/{each.name}", why, each.file, each.line))

    def _say(self, unknown: Unknown) -> None:
        self.unknown[unknown] = None
