"""The nodes of a YAML or JSON text with the exact place of each value: what an edit needs and a loader does not keep.

A node's `start` is where its own text begins, behind its anchor and tag; an alias stays an alias. `Stream.events` is
the same text as a flat list without positions, so two texts can be compared for what an edit changed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

type Event = tuple[str | bool | None, ...]
type Kind = Literal["scalar", "mapping", "sequence", "alias"]

BOM = "\ufeff"


class EditRefused(Exception):
    """An edit that cannot be made, or proved, without touching more than was planned. `code` is stable."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = f"edit.{code}"
        self.reason = reason


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One node. Offsets count characters of the stream's text; `events` is its slice of the stream's event list."""

    kind: Kind
    start: int
    end: int
    outer: int
    """Where its anchor or tag begins; `start` when it has none."""
    events: slice
    value: str = ""
    """A scalar's text as the parser reads it; an alias's name."""
    style: str = ""
    """A scalar's `'`, `"`, `|`, `>` or nothing; `flow` for a collection within brackets."""
    anchor: str | None = None
    tag: str | None = None
    entries: tuple[tuple["Node", "Node"], ...] = ()
    items: tuple["Node", ...] = ()
    target: "Node | None" = None

    @property
    def children(self) -> tuple["Node", ...]:
        return self.items or tuple(node for entry in self.entries for node in entry)


@dataclass(frozen=True)
class Stream:
    """A parsed text. `documents` holds the root of each document, None for an empty one."""

    text: str
    documents: tuple[Node | None, ...]
    events: tuple[Event, ...] = field(repr=False)
    is_json: bool = False

    @cached_property
    def newline(self) -> str:
        """The line end of the text: CRLF when its first line ends so."""
        first = self.text.find("\n")
        return "\r\n" if first > 0 and self.text[first - 1] == "\r" else "\n"

    def root(self, document: int) -> Node:
        if not 0 <= document < len(self.documents):
            raise EditRefused("no-document", f"there is no document number {document + 1}")
        root = self.documents[document]
        if root is None:
            raise EditRefused("empty-document", f"document number {document + 1} is empty")
        return root

    def line_start(self, offset: int) -> int:
        return self.text.rfind("\n", 0, offset) + 1

    def line_end(self, offset: int) -> int:
        """The offset behind the line end of the line that holds `offset`; the end of the text in its last line."""
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end + 1

    def column(self, offset: int) -> int:
        start = self.line_start(offset)
        return offset - start - (1 if start == 0 and self.text.startswith(BOM) else 0)

    def rest_of_line(self, offset: int) -> str:
        return self.text[offset : self.line_end(offset)].rstrip("\r\n")


def decode(data: bytes) -> str:
    """The text of a file, a byte order mark included. Refuses what is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EditRefused("not-utf8", "the file is not UTF-8 text") from error


def parse(data: bytes) -> Stream:
    """The nodes of a file: JSON where it reads as JSON, otherwise YAML. Refuses what neither parser reads."""
    return parse_text(decode(data))


def parse_text(text: str) -> Stream:
    from clusters_app.repo import edit_json, edit_yaml

    if text.lstrip(BOM + " \t\r\n").startswith(("{", "[")):
        try:
            return edit_json.parse(text)
        except edit_json.NotJsonError:
            pass  # A flow mapping of YAML begins in the same way.
    return edit_yaml.parse(text)


def walk(node: Node) -> Iterator[Node]:
    """The node and everything under it; an alias is not followed."""
    yield node
    for child in node.children:
        yield from walk(child)
