"""The YAML and JSON documents of a file, parsed once for each content id.

A commit changes a few files of thousands, so what was parsed for one commit serves the next; the memory that this
takes is bounded by the bytes that were parsed.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from threading import Lock

from clusters_app import safe_yaml
from clusters_app.ingest import JsonValue
from clusters_app.repo.tree import Tree, TreeError, is_binary

Value = Mapping[str, JsonValue]

MANIFEST_SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True)
class Document:
    """One document of a file. `value` is empty where the document is not a mapping (a list, a text, nothing)."""

    index: int
    line: int
    root: safe_yaml.Node | None
    duplicates: tuple[safe_yaml.Duplicate, ...]

    @cached_property
    def value(self) -> Value:
        plain = None if self.root is None else safe_yaml.to_plain(self.root)
        return plain if isinstance(plain, dict) else {}

    @property
    def kind(self) -> str:
        return text(self.value, "kind")

    @property
    def api_version(self) -> str:
        return text(self.value, "apiVersion")

    @property
    def group(self) -> str:
        return group_of(self.value)

    @property
    def name(self) -> str:
        return text(self.value, "metadata", "name")

    @property
    def namespace(self) -> str:
        return text(self.value, "metadata", "namespace")

    @property
    def is_object(self) -> bool:
        """Whether it has what Kubernetes asks of every object."""
        return bool(self.kind and self.api_version)

    def line_of(self, *keys: str | int) -> int:
        """The line (from 1) of the value at a path; of the nearest ancestor that exists when there is none."""
        node, line = self.root, self.line
        for key in keys:
            node = _child(node, key)
            if node is None:
                return line
            line = node.place.line
        return line


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """`problem` is why the rest of the file could not be read; the documents before it are there all the same."""

    documents: tuple[Document, ...]
    problem: str | None = None
    problem_line: int | None = None


def _child(node: safe_yaml.Node | None, key: str | int) -> safe_yaml.Node | None:
    if isinstance(node, safe_yaml.Alias):
        node = node.target
    if isinstance(node, safe_yaml.Mapping) and isinstance(key, str):
        return node.get(key)
    if isinstance(node, safe_yaml.Sequence) and isinstance(key, int) and 0 <= key < len(node.items):
        return node.items[key]
    return None


class DocumentCache:
    """Parsed files by content id, least recently used first to go; thread-safe."""

    def __init__(self, max_bytes: int = 32 * 1024 * 1024) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._files: OrderedDict[str, tuple[int, ParsedFile]] = OrderedDict()
        self._lock = Lock()

    def parsed(self, tree: Tree, path: str) -> ParsedFile:
        """The documents of a file of the tree. Never raises for content: what cannot be read is its `problem`."""
        entry = tree.files().get(path)
        if entry is not None and entry.is_file and (known := self._known(entry.oid)) is not None:
            return known
        try:
            data = tree.read(path)
        except TreeError as error:
            return ParsedFile((), error.code)
        parsed = parse(data)
        self._keep(tree.files()[path].oid, len(data), parsed)
        return parsed

    def _known(self, oid: str) -> ParsedFile | None:
        with self._lock:
            if oid not in self._files:
                return None
            self._files.move_to_end(oid)
            return self._files[oid][1]

    def _keep(self, oid: str, size: int, parsed: ParsedFile) -> None:
        with self._lock:
            self._bytes += size - self._files.pop(oid, (0, parsed))[0]
            self._files[oid] = (size, parsed)
            while self._bytes > self._max_bytes and len(self._files) > 1:
                self._bytes -= self._files.popitem(last=False)[1][0]


def parse(data: bytes) -> ParsedFile:
    """The documents of a text; binary content has none and is no problem."""
    if is_binary(data):
        return ParsedFile((), "binary")
    parsed = safe_yaml.load_repository(data)
    documents = tuple(Document(d.index, d.line, d.root, d.duplicates) for d in parsed.documents)
    if parsed.problem is None:
        return ParsedFile(documents)
    return ParsedFile(documents, parsed.problem.code, parsed.problem.line)


_CACHE = DocumentCache()


def documents(tree: Tree, path: str) -> ParsedFile:
    """The documents of a file, from the process's own cache."""
    return _CACHE.parsed(tree, path)


def text(value: object, *keys: str) -> str:
    """The text at a path of keys, empty where there is none: `text(object, "metadata", "name")`."""
    found = at(value, *keys)
    return found if isinstance(found, str) else ""


def at(value: object, *keys: str) -> object:
    """What stands at a path of keys, None where nothing does."""
    for key in keys:
        if not isinstance(value, dict):  # Not Mapping: this is asked half a million times for a big fleet.
            return None
        value = value.get(key)
    return value


def mapping(value: object, *keys: str) -> Value:
    found = at(value, *keys)
    return found if isinstance(found, dict) else {}


def sequence(value: object, *keys: str) -> list[JsonValue]:
    found = at(value, *keys)
    return found if isinstance(found, list) else []


def group_of(value: Value) -> str:
    """The API group of an object, empty for the core group."""
    return text(value, "apiVersion").rpartition("/")[0]
