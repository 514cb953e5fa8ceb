"""One line means one line: set, insert and remove a value at a path of a YAML or JSON text.

Each edit finds its place by the parser's marks, splices the text, parses the result and proves that the planned value
changed and nothing else did; otherwise it refuses. Comments, quotes, line ends and layout are never rewritten.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from clusters_app.repo.edit_content import (
    Block,
    Content,
    Copied,
    Plain,
    Style,
    flow_text,
    lines_of,
    replacement,
    scalar_lines,
)
from clusters_app.repo.edit_nodes import EditRefused, Event, Node, Stream, parse, parse_text, walk
from clusters_app.repo.edit_paths import Embedding, Match, Path, Place, Step, enter, locate, matches, missing, shown
from clusters_app.repo.scalars import resolves_to_string

__all__ = ["EditRefused", "Match", "Path", "Plain", "Step", "insert_value", "remove_value", "set_value"]

_STRING_TAGS = (None, "!", "tag:yaml.org,2002:str")


@dataclass(frozen=True, slots=True)
class _Splice:
    start: int
    end: int
    text: str
    events: slice
    """What it replaces in the list of events; empty for an insertion."""


def set_value(
    data: bytes, document: int, path: Sequence[Step], value: str | Plain, *, at_anchor: bool = False
) -> bytes:
    """The file with the scalar at a path replaced. The same bytes when it already is that value.

    A place that others share by an anchor is refused unless `at_anchor`: then all of them change.
    """
    place = locate(parse(data), document, path)
    _refuse_shared(place, at_anchor=at_anchor)
    node = place.node
    if node.kind != "scalar":
        raise EditRefused("not-a-scalar", f"{shown(path)} is a {node.kind}, not one value")
    if isinstance(value, str) and node.value == value and (node.style or node.tag or is_read_as(node, value)):
        return data
    if isinstance(value, str) and node.tag not in _STRING_TAGS and node.tag.startswith("tag:yaml.org"):
        raise EditRefused("tag", f"{shown(path)} is tagged {node.tag}, which is no string")
    text = _scalar_replacement(place, value)
    result, events = _applied(place, _Splice(node.start, node.end, text, node.events))
    _prove_scalar(node, value, events)
    return result


def is_read_as(node: Node, value: str) -> bool:
    """Whether both readers take a plain scalar for this very string."""
    return node.value == value and resolves_to_string(value)


def _refuse_shared(place: Place, *, at_anchor: bool) -> None:
    if at_anchor:
        return
    # What lies inside an anchored mapping is as shared as the mapping.
    anchored = {node.anchor for node in (*place.parents, place.node) if node.anchor and _is_used(place.stream, node)}
    if names := sorted({*place.shared, *anchored}):
        raise EditRefused("shared", f"the value is shared by the anchor &{', &'.join(names)}")


def _is_used(stream: Stream, node: Node) -> bool:
    return any(event[0] == "Alias" and event[1] == node.anchor for event in stream.events)


def _scalar_replacement(place: Place, value: str | Plain) -> str:
    node, stream = place.node, place.stream
    if node.style in ("|", ">") and isinstance(value, str):
        return _block_replacement(place, value)
    text = replacement(node, value, in_flow=place.is_in_flow, is_json=stream.is_json)
    is_glued = node.start == node.end and node.start > 0 and not stream.text[node.start - 1].isspace()
    return f" {text}" if is_glued else text


def _block_replacement(place: Place, value: str) -> str:
    node, stream = place.node, place.stream
    raw = stream.text[node.start : node.end]
    header, newline, _ = raw.partition("\n")
    if node.style == ">" or not newline:
        raise EditRefused("folded", "a folded block scalar is not replaced")
    indent = Embedding(stream, node, Stream(node.value, (), ())).indent
    lines = scalar_lines(Block(header.rstrip("\r"), value), indent)
    trailing = stream.newline if raw.endswith("\n") else ""
    return stream.newline.join(lines) + trailing


def _applied(place: Place, splice: _Splice) -> tuple[bytes, tuple[Event, ...]]:
    """The whole file after a splice, and the events that now stand where it was made. Refuses any other change."""
    stream = place.stream
    text = stream.text[: splice.start] + splice.text + stream.text[splice.end :]
    events = _proved(stream, text, splice.events)
    for embedding in reversed(place.embeddings):
        splice = _outer_splice(embedding, splice)
        stream, inner = embedding.stream, text
        text = stream.text[: splice.start] + splice.text + stream.text[splice.end :]
        changed = _proved(stream, text, splice.events)
        if len(changed) != 1 or changed[0][-1] != inner:
            raise EditRefused("not-proved", "the text inside the block scalar would not be the planned one")
    return text.encode("utf-8"), events


def _outer_splice(embedding: Embedding, splice: _Splice) -> _Splice:
    break_ = embedding.stream.newline + " " * embedding.indent
    if embedding.column(splice.start) == 0 and _is_whole_lines(embedding, splice):
        lines = splice.text.splitlines(keepends=True)
        text = "".join(" " * embedding.indent + line.replace("\n", embedding.stream.newline) for line in lines)
        start, end = embedding.line_start(splice.start), embedding.line_start(splice.end)
        return _Splice(start, end, text, embedding.node.events)
    start, end = embedding.outer_offset(splice.start), embedding.outer_offset(splice.end)
    return _Splice(start, end, splice.text.replace("\n", break_), embedding.node.events)


def _is_whole_lines(embedding: Embedding, splice: _Splice) -> bool:
    return splice.text.endswith("\n") or (not splice.text and embedding.column(splice.end) == 0)


def _proved(before: Stream, text: str, replaced: slice) -> tuple[Event, ...]:
    """The events between the part before and the part behind the replaced ones, when those two are as they were."""
    after = parse_text(text)
    behind = len(before.events) - replaced.stop
    stop = len(after.events) - behind
    same = after.events[: replaced.start] == before.events[: replaced.start]
    if not same or stop < replaced.start or after.events[stop:] != before.events[replaced.stop :]:
        raise EditRefused("not-proved", "something else than the planned path would change")
    return after.events[replaced.start : stop]


def _prove_scalar(node: Node, value: str | Plain, events: tuple[Event, ...]) -> None:
    if len(events) != 1 or events[0][0] != "Scalar":
        raise EditRefused("not-proved", "the new value would not be one scalar")
    _, anchor, tag, is_quoted, text = events[0]
    wanted = value if isinstance(value, str) else value.text
    is_string = bool(is_quoted) or bool(tag) or resolves_to_string(str(text))
    if text != wanted or anchor != node.anchor or tag != node.tag or (isinstance(value, str) and not is_string):
        raise EditRefused("not-proved", "the new value would be read as another one")


def insert_value(
    data: bytes, document: int, path: Sequence[Step], content: Content, *, after: Step | None = None
) -> bytes:
    """The file with a new key or list item, in the layout of the place; `path` names it.

    It goes behind its sibling `after`, or to the front when there is none. The last step of the path is the new key,
    or the Match that finds the new item.
    """
    *above, last = path
    place = locate(parse(data), document, above)
    if place.node.kind == "scalar" and place.node.style == "|":
        place = enter(place)
    _refuse_shared(place, at_anchor=False)
    _refuse_existing(place.node, last, path)
    if place.node.style == "flow":
        splice = _flow_insertion(place, last, content, after)
    else:
        splice = _block_insertion(place, last, content, after)
    result, _ = _applied(place, splice)
    added = locate(parse(result), document, path)
    if not _holds(added.node, content):
        raise EditRefused("not-proved", f"{shown(path)} would not hold the planned value")
    return result


def _refuse_existing(parent: Node, last: Step, path: Sequence[Step]) -> None:
    if parent.kind != ("sequence" if isinstance(last, Match) else "mapping"):
        raise missing(path[:-1])
    if isinstance(last, Match):
        exists = any(matches(item, last) for item in parent.items)
    else:
        exists = any(key.value == last for key, _ in parent.entries)
    if exists:
        raise EditRefused("exists", f"{shown(path)} is already there")


def _children(parent: Node) -> list[tuple[Node, Node]]:
    """First and last node of each child: key and value of an entry, an item twice."""
    return list(parent.entries) if parent.kind == "mapping" else [(item, item) for item in parent.items]


def _sibling(parent: Node, step: Step | None, path_end: Step) -> int:
    """How many children stand before the new one."""
    if step is None:
        return 0
    for number, (key, _) in enumerate(_children(parent)):
        if matches(key, step) if isinstance(step, Match) else key.value == step:
            return number + 1
    raise EditRefused("missing", f"there is no {step} to put {path_end} behind")


def _event_gap(parent: Node, children: list[tuple[Node, Node]], number: int) -> slice:
    at = children[number - 1][1].events.stop if number else parent.events.start + 1
    return slice(at, at)


def _flow_insertion(place: Place, last: Step, content: Content, after: Step | None) -> _Splice:
    parent, is_json = place.node, place.stream.is_json
    text = flow_text({last: content} if isinstance(last, str) else content, is_json=is_json)
    text = text[1:-1] if isinstance(last, str) else text
    children = _children(parent)
    number = _sibling(parent, after, last)
    gap = _event_gap(parent, children, number)
    if number:
        at = children[number - 1][1].end
        return _Splice(at, at, f", {text}", gap)
    if children:
        at = children[0][0].outer
        return _Splice(at, at, f"{text}, ", gap)
    return _Splice(parent.start + 1, parent.end - 1, text, gap)


def _block_insertion(place: Place, last: Step, content: Content, after: Step | None) -> _Splice:
    stream, parent = place.stream, place.node
    children = _children(parent)
    number = _sibling(parent, after, last)
    gap = _event_gap(parent, children, number)
    lines, column = _new_lines(place, children[max(number - 1, 0)][0], last, content)
    newline = stream.newline
    if number:
        at = _behind(stream, children[number - 1][1])
        text = " " * column + newline.join(lines)
        if at and stream.text[at - 1] != "\n":
            return _Splice(at, at, newline + text, gap)
        return _Splice(at, at, text + newline, gap)
    first = children[0][0]
    at = _dash(stream, first) if parent.kind == "sequence" else first.outer
    return _Splice(at, at, newline.join(lines) + newline + " " * column, gap)


def _new_lines(place: Place, sibling: Node, last: Step, content: Content) -> tuple[list[str], int]:
    stream = place.stream
    # Behind an embedding the style of the outer file's line ends is put in later, so inner texts use plain ones.
    style = Style.of(stream)
    if isinstance(last, str):
        column = stream.column(sibling.outer)
        return lines_of({last: content}, column, style), column
    dash = _dash(stream, sibling)
    column = stream.column(dash)
    is_same_line = "\n" not in stream.text[dash : sibling.outer]
    gap = sibling.outer - dash - 1 if is_same_line else 1
    first, *rest = lines_of(content, column + 1 + gap, style)
    return ["-" + " " * gap + first, *rest], column


def _dash(stream: Stream, item: Node) -> int:
    before = stream.text[: item.outer].rstrip(" \r\n")
    if not before.endswith("-"):
        raise EditRefused("layout", "the list is laid out in a way that is not edited")
    return len(before) - 1


def _behind(stream: Stream, node: Node) -> int:
    """The start of the line behind a node that ends its line."""
    if node.end and stream.text[node.end - 1] == "\n":
        return node.end
    rest = stream.rest_of_line(node.end)
    if rest.strip() and not rest.lstrip().startswith("#"):
        raise EditRefused("layout", "something else stands on the line")
    return stream.line_end(node.end)


def _holds(node: Node, content: Content) -> bool:
    if isinstance(content, dict):
        found = {key.value: value for key, value in node.entries}
        return found.keys() == content.keys() and all(_holds(found[key], value) for key, value in content.items())
    if isinstance(content, list):
        pairs = zip(node.items, content, strict=False)
        return len(node.items) == len(content) and all(_holds(item, value) for item, value in pairs)
    if isinstance(content, Copied):
        return _shape(node) == _shape(parse_text(f"- {content.text}\n").root(0).items[0])
    return node.kind == "scalar" and node.value == (content if isinstance(content, str) else content.text)


def _shape(node: Node) -> object:
    if node.kind == "mapping":
        return {key.value: _shape(value) for key, value in node.entries}
    if node.kind == "sequence":
        return [_shape(item) for item in node.items]
    return (node.value, bool(node.style))


def remove_value(data: bytes, document: int, path: Sequence[Step]) -> bytes:
    """The file without the key or the list item at a path. Comments above it stay.

    The only child of its parent is refused (`edit.last-child`): remove the parent, or nothing.
    """
    *above, last = path
    locate(parse(data), document, path)
    place = locate(parse(data), document, above)
    if place.node.kind == "scalar" and place.node.style == "|":
        place = enter(place)
    _refuse_shared(place, at_anchor=False)
    children = _children(place.node)
    number = next(n for n, (key, _) in enumerate(children) if _is_child(key, last))
    if len(children) == 1:
        raise EditRefused("last-child", f"{shown(path)} is the only one there")
    _refuse_anchored(place.stream, children[number])
    events = slice(children[number][0].events.start, children[number][1].events.stop)
    is_flow = place.node.style == "flow"
    start, end = (_flow_removal if is_flow else _block_removal)(place, children, number)
    result, left = _applied(place, _Splice(start, end, "", events))
    if left:
        raise EditRefused("not-proved", "something would be left of what is removed")
    return result


def _is_child(key: Node, step: Step) -> bool:
    return matches(key, step) if isinstance(step, Match) else key.value == step


def _refuse_anchored(stream: Stream, child: tuple[Node, Node]) -> None:
    for node in walk(child[1]):
        if node.anchor and _is_used(stream, node):
            raise EditRefused("shared", f"others use the anchor &{node.anchor} inside it")


def _flow_removal(place: Place, children: list[tuple[Node, Node]], number: int) -> tuple[int, int]:
    """From the end of the one before, with the comma between; the first one goes with the comma behind it."""
    del place
    if number:
        return children[number - 1][1].end, children[number][1].end
    return children[0][0].outer, children[1][0].outer


def _block_removal(place: Place, children: list[tuple[Node, Node]], number: int) -> tuple[int, int]:
    stream = place.stream
    first, last = children[number]
    start = _dash(stream, first) if place.node.kind == "sequence" else first.outer
    end = _behind(stream, last)
    line = stream.line_start(start)
    if stream.text[line:start].strip("\ufeff "):
        # The first key of a list item shares its line with the dash: the next key moves up to it.
        return start, _next_start(place, children, number)
    if end == len(stream.text) and not stream.text.endswith("\n"):
        line -= len(stream.newline)
    return line + (1 if stream.text[line : line + 1] == "\ufeff" else 0), end


def _next_start(place: Place, children: list[tuple[Node, Node]], number: int) -> int:
    stream = place.stream
    if number + 1 == len(children):
        raise EditRefused("layout", "the entry shares its line with another construct")
    following = children[number + 1][0]
    start = _dash(stream, following) if place.node.kind == "sequence" else following.outer
    if stream.text[_behind(stream, children[number][1]) : start].strip():
        raise EditRefused("comment", "a comment stands between it and what would move up")
    return start
