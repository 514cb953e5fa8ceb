"""JSON as nodes with exact places: tabs between tokens and the escape `\\/` are JSON, and YAML parsers refuse them."""

import json
import re

from clusters_app.repo.edit_nodes import BOM, EditRefused, Event, Node, Stream

MAX_DEPTH = 100

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


class NotJsonError(Exception):
    """The text is not one JSON document."""


def parse(text: str) -> Stream:
    """Raises NotJsonError for anything but exactly one JSON document."""
    reader = _Reader(text)
    root = reader.document()
    return Stream(text, (root,), tuple(reader.events), is_json=True)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 1 if text.startswith(BOM) else 0
        self.events: list[Event] = []

    def document(self) -> Node:
        root = self._value(0)
        self._skip()
        if self._at != len(self._text):
            raise NotJsonError
        return root

    def _skip(self) -> str:
        found = _SPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._text[self._at : self._at + 1]

    def _expect(self, character: str) -> None:
        if self._skip() != character:
            raise NotJsonError
        self._at += 1

    def _value(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise EditRefused("too-deep", f"nested deeper than {MAX_DEPTH} levels")
        match self._skip():
            case "{":
                return self._mapping(depth)
            case "[":
                return self._sequence(depth)
            case '"':
                return self._string()
            case _:
                return self._word()

    def _string(self) -> Node:
        self._skip()
        found = _STRING.match(self._text, self._at)
        if found is None:
            raise NotJsonError
        try:
            value = str(json.loads(found.group()))
        except ValueError as error:
            raise NotJsonError from error
        return self._scalar(found, value, '"')

    def _word(self) -> Node:
        found = _WORD.match(self._text, self._at)
        if found is None:
            raise NotJsonError
        return self._scalar(found, found.group(), "")

    def _scalar(self, found: re.Match[str], value: str, style: str) -> Node:
        start, self._at = found.span()
        self.events.append(("Scalar", None, None, bool(style), value))
        number = len(self.events)
        return Node("scalar", start, self._at, start, slice(number - 1, number), value=value, style=style)

    def _mapping(self, depth: int) -> Node:
        start, first, entries = self._open("MappingStart")
        while self._skip() != "}":
            if entries:
                self._expect(",")
            key = self._string()
            self._expect(":")
            entries.append((key, self._value(depth + 1)))
        end, events = self._close("MappingEnd", first)
        return Node("mapping", start, end, start, events, style="flow", entries=tuple(entries))

    def _sequence(self, depth: int) -> Node:
        start, first, _ = self._open("SequenceStart")
        items: list[Node] = []
        while self._skip() != "]":
            if items:
                self._expect(",")
            items.append(self._value(depth + 1))
        end, events = self._close("SequenceEnd", first)
        return Node("sequence", start, end, start, events, style="flow", items=tuple(items))

    def _open(self, name: str) -> tuple[int, int, list[tuple[Node, Node]]]:
        start, first = self._at, len(self.events)
        self._at += 1
        self.events.append((name, None, None))
        return start, first, []

    def _close(self, name: str, first: int) -> tuple[int, slice]:
        self._at += 1
        self.events.append((name,))
        return self._at, slice(first, len(self.events))
