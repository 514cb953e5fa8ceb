"""What a YAML file is made of: nodes with their places, and the plain value of a node. Made by `safe_yaml` alone."""

import re

import msgspec

from clusters_app.ingest import IngestError, JsonValue, clamp


# `gc=False`: these hold no containers, and a large file makes half a million of them for the collector to walk.
class Place(msgspec.Struct, frozen=True, gc=False):
    """Where a node stands: `start` and `end` in characters of `Parsed.text`, lines from one, columns from zero.

    As PyYAML's marks: `start` is before an anchor or tag, `end` of a block collection or block scalar is where the next
    thing begins, behind comments and empty lines.
    """

    start: int
    end: int
    line: int
    column: int
    end_line: int


class Scalar(msgspec.Struct, frozen=True, gc=False):
    """`style` is "" for plain, else one of ' " | >; `text` is the value with quotes, escapes and folding undone."""

    text: str
    style: str
    place: Place
    tag: str | None = None
    anchor: str | None = None


class Sequence(msgspec.Struct, frozen=True):
    items: tuple["Node", ...]
    flow: bool
    place: Place
    tag: str | None = None
    anchor: str | None = None


class Mapping(msgspec.Struct, frozen=True):
    pairs: tuple[tuple["Node", "Node"], ...]
    flow: bool
    place: Place
    tag: str | None = None
    anchor: str | None = None

    def get(self, key: str) -> "Node | None":
        """The value of a key, an alias followed to its node; of duplicates the last. Merge keys are not looked into."""
        for name, value in reversed(self.pairs):
            if isinstance(name, Scalar) and name.text == key:
                return value.target if isinstance(value, Alias) else value
        return None


class Alias(msgspec.Struct, frozen=True, eq=False):
    """`*name`, at its own place. `target` is None inside the very node that it names: there is no end to that.

    Neither compared nor shown by its target: nine aliases of nine aliases nine times over are a small file.
    """

    name: str
    target: "Scalar | Sequence | Mapping | None"
    place: Place

    def __repr__(self) -> str:
        return f"Alias(name={self.name!r}, place={self.place!r})"


type Node = Scalar | Sequence | Mapping | Alias


class Duplicate(msgspec.Struct, frozen=True):
    key: str
    first_line: int
    line: int


class Document(msgspec.Struct, frozen=True):
    """One document of a file; `root` is None when it is empty. `line` is that of its first content."""

    index: int
    line: int
    root: Node | None
    duplicates: tuple[Duplicate, ...]


class Parsed(msgspec.Struct, frozen=True):
    """A file of a repository. `problem` says why reading ended early; the documents before it are there even so."""

    text: str
    documents: tuple[Document, ...]
    problem: IngestError | None


def to_plain(node: Node | None) -> JsonValue:
    """The value as JSON would hold it.

    A plain scalar becomes null, true, false, a whole number within 64 bit or a number with a decimal point only where
    every reader of YAML agrees; the rest (dates, `yes`, `0777`, `1_000`, `1e3`) stays text, and so do quoted and tagged
    scalars. An alias to a scalar is its value, to a collection the text `*name`; a merge key stays a key. Keys that are
    no scalars are left out; of duplicates the last counts.
    """
    if node is None:
        return None
    if isinstance(node, Scalar):
        return _typed(node.text) if node.style == "" and node.tag is None else node.text
    if isinstance(node, Alias):
        return to_plain(node.target) if isinstance(node.target, Scalar) else f"*{node.name}"
    if isinstance(node, Sequence):
        return [to_plain(item) for item in node.items]
    return {text: to_plain(value) for key, value in node.pairs if (text := key_text(key)) is not None}


def key_text(node: Node) -> str | None:
    scalar = node.target if isinstance(node, Alias) else node
    return scalar.text if isinstance(scalar, Scalar) else None


_CONSTANTS: dict[str, JsonValue] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})", re.ASCII)
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,15})\.[0-9]{1,15}", re.ASCII)


def _typed(text: str) -> JsonValue:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        number = int(text)
        return number if clamp(number) == number else text
    return float(text) if _DECIMAL.fullmatch(text) else text
