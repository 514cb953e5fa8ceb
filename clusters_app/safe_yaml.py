"""YAML from outside, in two profiles: strict for what comes over the network, tolerant for what stands in a repository.

Both read events from PyYAML's C parser and build plain nodes with their places. Nothing is constructed by tag, no
alias is expanded; size, depth, number of nodes and time are bounded. No other file may call PyYAML's loaders.
"""

import time
from collections.abc import Iterator
from typing import Protocol

import msgspec
import yaml

from clusters_app.ingest import IngestError, JsonValue
from clusters_app.yaml_nodes import (
    Alias,
    Document,
    Duplicate,
    Mapping,
    Node,
    Parsed,
    Place,
    Scalar,
    Sequence,
    key_text,
    to_plain,
)

__all__ = [
    "Alias",
    "Document",
    "Duplicate",
    "Mapping",
    "Node",
    "Parsed",
    "Place",
    "Scalar",
    "Sequence",
    "events",
    "load_network",
    "load_repository",
    "to_plain",
]

NETWORK_BYTES = 256 * 1024
NETWORK_EVENTS = 40_000
REPOSITORY_BYTES = 4 * 1024 * 1024
REPOSITORY_EVENTS = 500_000
REPOSITORY_SECONDS = 10.0
SECOND_LOOK_CHARACTERS = 256 * 1024
MAX_DEPTH = 50
REPOSITORY_DEPTH = 100


type _Loader = type[yaml.SafeLoader | yaml.CSafeLoader]


class _Limits(msgspec.Struct, frozen=True):
    max_bytes: int
    events: int
    depth: int
    seconds: float
    strict: bool


_NETWORK = _Limits(NETWORK_BYTES, NETWORK_EVENTS, MAX_DEPTH, seconds=5.0, strict=True)
_REPOSITORY = _Limits(REPOSITORY_BYTES, REPOSITORY_EVENTS, REPOSITORY_DEPTH, REPOSITORY_SECONDS, strict=False)


def load_network(data: bytes | str) -> JsonValue:
    """The value of one small document (a kubeconfig, a field); None when it is empty.

    Raises `IngestError` with its line for anchors, aliases, merge keys, tags, duplicate and complex keys, NUL, a second
    document, and whatever is too large, too deep, or no YAML. Typing as `to_plain`.
    """
    encoded = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    documents = list(_documents(_text(encoded, _NETWORK), _NETWORK, yaml.CSafeLoader))
    if len(documents) > 1:
        raise _error("yaml.several-documents", "only one document is allowed here", documents[1].line)
    return to_plain(documents[0].root) if documents else None


def load_repository(data: bytes) -> Parsed:
    """The documents of a file in a repository; never raises for what stands in it.

    Anchors, aliases, merge keys and tags are read and not acted upon; duplicate keys are listed. What is no YAML, like
    a Helm template, has a `problem` and keeps the documents before it. Cost: four microseconds for each node.
    """
    try:
        text = _text(data, _REPOSITORY)
    except IngestError as problem:
        return Parsed("", (), problem)
    parsed = _parsed(text, yaml.CSafeLoader)
    if _is_worth_a_second_look(parsed.problem, text):
        second = _parsed(text, yaml.SafeLoader)
        return second if second.problem is None else parsed
    return parsed


def _parsed(text: str, loader: _Loader) -> Parsed:
    documents: list[Document] = []
    try:
        documents.extend(_documents(text, _REPOSITORY, loader))
    except IngestError as problem:
        return Parsed(text, tuple(documents), problem)
    return Parsed(text, tuple(documents), None)


def _is_worth_a_second_look(problem: IngestError | None, text: str) -> bool:
    """The C parser refuses a block scalar that begins with a tab, which is good YAML and common in generated texts.

    The parser in Python reads it, at a hundredth of the speed: for small files only.
    """
    return problem is not None and problem.code == "yaml.tab" and len(text) <= SECOND_LOOK_CHARACTERS


