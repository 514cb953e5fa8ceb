"""Patches as far as the graph needs them: who is selected, and what a merge or a JSON patch makes of a mapping.

https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/patches/
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from clusters_app import safe_yaml
from clusters_app.ingest import JsonValue
from clusters_app.repo.documents import Document, Value, documents, mapping, parse, sequence, text
from clusters_app.repo.kustomize import Fate, Kustomization, Role
from clusters_app.repo.tree import Tree


@dataclass(frozen=True, slots=True)
class Patch:
    """`target` selects (empty: the patch's own kind and name); `merge` or `operations` is what happens."""

    target: Value
    merge: Value
    operations: tuple[JsonValue, ...] = ()


def read_patches(tree: Tree, kustomization: Kustomization) -> Iterator[Patch]:
    """The patches of a kustomization file in order, with the files that hold them read."""
    files = {(r.role, r.target): r.path for r in kustomization.references if r.fate is Fate.FILE}
    value = kustomization.value
    for item in sequence(value, "patchesStrategicMerge"):
        if isinstance(item, str):
            path = files.get((Role.PATCH, item))
            yield from _parsed_patches({}, documents(tree, path).documents if path else parse(item.encode()).documents)
    for field in ("patches", "patchesJson6902"):
        for item in sequence(value, field):
            target = mapping(item, "target")
            path = files.get((Role.PATCH, text(item, "path")))
            if path:
                yield from _parsed_patches(target, documents(tree, path).documents)
            else:
                yield from inline_patch(item)


def inline_patch(item: object) -> Iterator[Patch]:
    """A patch written in place, as Flux's `spec.patches` and kustomize's `patches` both have it."""
    written = text(item, "patch")
    if written:
        yield from _parsed_patches(mapping(item, "target"), parse(written.encode()).documents)


def _parsed_patches(target: Value, found: tuple[Document, ...]) -> Iterator[Patch]:
    for document in found:
        plain = None if document.root is None else safe_yaml.to_plain(document.root)
        if isinstance(plain, list):
            yield Patch(target, {}, tuple(plain))
        elif isinstance(plain, dict):
            yield Patch(target, plain)


def apply_patch(patch: Patch, value: Value) -> Value | None:
    """The object after the patch: the same one when it is not selected, None when the patch deletes it."""
    if not _selects(patch, value):
        return value
    if patch.operations:
        return _operated(value, patch.operations)
    if patch.merge.get("$patch") == "delete":
        return None
    merge = {key: item for key, item in patch.merge.items() if key not in ("apiVersion", "kind", "metadata")}
    merged = _merged(dict(value), {**merge, "metadata": _metadata_changes(patch)})
    return merged if isinstance(merged, dict) else value


def _metadata_changes(patch: Patch) -> dict[str, JsonValue]:
    # The name in a merge patch says whom it is for (or, under a target, nothing at all); it never renames.
    return {key: item for key, item in mapping(patch.merge, "metadata").items() if key not in ("name", "namespace")}


def _selects(patch: Patch, value: Value) -> bool:
    if not patch.target:
        return (
            text(patch.merge, "kind") == text(value, "kind")
            and text(patch.merge, "metadata", "name") == text(value, "metadata", "name")
            and text(patch.merge, "metadata", "namespace") in ("", text(value, "metadata", "namespace"))
        )
    target = patch.target
    group, _, version = text(value, "apiVersion").rpartition("/")
    return (
        text(target, "kind") in ("", text(value, "kind"))
        and text(target, "group") in ("", group)
        and text(target, "version") in ("", version)
        and _whole_match(text(target, "name"), text(value, "metadata", "name"))
        and _whole_match(text(target, "namespace"), text(value, "metadata", "namespace"))
        and _labels_match(text(target, "labelSelector"), mapping(value, "metadata", "labels"))
        and _labels_match(text(target, "annotationSelector"), mapping(value, "metadata", "annotations"))
    )


_QUANTIFIER = re.compile(r"[*+{]")


def _whole_match(pattern: str, name: str) -> bool:
    """Names in a target are regular expressions, anchored at both ends."""
    if not pattern or pattern == name:
        return True
    if len(pattern) > 256 or len(_QUANTIFIER.findall(pattern)) > 4 or ")*" in pattern or ")+" in pattern:
        return False  # Written by a stranger: an expression that could backtrack for ever selects nothing here.
    try:
        return re.fullmatch(pattern, name) is not None
    except re.error:
        return False


_REQUIREMENT = re.compile(
    r"\s*(?P<absent>!)?\s*(?P<key>[\w./-]+)\s*(?:(?P<equal>==?|!=)\s*(?P<one>[\w.-]*)|(?P<set>in|notin)\s*\((?P<many>[^)]*)\))?\s*(?:,|$)"
)


def _labels_match(selector: str, labels: Value) -> bool:
    position = 0
    while position < len(selector):
        found = _REQUIREMENT.match(selector, position)
        if found is None:
            return False
        if not _requirement_holds(found, labels):
            return False
        position = found.end()
    return True


def _requirement_holds(found: re.Match[str], labels: Value) -> bool:
    present = labels.get(found["key"])
    if found["set"]:
        inside = present in [item.strip() for item in found["many"].split(",")]
        return inside if found["set"] == "in" else not inside
    if found["equal"]:
        return (present == found["one"]) is (found["equal"] != "!=")
    return (present is None) is bool(found["absent"])


def _merged(old: JsonValue, new: JsonValue) -> JsonValue:
    """RFC 7386, which is what a strategic merge does to the mappings and scalars that the graph looks at."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    result = dict(old)
    for key, item in new.items():
        if item is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result[key], item) if key in result else item
    return result


def _operated(value: Value, operations: tuple[JsonValue, ...]) -> Value:
    """RFC 6902 for mappings: add, replace and remove; an operation that does not fit changes nothing."""
    result: JsonValue = dict(value)
    for operation in operations:
        pointer = [part.replace("~1", "/").replace("~0", "~") for part in text(operation, "path").split("/")[1:]]
        kind = text(operation, "op")
        if pointer and kind in ("add", "replace", "remove"):
            new = operation.get("value") if isinstance(operation, dict) else None
            result = _set(result, pointer, new, remove=kind == "remove")
    return result if isinstance(result, dict) else value


def _set(value: JsonValue, pointer: list[str], new: JsonValue, *, remove: bool) -> JsonValue:
    key, rest = pointer[0], pointer[1:]
    if isinstance(value, list):
        return _set_item(value, key, rest, new, remove=remove)
    if not isinstance(value, dict):
        return value
    result = dict(value)
    if rest:
        result[key] = _set(result.get(key), rest, new, remove=remove)
    elif remove:
        result.pop(key, None)
    else:
        result[key] = new
    return result


def _set_item(items: list[JsonValue], key: str, rest: list[str], new: JsonValue, *, remove: bool) -> JsonValue:
    result = list(items)
    if key == "-" and not remove:
        return [*result, new]
    if not key.isdigit() or int(key) >= len(result):
        return items
    if rest:
        result[int(key)] = _set(result[int(key)], rest, new, remove=remove)
    elif remove:
        del result[int(key)]
    else:
        result[int(key)] = new
    return result
