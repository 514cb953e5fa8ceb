"""The clusters that follow a repository, when nobody names them.

In order of evidence: a FluxInstance with a sync path, a Kustomization that applies its own file (what bootstrap
writes), and directories of Kustomizations that nothing in the repository includes.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from clusters_app.repo.build import KUSTOMIZE_GROUP, OPERATOR_GROUP, Builder
from clusters_app.repo.documents import Document, Value, documents, mapping, text
from clusters_app.repo.kustomize import KUSTOMIZATION_NAMES, Fate, resolve
from clusters_app.repo.sources import SourceKey, source_key
from clusters_app.repo.walk import Root, Walked, walk

_GROUPS = (KUSTOMIZE_GROUP.encode(), OPERATOR_GROUP.encode())
HOME = SourceKey("GitRepository", "flux-system", "flux-system")


@dataclass(frozen=True, slots=True)
class Declared:
    """A Flux Kustomization as a file declares it, with the directory that it follows (None: not in this tree)."""

    file: str
    document: int
    line: int
    namespace: str
    name: str
    source: SourceKey
    path: str | None
    spec: Value

    @property
    def identity(self) -> tuple[str, str]:
        return self.namespace, self.name

    def as_root(self, path: str) -> Root:
        return Root(
            path,
            f"{self.file}:{self.line} applies itself",
            self.source,
            self.namespace,
            self.name,
            self.file,
            self.document,
            self.line,
            self.spec,
        )


def find_clusters(builder: Builder, home_urls: tuple[str, ...] = ()) -> list[Walked]:
    """A walk for each cluster that the repository shows, in the order of their paths."""
    declared, instances = _scan(builder)
    found = _Found(builder, home_urls)
    for instance in instances:
        found.add(instance)
    followed = {each.source for each in declared if each.path}
    for each in sorted(declared, key=lambda each: ((each.path or "").count("/"), each.path or "", each.file)):
        if _applies_itself(builder, each, followed) and not found.contains(each):
            found.add(each.as_root(each.path or ""))
    _add_what_nothing_includes(builder, found, [each for each in declared if not found.reaches(each.file)])
    return sorted(found.walks, key=lambda walked: walked.root.path)


def _applies_itself(builder: Builder, each: Declared, followed: set[SourceKey]) -> bool:
    if each.path is None:
        return False
    if each.file == f"{each.path}/flux-system/gotk-sync.yaml".lstrip("/"):
        return True  # Bootstrap put it there and applied it, also where the root kustomization leaves it out.
    if each.file not in builder.build(each.path).files:
        return False
    # `path: ./` fits every repository: it is this one if others follow its source too, or nothing else is followed.
    return bool(each.path) or each.source in followed or (not followed and each.source.kind == "GitRepository")


class _Found:
    """Clusters found so far, and who reaches which file."""

    def __init__(self, builder: Builder, home_urls: tuple[str, ...]) -> None:
        self.builder = builder
        self.home_urls = home_urls
        self.walks: list[Walked] = []
        self._reaching: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self._paths: set[str] = set()

    def add(self, root: Root) -> None:
        if root.path not in self._paths:
            self.keep(walk(self.builder, root, self.home_urls))

    def keep(self, walked: Walked) -> None:
        self._paths.add(walked.root.path)
        self.walks.append(walked)
        for file in walked.files:
            self._reaching[file].add(walked.root.identity)

    def contains(self, declared: Declared) -> bool:
        """Whether it is part of a cluster found before. Two of one name cannot be: then one is nested in the other."""
        return any(identity != declared.identity for identity in self._reaching.get(declared.file, ()))

    def reaches(self, file: str) -> bool:
        return file in self._reaching


def _scan(builder: Builder) -> tuple[list[Declared], list[Root]]:
    declared: list[Declared] = []
    instances: list[Root] = []
    charts = [path.rpartition("/")[0] + "/" for path in builder.tree.files() if path.endswith("/Chart.yaml")]
    for path in builder.tree.files():
        # The templates of a chart are not manifests, however much they look like them.
        if _may_declare(builder, path) and not any(path.startswith(chart) for chart in charts):
            for document in documents(builder.tree, path).documents:
                if document.group == KUSTOMIZE_GROUP and document.kind == "Kustomization":
                    declared.append(_declared(builder, path, document))
                elif document.group == OPERATOR_GROUP and document.kind == "FluxInstance":
                    instances.extend(_instance(builder, path, document))
    return declared, instances


def _may_declare(builder: Builder, path: str) -> bool:
    entry = builder.tree.files()[path]
    if not path.endswith((".yaml", ".yml", ".json")) or not entry.is_file or builder.left_out(path):
        return False
    data = builder.content(path)
    return any(group in data for group in _GROUPS)


def _declared(builder: Builder, path: str, document: Document) -> Declared:
    namespace = document.namespace or "flux-system"
    spec = mapping(document.value, "spec")
    directory = resolve("", (text(spec, "path") or "./").lstrip("/"))
    return Declared(
        path,
        document.index,
        document.line,
        namespace,
        document.name,
        source_key(mapping(spec, "sourceRef"), namespace),
        directory if directory is not None and directory in builder.directories else None,
        spec,
    )


def _instance(builder: Builder, path: str, document: Document) -> Iterator[Root]:
    """The root that a FluxInstance implies: source and Kustomization are named after its namespace by default."""
    sync = mapping(document.value, "spec", "sync")
    directory = resolve("", text(sync, "path").lstrip("/"))
    if not sync or directory is None or directory not in builder.directories:
        return
    namespace = document.namespace or "flux-system"
    name = text(sync, "name") or namespace
    source = SourceKey(text(sync, "kind") or "GitRepository", namespace, name)
    evidence = f"{path}:{document.line} is a FluxInstance"
    yield Root(directory, evidence, source, namespace, name, path, document.index, document.line)


def _add_what_nothing_includes(builder: Builder, found: _Found, left: list[Declared]) -> None:
    tops = _tops(builder, {each.file for each in left})
    candidates = [
        walked
        for top in sorted(tops, key=lambda top: (top.count("/"), top))
        if (walked := _walk_directory(builder, top, found.home_urls)) is not None
    ]
    for walked in _outermost(candidates):
        found.keep(walked)


def _tops(builder: Builder, files: Iterable[str]) -> set[str]:
    """The directories from which the files are built, and which no other directory lists."""
    listing = _listing(builder)
    tops: set[str] = set()
    for file in files:
        seen: set[str] = set()
        open_ = list(listing.get(file, ())) or [file.rpartition("/")[0]]
        while open_:
            directory = open_.pop()
            if directory not in seen:
                seen.add(directory)
                above = listing.get(directory, set())
                open_ += above
                if not above:
                    tops.add(directory)
    return tops


def _listing(builder: Builder) -> dict[str, set[str]]:
    """For each file and directory the directories whose kustomization lists it."""
    listing: dict[str, set[str]] = defaultdict(set)
    for path in builder.tree.files():
        if path.rpartition("/")[2] in KUSTOMIZATION_NAMES:
            kustomization = builder.kustomization(path.rpartition("/")[0])
            for reference in kustomization.references if kustomization else ():
                if reference.fate in (Fate.FILE, Fate.DIRECTORY):
                    listing[reference.path].add(path.rpartition("/")[0])
    return listing


def _walk_directory(builder: Builder, directory: str, home_urls: tuple[str, ...]) -> Walked | None:
    build = builder.build(directory)
    inner = [each for each in build.objects if each.group == KUSTOMIZE_GROUP and each.kind == "Kustomization"]
    sources = Counter(
        source_key(mapping(each.value, "spec", "sourceRef"), each.namespace or "flux-system") for each in inner
    )
    if not sources:
        return None
    root = Root(
        directory, f"{directory or '.'} holds Kustomizations and nothing includes it", sources.most_common(1)[0][0]
    )
    walked = walk(builder, root, home_urls)
    follows = [each for each in walked.kustomizations if each.path and not each.implied]
    return walked if follows else None


def _outermost(candidates: list[Walked]) -> list[Walked]:
    """Without those that another one reaches, unless both declare the same name: then they are two clusters."""
    kept: list[Walked] = []
    for walked in candidates:
        own = {each.file for each in walked.kustomizations if not each.implied}
        names = {each.ref for each in walked.kustomizations if not each.implied}
        inside = any(own <= other.files and not _collides(other, own, names) for other in kept)
        if not inside:
            kept = [other for other in kept if not _is_inside(other, walked)]
            kept.append(walked)
    return kept


def _is_inside(inner: Walked, outer: Walked) -> bool:
    own = {each.file for each in inner.kustomizations if not each.implied}
    names = {each.ref for each in inner.kustomizations if not each.implied}
    return own <= outer.files and inner.files != outer.files and not _collides(outer, own, names)


def _collides(outer: Walked, own: set[str], names: set[str]) -> bool:
    return any(each.ref in names and each.file not in own for each in outer.kustomizations)


def given_cluster(builder: Builder, root: Root, home_urls: tuple[str, ...] = ()) -> Walked:
    """The walk of a cluster whose sync path is known, with its root Kustomization from the tree where that has it."""
    if root.path not in builder.directories:
        return walk(builder, root, home_urls)
    for each in builder.build(root.path).objects:
        if each.group == KUSTOMIZE_GROUP and each.kind == "Kustomization":
            namespace = each.namespace or "flux-system"
            spec = mapping(each.value, "spec")
            if resolve("", (text(spec, "path") or "./").lstrip("/")) == root.path:
                source = source_key(mapping(spec, "sourceRef"), namespace)
                found = replace(
                    root,
                    source=source,
                    namespace=namespace,
                    name=each.name,
                    file=each.file,
                    document=each.document,
                    line=each.line,
                    spec=spec,
                )
                return walk(builder, found, home_urls)
    return _given_directory(builder, root, home_urls)


def _given_directory(builder: Builder, root: Root, home_urls: tuple[str, ...]) -> Walked:
    sources = Counter(
        source_key(mapping(each.value, "spec", "sourceRef"), each.namespace or "flux-system")
        for each in builder.build(root.path).objects
        if each.group == KUSTOMIZE_GROUP and each.kind == "Kustomization"
    )
    source = sources.most_common(1)[0][0] if sources else root.source
    return walk(builder, replace(root, source=source), home_urls)
