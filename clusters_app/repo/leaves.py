"""Every single value of a document with a path that means the same in another environment's file.

List items are named by their merge keys. The values of a JSON patch and of the YAML in a block scalar also carry the
field that they end up in, so that one rule knows an image wherever it is written.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from clusters_app.repo.edit_nodes import EditRefused, Node, Stream
from clusters_app.repo.edit_paths import (
    MERGE_KEY,
    ONLY_KEY,
    PATCH_OBJECT,
    Match,
    Path,
    Place,
    enter,
    field_text,
    matches,
    merged,
)
from clusters_app.repo.scalars import resolves_to_string

MAX_LEAVES = 50_000

_MERGE_KEYS: tuple[tuple[str, ...], ...] = (
    ("op", "path"),
    ("releaseName",),
    ("name",),
    ("kind", "name"),
    ("kind", "name", "namespace"),
    ("kind", "name", "valuesKey"),
    ("path",),
    ("target",),
    (PATCH_OBJECT,),
    ("target", PATCH_OBJECT),
    ("mountPath",),
    ("containerPort",),
    ("containerPort", "protocol"),
    ("port",),
    ("port", "protocol"),
    ("devicePath",),
    ("topologyKey",),
    ("type",),
    ("ip",),
    ("host",),
    ("key",),
    ("id",),
    (ONLY_KEY,),
)
_OBJECT_NAMES_FIRST = frozenset({"valuesFrom", "substituteFrom", "dependsOn", "healthChecks", "resources"})
_MARKER = re.compile(r'#\s*(\{\s*"\$imagepolicy"\s*:\s*"([^"]*)"\s*\})')


@dataclass(frozen=True)
class Leaf:
    """One value: a scalar, or (kind `list`) a list whose items nothing tells apart."""

    path: Path
    field: tuple[str, ...]
    """Keys down to the value as the object has it: through a JSON patch's pointer, list items as texts."""
    kind_of_object: str
    place: Place
    marker: str = ""
    """What an `$imagepolicy` comment on the line names: `namespace:policy`, with `:tag`, `:name` or `:digest`."""

    @property
    def node(self) -> Node:
        return self.place.node

    @property
    def text(self) -> str:
        return self.node.value

    @property
    def is_scalar(self) -> bool:
        return self.node.kind == "scalar"

    @property
    def is_string(self) -> bool:
        node = self.node
        return bool(node.style) or node.tag == "tag:yaml.org,2002:str" or resolves_to_string(node.value)


@dataclass(frozen=True)
class _Walk:
    """Where the walk is: the path so far and what it means."""

    place: Place
    path: Path = ()
    field: tuple[str, ...] = ()
    kind: str = ""
    pointer: tuple[str, ...] | None = None

    def at(self, step: str | Match, node: Node, *names: str) -> "_Walk":
        label = step if isinstance(step, str) else str(step)
        place = _resolved(replace(self.place, node=node, parents=(*self.place.parents, self.place.node)), names)
        return replace(self, place=place, path=(*self.path, step), field=(*self.field, label), pointer=None)


def _resolved(place: Place, names: tuple[str, ...]) -> Place:
    node, shared = place.node, (*place.shared, *names)
    while node.kind == "alias" and node.target is not None:
        shared, node = (*shared, node.value), node.target
    return replace(place, node=node, shared=shared)


def leaves_of(stream: Stream, document: int, kind: str = "") -> list[Leaf]:
    """All values of a document, in the order of the text. `kind` where the document does not say its own."""
    root = stream.documents[document] if document < len(stream.documents) else None
    if root is None:
        return []
    found: list[Leaf] = []
    for leaf in _node(_Walk(Place(stream, root), kind=_kind_of(root) or kind)):
        found.append(leaf)
        if len(found) > MAX_LEAVES:
            raise EditRefused("too-many", f"more than {MAX_LEAVES} values in one document")
    return found


def _kind_of(root: Node) -> str:
    return field_text(root, "kind") or "" if root.kind == "mapping" else ""


def _node(walk: _Walk) -> Iterator[Leaf]:
    if len(walk.place.parents) > 200:
        raise EditRefused("too-deep", "the document is nested too deep")
    node = walk.place.node
    if node.kind == "mapping":
        yield from _mapping(walk)
    elif node.kind == "sequence":
        yield from _sequence(walk)
    else:
        yield from _scalar(walk)


