"""What an edit writes: scalars and small structures as text, in the style of the place where they go."""

from collections.abc import Iterator
from dataclasses import dataclass

from clusters_app.repo.edit_nodes import EditRefused, Node, Stream
from clusters_app.repo.scalars import double_quoted, is_plain_string, is_safe_in_flow, quoted


@dataclass(frozen=True, slots=True)
class Plain:
    """A scalar that is no string (a number, a boolean, null), as its text."""

    text: str


@dataclass(frozen=True, slots=True)
class Copied:
    """A scalar or a bracketed collection, copied as it is written elsewhere."""

    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """A literal block scalar: its header and its text."""

    header: str
    text: str


type Scalar = str | Plain | Copied | Block
type Content = Scalar | dict[str, Content] | list[Content]


def content_of(stream: Stream, node: Node) -> Content:
    """A node as content to insert somewhere else, quotes and brackets kept. Refuses anchors, tags and aliases."""
    if node.anchor or node.tag or node.kind == "alias":
        raise EditRefused("anchor", "what is shared by an anchor, or tagged, is not copied")
    if node.kind == "scalar":
        return _scalar_of(stream, node)
    if node.style == "flow":
        for child in node.children:
            content_of(stream, child)
        return Copied(_on_one_line(stream.text[node.start : node.end]))
    if node.kind == "sequence":
        return [content_of(stream, item) for item in node.items]
    return {key.value: content_of(stream, value) for key, value in node.entries}


def _scalar_of(stream: Stream, node: Node) -> Scalar:
    raw = stream.text[node.start : node.end]
    if node.style == "|":
        return Block(raw.partition("\n")[0].rstrip("\r"), node.value)
    if node.style == ">" or "\n" in raw:
        return double_quoted(node.value)
    return Copied(raw)


def _on_one_line(text: str) -> str:
    if "#" in text and "\n" in text:
        raise EditRefused("comment", "a bracketed collection with comments inside is not copied")
    return " ".join(text.split()) if "\n" in text else text


@dataclass(frozen=True, slots=True)
class Style:
    """How the target text is laid out: line end, step of nested mappings, offset of a list under its key."""

    newline: str
    step: int = 2
    list_offset: int = 2

    @classmethod
    def of(cls, stream: Stream) -> "Style":
        """The layout of the first nested mapping and the first nested list of a text."""
        step, offset = None, None
        for parent, child in _nested(stream):
            difference = stream.column(child.outer) - stream.column(parent.outer)
            if child.kind == "mapping" and difference > 0:
                step = step or difference
            if child.kind == "sequence":
                offset = difference if offset is None else offset
        return cls(stream.newline, step or 2, offset if offset is not None else step or 2)


def _nested(stream: Stream) -> Iterator[tuple[Node, Node]]:
    todo = [root for root in stream.documents if root is not None]
    while todo:
        node = todo.pop(0)
        for key, value in node.entries:
            if node.style != "flow" and value.style != "flow" and value.kind in ("mapping", "sequence"):
                yield key, value
        todo.extend(node.children)


def scalar_text(value: Scalar, *, in_flow: bool, is_json: bool) -> str:
    """A scalar on one line. A string is quoted when either reader would not read the same string."""
    if isinstance(value, Copied | Plain):
        return value.text
    text = value.text if isinstance(value, Block) else value
    if not is_json and is_plain_string(text) and (not in_flow or is_safe_in_flow(text)):
        return text
    return double_quoted(text)


def lines_of(content: Content, column: int, style: Style) -> list[str]:
    """The lines of a block at a column, without line ends; the first one without its indentation."""
    if isinstance(content, dict):
        return [line for number, (key, value) in enumerate(content.items())
                for line in _entry_lines(key, value, column, style, is_first=number == 0)]  # fmt: skip
    if isinstance(content, list):
        return [line for number, item in enumerate(content)
                for line in _item_lines(item, column, style, is_first=number == 0)]  # fmt: skip
    return scalar_lines(content, column)


def _entry_lines(key: str, value: Content, column: int, style: Style, *, is_first: bool) -> list[str]:
    head = ("" if is_first else " " * column) + scalar_text(key, in_flow=False, is_json=False) + ":"
    if isinstance(value, dict | list) and value:
        inner = column + (style.step if isinstance(value, dict) else style.list_offset)
        first, *rest = lines_of(value, inner, style)
        return [head, " " * inner + first, *rest]
    first, *rest = scalar_lines(_empty_or(value), column + style.step)
    return [f"{head} {first}", *rest]


def _item_lines(item: Content, column: int, style: Style, *, is_first: bool) -> list[str]:
    first, *rest = lines_of(_empty_or(item), column + 2, style)
    return [("" if is_first else " " * column) + "- " + first, *rest]


def _empty_or(content: Content) -> Content:
    if content in ({}, []):
        return Copied("{}" if isinstance(content, dict) else "[]")
    return content


def scalar_lines(value: Content, column: int) -> list[str]:
    if isinstance(value, dict | list):
        raise EditRefused("structure", "a structure stands where a scalar was expected")
    if not isinstance(value, Block):
        return [scalar_text(value, in_flow=False, is_json=False)]
    body = value.text.split("\n")
    return [value.header, *(" " * column + line if line else "" for line in body[: -1 if not body[-1] else None])]


def flow_text(content: Content, *, is_json: bool) -> str:
    """Content between brackets, on one line."""
    if isinstance(content, dict):
        pairs = (f"{_flow_key(key, is_json)}: {flow_text(value, is_json=is_json)}" for key, value in content.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(content, list):
        return "[" + ", ".join(flow_text(item, is_json=is_json) for item in content) + "]"
    if is_json and isinstance(content, Copied) and not content.text.startswith(('"', "{", "[")):
        return double_quoted(content.text)
    return scalar_text(content, in_flow=True, is_json=is_json)


def _flow_key(key: str, is_json: bool) -> str:
    return double_quoted(key) if is_json else scalar_text(key, in_flow=True, is_json=False)


def replacement(node: Node, value: Scalar, *, in_flow: bool, is_json: bool) -> str:
    """The text that replaces a scalar: in its own quotes, plain where it was plain and may stay so."""
    if not isinstance(value, str):
        return scalar_text(value, in_flow=in_flow, is_json=is_json)
    if is_json:
        return double_quoted(value)
    if node.style in ("'", '"'):
        return quoted(value, node.style)
    return scalar_text(value, in_flow=in_flow, is_json=False)