# Reading


def _error(code: str, text: str, line: int) -> IngestError:
    return IngestError(code, f"line {line}: {text}", line)


def _text(data: bytes, limits: _Limits) -> str:
    if len(data) > limits.max_bytes:
        raise IngestError("yaml.too-large", f"this file is larger than {limits.max_bytes} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _error("yaml.not-utf8", "this is not in UTF-8", line) from None


_BOM = "\ufeff"


def _documents(text: str, limits: _Limits, loader: _Loader) -> Iterator[Document]:
    # The C parser counts a byte order mark as no character and the rest of the world as one.
    offset = 1 if text.startswith(_BOM) else 0
    composer = _Composer(offset, limits)
    for event in _events(text[offset:], limits, loader):
        document = composer.take(event)
        if document is not None:
            yield document


def events(text: str) -> list[yaml.Event]:
    """PyYAML's own events of a repository's text, for who must see more than nodes show; within the same limits.

    A byte order mark must be cut off before: the C parser's marks do not count it. Raises `IngestError`.
    """
    try:
        return list(_events(text, _REPOSITORY, yaml.CSafeLoader))
    except IngestError as problem:
        if not _is_worth_a_second_look(problem, text):
            raise
    return list(_events(text, _REPOSITORY, yaml.SafeLoader))


def _events(text: str, limits: _Limits, loader: _Loader) -> Iterator[yaml.Event]:
    ends_at = time.monotonic() + limits.seconds
    try:
        for count, event in enumerate(yaml.parse(text, Loader=loader)):
            if count > limits.events:
                raise _error("yaml.too-many-nodes", f"there are more than {limits.events} values", _line(event))
            if count % 256 == 0 and time.monotonic() > ends_at:
                raise _error("yaml.too-slow", f"reading took longer than {limits.seconds:g} s", _line(event))
            yield event
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(text, error.problem_mark) from None
    except yaml.YAMLError as error:
        position = getattr(error, "position", 0)
        raise _error("yaml.not-yaml", "this is not YAML", text.count("\n", 0, position) + 1) from None


class _Mark(Protocol):
    """PyYAML has one class of this shape in Python and one in C."""

    index: int
    line: int
    column: int


def _not_yaml(text: str, mark: _Mark | None) -> IngestError:
    line = mark.line + 1 if mark is not None else 1
    if mark is not None and text[mark.index : mark.index + 1] == "\t":
        return _error("yaml.tab", "a tab stands where YAML wants spaces", line)
    return _error("yaml.not-yaml", "this is not YAML", line)


class _Open:
    """A collection whose end has not come yet."""

    def __init__(self, event: yaml.CollectionStartEvent) -> None:
        self.event = event
        self.nodes: list[Node] = []


class _Composer:
    """Builds the nodes of one document after another from events, on a stack of its own and not that of calls."""

    def __init__(self, offset: int, limits: _Limits) -> None:
        self._offset = offset
        self._limits = limits
        self._index = -1
        self._begin(1)

    def _begin(self, line: int) -> None:
        self._line = line
        self._stack: list[_Open] = []
        self._root: Node | None = None
        self._anchors: dict[str, Scalar | Sequence | Mapping | None] = {}
        self._duplicates: list[Duplicate] = []

    def take(self, event: yaml.Event) -> Document | None:
        """One event; a document when this was its end."""
        if isinstance(event, yaml.ScalarEvent):  # the most frequent ones first
            self._add(self._scalar(event))
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close(event)
        elif isinstance(event, yaml.AliasEvent):
            self._add(self._alias(event))
        elif isinstance(event, yaml.DocumentStartEvent):
            self._begin(_line(event))
            self._refuse_directives(event)
        elif isinstance(event, yaml.DocumentEndEvent):
            return self._finish()
        return None

    def _finish(self) -> Document:
        self._index += 1
        root = self._root
        is_empty = isinstance(root, Scalar) and root.text == "" and root.place.start == root.place.end
        line = self._line if root is None or is_empty else root.place.line
        return Document(self._index, line, None if is_empty else root, tuple(self._duplicates))

    def _scalar(self, event: yaml.ScalarEvent) -> Scalar:
        self._refuse_properties(event)
        if self._limits.strict and "\0" in event.value:
            raise _error("yaml.control-character", "there is a NUL character in a value", _line(event))
        node = Scalar(event.value, event.style or "", self._place(event, event), event.tag, event.anchor)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _alias(self, event: yaml.AliasEvent) -> Alias:
        if self._limits.strict:
            raise _error("yaml.alias", "anchors and aliases are not allowed here", _line(event))
        if event.anchor not in self._anchors:
            raise _error("yaml.unknown-alias", "an alias names an anchor that does not exist", _line(event))
        return Alias(event.anchor, self._anchors[event.anchor], self._place(event, event))

    def _open(self, event: yaml.CollectionStartEvent) -> None:
        self._refuse_properties(event)
        if len(self._stack) >= self._limits.depth:
            raise _error("yaml.too-deep", f"this is nested deeper than {self._limits.depth} levels", _line(event))
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._stack.append(_Open(event))

    def _close(self, event: yaml.CollectionEndEvent) -> None:
        collection = self._stack.pop()
        start, nodes = collection.event, collection.nodes
        place = self._place(start, event)
        flow = bool(start.flow_style)
        node: Sequence | Mapping
        if isinstance(start, yaml.SequenceStartEvent):
            node = Sequence(tuple(nodes), flow, place, start.tag, start.anchor)
        else:
            pairs = tuple(zip(nodes[::2], nodes[1::2], strict=True))
            self._judge_keys(pairs)
            node = Mapping(pairs, flow, place, start.tag, start.anchor)
        if start.anchor is not None:
            self._anchors[start.anchor] = node
        self._add(node)

    def _add(self, node: Node) -> None:
        if self._stack:
            self._stack[-1].nodes.append(node)
        else:
            self._root = node

    def _judge_keys(self, pairs: tuple[tuple[Node, Node], ...]) -> None:
        seen: dict[str, int] = {}
        for node, _ in pairs:
            key, line = key_text(node), node.place.line
            if self._limits.strict:
                _refuse_key(node, key, seen)
            if key is None:
                continue
            if key in seen:
                self._duplicates.append(Duplicate(key, seen[key], line))
            seen.setdefault(key, line)

    def _refuse_properties(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        if self._limits.strict and event.anchor is not None:
            raise _error("yaml.alias", "anchors and aliases are not allowed here", _line(event))
        if self._limits.strict and event.tag is not None:
            raise _error("yaml.tag", "tags are not allowed here", _line(event))

    def _refuse_directives(self, event: yaml.DocumentStartEvent) -> None:
        if self._limits.strict and (event.version or event.tags):
            raise _error("yaml.tag", "directives are not allowed here", _line(event))

    def _place(self, first: yaml.Event, last: yaml.Event) -> Place:
        start, end, offset = _mark(first.start_mark), _mark(last.end_mark), self._offset
        return Place(start.index + offset, end.index + offset, start.line + 1, start.column, end.line + 1)


def _mark(mark: _Mark | None) -> _Mark:
    assert mark is not None  # only events that a program makes have none
    return mark


def _line(event: yaml.Event) -> int:
    return _mark(event.start_mark).line + 1


def _refuse_key(node: Node, key: str | None, seen: dict[str, int]) -> None:
    line = node.place.line
    if key is None:
        raise _error("yaml.complex-key", "a key must be plain text", line)
    if key == "<<" and isinstance(node, Scalar) and node.style == "":
        raise _error("yaml.alias", "merge keys are not allowed here", line)
    if key in seen:
        raise _error("yaml.duplicate-key", f"this key is already there in line {seen[key]}", line)
