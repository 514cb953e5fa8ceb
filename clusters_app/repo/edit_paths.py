"""Paths into a text: lists of keys, with list items found by what they hold and never by their place.

A path goes on into a block scalar that holds YAML or JSON (an inline patch, the values in a ConfigMap).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from clusters_app.repo.edit_nodes import EditRefused, Node, Stream, parse_text

MERGE_KEY = "<<"
PATCH_OBJECT = "patch object"
"""A field of a Match: kind and name of the object that an inline patch names; of a JSON patch its operations."""

ONLY_KEY = "only key"
"""A field of a Match: the key of an item that has just one, such as the `kustomize` of a post-renderer."""


@dataclass(frozen=True, slots=True)
class Match:
    """The one list item whose fields hold these texts. A field of no name is the item itself, a scalar."""

    fields: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return ",".join(f"{name}={text}" if name else text for name, text in self.fields)


type Step = str | Match
type Path = tuple[Step, ...]


@dataclass(frozen=True)
class Embedding:
    """A block scalar read as a text of its own."""

    stream: Stream
    node: Node
    inner: Stream

    @cached_property
    def indent(self) -> int:
        """Columns before each line: what the file has more than the text that the parser read."""
        for raw, line in zip(self._raw_lines, self.inner.text.split("\n"), strict=False):
            if line.strip():
                return _leading(raw) - _leading(line)
        return 0

    @cached_property
    def _raw_lines(self) -> list[str]:
        return self.stream.text[self.node.start : self.node.end].partition("\n")[2].split("\n")

    def line_start(self, offset: int) -> int:
        """Where the outer line begins that holds a character of the inner text."""
        number = self.inner.text.count("\n", 0, offset)
        body = self.stream.text.index("\n", self.node.start) + 1
        return body + sum(len(line) + 1 for line in self._raw_lines[:number])

    def outer_offset(self, offset: int) -> int:
        """Where a character of the inner text stands in the outer one."""
        number = self.inner.text.count("\n", 0, offset)
        raw = self._raw_lines[number].rstrip("\r") if number < len(self._raw_lines) else ""
        return self.line_start(offset) + min(self.indent, len(raw)) + self.column(offset)

    def column(self, offset: int) -> int:
        return offset - (self.inner.text.rfind("\n", 0, offset) + 1)


def _leading(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


@dataclass(frozen=True)
class Place:
    """Where a path leads. `shared` names the anchors that lie on the way: an edit there changes all who use them."""

    stream: Stream
    node: Node
    parents: tuple[Node, ...] = ()
    shared: tuple[str, ...] = ()
    embeddings: tuple[Embedding, ...] = ()

    @property
    def is_in_flow(self) -> bool:
        return any(parent.style == "flow" for parent in self.parents)


def locate(stream: Stream, document: int, path: Sequence[Step]) -> Place:
    """The place of a path. EditRefused `edit.missing`, `edit.ambiguous` or `edit.doubled-key` when there is not one."""
    place = Place(stream, stream.root(document))
    for number, step in enumerate(path):
        place = _descend(_resolved(place), step, path[: number + 1])
    return _resolved(place)


def _resolved(place: Place) -> Place:
    node, shared = place.node, place.shared
    while node.kind == "alias":
        shared = (*shared, node.value)
        if node.target is None:
            raise EditRefused("unknown-alias", f"*{node.value} names no anchor")
        node = node.target
    return Place(place.stream, node, place.parents, shared, place.embeddings)


def _descend(place: Place, step: Step, path: Sequence[Step]) -> Place:
    node = place.node
    if node.kind == "scalar" and node.style in ("|", ">"):
        return _descend(enter(place), step, path)
    if isinstance(step, Match) and node.kind == "sequence":
        return _item(place, step, path)
    if isinstance(step, str) and node.kind == "mapping":
        return _entry(place, step, path)
    raise missing(path)


def missing(path: Sequence[Step]) -> EditRefused:
    return EditRefused("missing", f"there is no {shown(path)}")


def enter(place: Place) -> Place:
    """The root of the text that a literal block scalar holds. Refuses folded ones: their lines are not the text's."""
    if place.node.style != "|":
        raise EditRefused("folded", "a folded block scalar is not edited from inside")
    inner = parse_text(place.node.value)
    if len(inner.documents) != 1:
        raise EditRefused("several-documents", "a block scalar with several documents is not edited from inside")
    embedding = Embedding(place.stream, place.node, inner)
    return Place(inner, inner.root(0), (), place.shared, (*place.embeddings, embedding))


