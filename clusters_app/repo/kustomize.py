"""What one kustomization directory refers to: the edges of the graph, without rendering anything.

Fields and their meaning: https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/. Flux builds without
load restrictions, so a reference may leave its directory; none may leave the repository.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from clusters_app.repo.documents import Document, Value, documents, sequence, text
from clusters_app.repo.tree import Tree

KUSTOMIZATION_NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")

# `github.com/org/repo//path?ref=v1`, `git@host:repo`, `https://…`: what kustomize would fetch over the network.
_REMOTE = re.compile(r"^[a-z][a-z0-9+.-]*://|^git@|^[\w-]+(\.[\w-]+)+(:\d+)?/.+|[?&](ref|version)=")


class Role(StrEnum):
    """How a kustomization uses what it names. RESOURCE and COMPONENT bring objects, the rest changes or feeds them."""

    RESOURCE = "resources"
    COMPONENT = "components"
    PATCH = "patches"
    CONTENT = "generator files"
    PLUGIN = "plugins"
    CONFIGURATION = "configurations"


class Fate(StrEnum):
    """Where a reference leads."""

    FILE = "file"
    DIRECTORY = "directory"
    REMOTE = "remote"
    OUTSIDE = "outside"
    MISSING = "missing"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Reference:
    """One thing that a kustomization names: `target` as written, `path` from the repository's root, `line` from 1."""

    role: Role
    target: str
    path: str
    fate: Fate
    line: int


@dataclass(frozen=True, slots=True)
class Kustomization:
    """A kustomization file: the directory's own, with every reference in it."""

    path: str
    directory: str
    document: Document
    references: tuple[Reference, ...]
    problem: str | None = None

    @property
    def value(self) -> Value:
        return self.document.value


class Directories:
    """The directories of a tree, and which of them hold a kustomization file. Built once for a tree: O(files)."""

    def __init__(self, tree: Tree) -> None:
        self.children: dict[str, list[str]] = {"": []}
        self.files: dict[str, list[str]] = {"": []}
        for path in tree.files():
            directory, _, _ = path.rpartition("/")
            self._add(directory)
            self.files[directory].append(path)

    def _add(self, directory: str) -> None:
        while directory not in self.files:
            self.files[directory] = []
            self.children.setdefault(directory, [])
            parent, _, _ = directory.rpartition("/")
            self.children.setdefault(parent, []).append(directory)
            directory = parent

    def __contains__(self, directory: object) -> bool:
        return directory in self.files

    def kustomization_files(self, directory: str) -> list[str]:
        """Kustomization files of a directory, in the order in which kustomize looks; more than one is an error."""
        prefix = f"{directory}/" if directory else ""
        there = set(self.files.get(directory, ()))
        return [prefix + name for name in KUSTOMIZATION_NAMES if prefix + name in there]


def resolve(directory: str, target: str) -> str | None:
    """A relative reference as a path from the repository's root (`""` = the root itself), None when it leaves it."""
    parts = [] if target.startswith("/") else [part for part in directory.split("/") if part]
    if target.startswith("/"):
        return None
    for part in target.split("/"):
        if part in ("", "."):
            continue
        if part != "..":
            parts.append(part)
        elif parts:
            parts.pop()
        else:
            return None
    return "/".join(parts)


def is_remote(target: str) -> bool:
    return bool(_REMOTE.search(target))


def read_kustomization(tree: Tree, directories: Directories, path: str) -> Kustomization:
    """The references of a kustomization file, in the order of its fields."""
    directory = path.rpartition("/")[0]
    parsed = documents(tree, path)
    if not parsed.documents:
        return Kustomization(path, directory, Document(0, 1, None, ()), (), parsed.problem or "empty")
    document = parsed.documents[0]
    found = tuple(
        _reference(tree, directories, directory, role, target, line) for role, target, line in _targets(document)
    )
    return Kustomization(path, directory, document, found, parsed.problem)


def _reference(tree: Tree, directories: Directories, directory: str, role: Role, target: str, line: int) -> Reference:
    path = resolve(directory, target)
    if path is None:
        return Reference(role, target, target, Fate.REMOTE if is_remote(target) else Fate.OUTSIDE, line)
    entry = tree.files().get(path)
    if entry is not None:
        return Reference(role, target, path, Fate.FILE if entry.is_file else Fate.LINK, line)
    if path in directories:
        return Reference(role, target, path, Fate.DIRECTORY, line)
    return Reference(role, target, path, Fate.REMOTE if is_remote(target) else Fate.MISSING, line)


def _targets(document: Document) -> Iterator[tuple[Role, str, int]]:
    """Every path that a kustomization names, with its line."""
    value = document.value
    for field, role in _PATH_LISTS.items():
        for index, item in enumerate(sequence(value, field)):
            if isinstance(item, str) and not _is_inline(item):
                yield role, item, document.line_of(field, index)
    for field in ("patches", "patchesJson6902", "replacements"):
        role = Role.CONFIGURATION if field == "replacements" else Role.PATCH
        for index, item in enumerate(sequence(value, field)):
            if path := text(item, "path"):
                yield role, path, document.line_of(field, index, "path")
    yield from _generator_files(document)
    if path := text(value, "openapi", "path"):
        yield Role.CONFIGURATION, path, document.line_of("openapi", "path")
    yield from _chart_values(document)


_PATH_LISTS = {
    "resources": Role.RESOURCE,
    "bases": Role.RESOURCE,
    "components": Role.COMPONENT,
    "crds": Role.CONFIGURATION,
    "patchesStrategicMerge": Role.PATCH,
    "configurations": Role.CONFIGURATION,
    "generators": Role.PLUGIN,
    "transformers": Role.PLUGIN,
    "validators": Role.PLUGIN,
}


def _is_inline(item: str) -> bool:
    """Some lists take a path or the text of an object."""
    return "\n" in item.strip() or ": " in item


def _generator_files(document: Document) -> Iterator[tuple[Role, str, int]]:
    for field in ("configMapGenerator", "secretGenerator"):
        for index, generator in enumerate(sequence(document.value, field)):
            for key in ("files", "envs"):
                for number, item in enumerate(sequence(generator, key)):
                    if isinstance(item, str):
                        yield Role.CONTENT, item.rpartition("=")[2], document.line_of(field, index, key, number)
            if env := text(generator, "env"):
                yield Role.CONTENT, env, document.line_of(field, index, "env")


def _chart_values(document: Document) -> Iterator[tuple[Role, str, int]]:
    for index, chart in enumerate(sequence(document.value, "helmCharts")):
        if path := text(chart, "valuesFile"):
            yield Role.CONTENT, path, document.line_of("helmCharts", index, "valuesFile")
        for number, item in enumerate(sequence(chart, "additionalValuesFiles")):
            if isinstance(item, str):
                yield Role.CONTENT, item, document.line_of("helmCharts", index, "additionalValuesFiles", number)


def uses_charts(value: Mapping[str, object]) -> bool:
    """Whether kustomize would have to run Helm, which Flux refuses."""
    return bool(sequence(value, "helmCharts") or sequence(value, "helmChartInflationGenerator"))