def _mapping(walk: _Walk) -> Iterator[Leaf]:
    own = {key.value for key, _ in walk.place.node.entries}
    if not own:
        yield _leaf(walk)
    for key, value in walk.place.node.entries:
        if key.value == MERGE_KEY and not key.style:
            continue
        inner = walk.at(key.value, value)
        if key.value == "value" and walk.pointer is not None:
            inner = replace(inner, field=walk.pointer)
        yield from _node(inner)
    for name, source in merged(walk.place.node):
        for key, value in source.entries:
            if key.value not in own and key.value != MERGE_KEY:
                own.add(key.value)
                yield from _node(walk.at(key.value, value, name))


def _sequence(walk: _Walk) -> Iterator[Leaf]:
    items = walk.place.node.items
    names = names_of_items(items, str(walk.path[-1]) if walk.path else "")
    if names is None:
        yield _leaf(walk)
        return
    for item, name in zip(items, names, strict=True):
        inner = walk.at(name, item)
        if name.fields[0][0] == "op":
            inner = replace(inner, pointer=_pointer(name.fields[1][1]))
        yield from _node(inner)


def _pointer(text: str) -> tuple[str, ...]:
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:])


def names_of_items(items: Sequence[Node], key: str = "") -> list[Match] | None:
    """What tells the items of a list apart: the first merge keys that all have and no two share. None: nothing does."""
    if items and all(field_text(item, "") is not None for item in items):
        return _distinct([Match((("", field_text(item, "") or ""),)) for item in items])
    choices = sorted(_MERGE_KEYS, key=lambda names: "kind" not in names) if key in _OBJECT_NAMES_FIRST else _MERGE_KEYS
    for names in choices:
        found = [_match(item, names) for item in items]
        if all(found) and (distinct := _distinct([each for each in found if each])):
            return distinct
    return _each_by_its_own(items) if items else []


def _match(item: Node, names: tuple[str, ...]) -> Match | None:
    texts = [(name, field_text(item, name)) for name in names]
    return None if any(text is None for _, text in texts) else Match(tuple((name, text or "") for name, text in texts))


def _each_by_its_own(items: Sequence[Node]) -> list[Match] | None:
    """A mixed list, such as patches by file, by target, by object: each item by the first key that finds it alone."""
    found = [next((match for names in _MERGE_KEYS if (match := _alone(item, names, items))), None) for item in items]
    return None if None in found else _distinct([each for each in found if each])


def _alone(item: Node, names: tuple[str, ...], items: Sequence[Node]) -> Match | None:
    match = _match(item, names)
    return match if match and sum(1 for other in items if matches(other, match)) == 1 else None


def _distinct(matches: list[Match]) -> list[Match] | None:
    return matches if len(set(matches)) == len(matches) else None


def _scalar(walk: _Walk) -> Iterator[Leaf]:
    inner = _inside(walk)
    if inner is None:
        yield _leaf(walk)
    else:
        yield from _node(inner)


def _inside(walk: _Walk) -> _Walk | None:
    """The text of a block scalar that is YAML of its own: an inline patch, the values in a ConfigMap."""
    node, path = walk.place.node, walk.path
    if node.style != "|" or not path or not isinstance(path[-1], str):
        return None
    is_patch = path[-1] == "patch"
    is_data = walk.kind == "ConfigMap" and len(path) == 2 and path[0] == "data"
    if not (is_patch or is_data):
        return None
    try:
        place = enter(walk.place)
    except EditRefused:
        return None
    if place.node.kind == "scalar" or (is_data and place.node.kind != "mapping"):
        return None
    kind = (_kind_of(place.node) or _target_kind(walk)) if is_patch else "Values"
    return replace(walk, place=_resolved(place, ()), field=(), kind=kind)


def _target_kind(walk: _Walk) -> str:
    parent = walk.place.parents[-1]
    target = next((value for key, value in parent.entries if key.value == "target"), None)
    return "" if target is None else field_text(target, "kind") or ""


def _leaf(walk: _Walk) -> Leaf:
    place = walk.place
    marker = _MARKER.search(place.stream.rest_of_line(place.node.end)) if place.node.kind == "scalar" else None
    return Leaf(walk.path, walk.field, walk.kind, place, marker[2] if marker else "")


def without_markers(text: str) -> str:
    """The text without `$imagepolicy` comments; another comment on such a line stays."""
    return re.sub(r'[ \t]*#[ \t]*\{[ \t]*"\$imagepolicy"[^}\n]*\}[ \t]*', "", text)