def _item(place: Place, step: Match, path: Sequence[Step]) -> Place:
    found = [item for item in place.node.items if matches(item, step)]
    if not found:
        raise missing(path)
    if len(found) > 1:
        raise EditRefused("ambiguous", f"{len(found)} items are {shown(path)}")
    return Place(place.stream, found[0], (*place.parents, place.node), place.shared, place.embeddings)


def _entry(place: Place, step: str, path: Sequence[Step]) -> Place:
    own = [value for key, value in place.node.entries if key.value == step and key.kind == "scalar"]
    if len(own) > 1:
        raise EditRefused("doubled-key", f"{shown(path)} stands there {len(own)} times")
    parents = (*place.parents, place.node)
    if own:
        return Place(place.stream, own[0], parents, place.shared, place.embeddings)
    for name, source in merged(place.node):
        inherited = Place(place.stream, source, parents, (*place.shared, name), place.embeddings)
        try:
            return _entry(inherited, step, path)
        except EditRefused as error:
            if error.code != "edit.missing":
                raise
    raise missing(path)


def merged(node: Node) -> Iterator[tuple[str, Node]]:
    """Anchor name and mapping of everything that the merge keys of a mapping bring in, the winning one first."""
    for key, value in node.entries:
        if key.value != MERGE_KEY or key.style:
            continue
        for source in value.items if value.kind == "sequence" else (value,):
            if source.kind == "alias" and source.target is not None and source.target.kind == "mapping":
                yield source.value, source.target
            elif source.kind == "mapping":
                yield MERGE_KEY, source


def matches(item: Node, match: Match) -> bool:
    return all(field_text(item, name) == text for name, text in match.fields)


def field_text(item: Node, name: str) -> str | None:
    """The text of one field of a list item, in one spelling; None when the item has no such field."""
    if item.kind == "alias" and item.target is not None:
        return field_text(item.target, name)
    if not name:
        return item.value if item.kind == "scalar" else None
    if name == PATCH_OBJECT:
        return _patch_object(item)
    if name == ONLY_KEY:
        return item.entries[0][0].value if len(item.entries) == 1 else None
    found = [value for key, value in item.entries if key.value == name]
    return spelled(found[0]) if len(found) == 1 else None


def spelled(node: Node) -> str:
    """A node in one spelling, whatever its style and the order of its keys."""
    if node.kind == "alias" and node.target is not None:
        return spelled(node.target)
    if node.kind == "mapping":
        return "{" + ", ".join(sorted(f"{spelled(key)}: {spelled(value)}" for key, value in node.entries)) + "}"
    if node.kind == "sequence":
        return "[" + ", ".join(map(spelled, node.items)) + "]"
    return node.value


def _patch_object(item: Node) -> str | None:
    text = field_text(item, "patch")
    if text is None or field_text(item, "path") is not None:
        return None
    try:
        stream = parse_text(text)
        root = stream.root(0)
        if root.kind == "sequence":
            return ", ".join(f"{field_text(each, 'op')} {field_text(each, 'path')}" for each in root.items)
        kind = locate(stream, 0, ("kind",)).node.value
        return f"{kind}/{locate(stream, 0, ('metadata', 'name')).node.value}"
    except EditRefused:
        return None


def shown(path: Sequence[Step]) -> str:
    """A path for people: `spec → containers → name=web → image`. Arrows, because a key may hold dots and slashes."""
    return " → ".join(str(step) or '""' for step in path)
