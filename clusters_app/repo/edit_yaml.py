"""YAML as nodes with exact places, from the events that `safe_yaml` gives.

A byte order mark is cut off before reading and counted afterwards: the parser's marks leave it out.
"""

import re
from collections.abc import Iterator

import yaml

from clusters_app import safe_yaml
from clusters_app.ingest import IngestError
from clusters_app.repo.edit_nodes import BOM, EditRefused, Event, Node, Stream

MAX_DEPTH = 100

_PROPERTY = re.compile(r"(?:[ \t\r\n]|#[^\n]*\n)*([&!][^\s,\[\]{}]*|!<[^>]*>)(?:[ \t\r\n]|(?<=\s)#[^\n]*\n)*")


def parse(text: str) -> Stream:
    """Refuses a text that is not YAML, naming the line."""
    body = text.removeprefix(BOM)
    try:
        events = safe_yaml.events(body)
        composer = _Composer(text, events, len(text) - len(body))
        documents = tuple(composer.documents())
    except (IngestError, RecursionError) as error:
        raise EditRefused("not-yaml", f"not YAML: {error}") from error
    return Stream(text, documents, tuple(map(_canonical, events)))


def _canonical(event: yaml.Event) -> Event:
    """An event without its place. A scalar keeps whether it is quoted: that decides how its text is typed."""
    name = type(event).__name__.removesuffix("Event")
    if isinstance(event, yaml.ScalarEvent):
        return (name, event.anchor, event.tag, bool(event.style), event.value)
    if isinstance(event, yaml.AliasEvent):
        return (name, event.anchor)
    if isinstance(event, yaml.CollectionStartEvent):
        return (name, event.anchor, event.tag)
    if isinstance(event, yaml.DocumentStartEvent | yaml.DocumentEndEvent):
        return (name, event.explicit)
    return (name,)


class _Composer:
    """Turns the events of one text into nodes. Anchors count from their own document's start, as YAML says."""

    def __init__(self, text: str, events: list[yaml.Event], offset: int) -> None:
        self._text = text
        self._events = events
        self._offset = offset
        self._at = 0
        self._anchors: dict[str, Node] = {}

    def documents(self) -> Iterator[Node | None]:
        while self._at < len(self._events):
            event = self._take()
            if isinstance(event, yaml.DocumentStartEvent):
                self._anchors = {}
                yield self._document()

    def _document(self) -> Node | None:
        root = self._node(0)
        is_empty = root.kind == "scalar" and not root.value and root.start == root.end
        return None if is_empty else root

    def _take(self) -> yaml.Event:
        self._at += 1
        return self._events[self._at - 1]

    def _node(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise EditRefused("too-deep", f"nested deeper than {MAX_DEPTH} levels")
        first = self._at
        event = self._take()
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, first)
        if isinstance(event, yaml.ScalarEvent):
            return self._keep(self._scalar(event, first))
        if isinstance(event, yaml.MappingStartEvent):
            return self._keep(self._mapping(event, first, depth))
        if isinstance(event, yaml.SequenceStartEvent):
            return self._keep(self._sequence(event, first, depth))
        raise EditRefused("not-yaml", f"not YAML: unexpected {type(event).__name__}")

    def _keep(self, node: Node) -> Node:
        if node.anchor:
            self._anchors[node.anchor] = node
        return node

    def _alias(self, event: yaml.AliasEvent, first: int) -> Node:
        name = event.anchor or ""
        target = self._anchors.get(name)
        if target is None:
            raise EditRefused("unknown-alias", f"*{name} names no anchor")
        start, end = self._marks(event, event)
        return Node("alias", start, end, start, slice(first, self._at), name, target=target)

    def _scalar(self, event: yaml.ScalarEvent, first: int) -> Node:
        outer, end = self._marks(event, event)
        start = self._behind_properties(event, outer, end)
        return Node(
            "scalar",
            start,
            end,
            outer,
            slice(first, self._at),
            value=event.value,
            style=event.style or "",
            anchor=event.anchor,
            tag=event.tag,
        )

    def _behind_properties(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent, outer: int, end: int) -> int:
        start = outer
        for _ in filter(None, (event.anchor, event.tag)):
            if found := _PROPERTY.match(self._text, start):
                start = found.end()
        return min(start, end) if end > outer else start

    def _marks(self, first: yaml.Event, last: yaml.Event) -> tuple[int, int]:
        assert first.start_mark is not None  # only events that a program makes have no marks
        assert last.end_mark is not None
        return first.start_mark.index + self._offset, last.end_mark.index + self._offset

    def _mapping(self, event: yaml.MappingStartEvent, first: int, depth: int) -> Node:
        entries: list[tuple[Node, Node]] = []
        while not isinstance(self._events[self._at], yaml.MappingEndEvent):
            key = self._node(depth + 1)
            entries.append((key, self._node(depth + 1)))
        last = entries[-1][1].end if entries else 0
        return self._collection(event, first, last, entries=tuple(entries))

    def _sequence(self, event: yaml.SequenceStartEvent, first: int, depth: int) -> Node:
        items: list[Node] = []
        while not isinstance(self._events[self._at], yaml.SequenceEndEvent):
            items.append(self._node(depth + 1))
        return self._collection(event, first, items[-1].end if items else 0, items=tuple(items))

    def _collection(
        self,
        event: yaml.CollectionStartEvent,
        first: int,
        last: int,
        *,
        entries: tuple[tuple[Node, Node], ...] = (),
        items: tuple[Node, ...] = (),
    ) -> Node:
        closing = self._take()
        outer, behind = self._marks(event, closing)
        # A block collection's own end mark stands before the next token, far behind its last value.
        end = behind if event.flow_style else last
        start = self._behind_properties(event, outer, end)
        return Node(
            "mapping" if isinstance(event, yaml.MappingStartEvent) else "sequence",
            start,
            end,
            outer,
            slice(first, self._at),
            style="flow" if event.flow_style else "",
            anchor=event.anchor,
            tag=event.tag,
            entries=entries,
            items=items,
        )
