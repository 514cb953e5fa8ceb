"""A release: the promoted values of apps in one environment, named by their content."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from clusters_app.repo import fields
from clusters_app.repo.apps import AppPlace
from clusters_app.repo.compare import is_encrypted, parsed
from clusters_app.repo.edit_nodes import EditRefused
from clusters_app.repo.edit_paths import Path
from clusters_app.repo.graph import FleetGraph
from clusters_app.repo.image_reference import ImageReference
from clusters_app.repo.leaves import Leaf
from clusters_app.repo.place_pairs import PlacePair, kustomization_files, own_files
from clusters_app.repo.plan_model import Json, path_as_json
from clusters_app.repo.rules import Action, Rules
from clusters_app.repo.tree import Tree

type ValueKind = Literal["image", "chart", "source", "variable", "setting"]


@dataclass(frozen=True, slots=True)
class PromotedValue:
    """One value that a promotion would carry. `version` is what of it is a version: of an image tag and digest."""

    app: str
    file: str
    path: Path
    text: str
    kind: ValueKind
    version: str
    name: str = ""
    """What has this version: the image's name, the object's kind."""


def promoted_values(
    tree: Tree, graph: FleetGraph, app: str, environment: str, rules: Rules | None = None
) -> tuple[PromotedValue, ...]:
    """The promoted values of an app in an environment, by file and in the text's order; none for an unknown app."""
    node = graph.app(app)
    places = node.environments.get(environment, ()) if node else ()
    found: dict[PromotedValue, None] = {}
    for place in places:
        others = frozenset(each.name for each in graph.apps) - {app}
        found.update(dict.fromkeys(_of_place(tree, app, environment, place, rules or Rules(), others)))
    return tuple(found)


def _of_place(
    tree: Tree, app: str, environment: str, place: AppPlace, rules: Rules, others: frozenset[str]
) -> Iterable[PromotedValue]:
    for path in sorted(own_files(place)):
        try:
            file = parsed(tree, path)
        except EditRefused:
            continue
        if is_encrypted(file):
            continue
        for number, leaves in enumerate(file.documents):
            if not file.belongs_to(number, environment, others):
                yield from _of_leaves(app, environment, path, leaves, rules)
    pair = PlacePair(app, environment, environment, place, place)
    for each, number, _ in kustomization_files(pair):
        if each.target not in own_files(place):
            try:
                leaves = parsed(tree, each.target).documents[number]
            except (EditRefused, IndexError):
                continue
            versions = [leaf for leaf in leaves if fields.is_promoted_field(leaf)]
            yield from _of_leaves(app, environment, each.target, versions, rules)


def _of_leaves(app: str, environment: str, path: str, leaves: Sequence[Leaf], rules: Rules) -> Iterable[PromotedValue]:
    for leaf in leaves:
        if leaf.is_scalar and rules.of(path, leaf, app=app, to=environment).action is Action.PROMOTE:
            yield _value(app, path, leaf)


def _value(app: str, path: str, leaf: Leaf) -> PromotedValue:
    if fields.is_image(leaf) and (image := ImageReference.parse(leaf.text)):
        version = image.tag or image.digest or ""
        return PromotedValue(app, path, leaf.path, leaf.text, "image", version, image.name)
    key = leaf.field[-1] if leaf.field else ""
    if fields.is_chart_version(leaf):
        return PromotedValue(app, path, leaf.path, leaf.text, "chart", leaf.text, "chart")
    if order := fields.reference_fields(leaf):
        kind: ValueKind = "image" if order in (fields.IMAGE_FIELDS, fields.VALUES_FIELDS) else "source"
        name = leaf.field[-2].partition("=")[2] if "=" in leaf.field[-2] else leaf.kind_of_object
        return PromotedValue(app, path, leaf.path, leaf.text, kind, leaf.text, name.rpartition("/")[2])
    if fields.is_substitution(leaf) or fields.is_policy_value(leaf):
        return PromotedValue(app, path, leaf.path, leaf.text, "variable", leaf.text, key)
    return PromotedValue(app, path, leaf.path, leaf.text, "setting", "", key)


_RANK: dict[ValueKind, int] = {"image": 0, "chart": 1, "source": 2, "variable": 3, "setting": 4}


def version_of(values: Sequence[PromotedValue]) -> str:
    """The one version that a page shows for an app: its image's, else its chart's; empty when it has none.

    A digest is no version where a tag stands beside it. Of several images the one in `version.yaml`, then the first.
    """
    candidates = [value for value in values if value.version]
    best = min(
        candidates,
        key=lambda value: (_RANK[value.kind], value.version.startswith("sha256:"), "/version." not in value.file),
        default=None,
    )
    return best.version if best else ""


def release_of(tree: Tree, graph: FleetGraph, apps: Sequence[str], environment: str, rules: Rules | None = None) -> str:
    """The content hash of what these apps promote from an environment: the same values have the same name anywhere."""
    rows = [row for app in apps for row in _rows(tree, graph, app, environment, rules)]
    return f"sha256:{hashlib.sha256(json.dumps(sorted(rows, key=str), ensure_ascii=False).encode()).hexdigest()}"


def _rows(tree: Tree, graph: FleetGraph, app: str, environment: str, rules: Rules | None) -> list[list[Json]]:
    node = graph.app(app)
    places = [place.path for place in (node.environments.get(environment, ()) if node else ())]
    values = promoted_values(tree, graph, app, environment, rules)
    return [[app, _below(places, each.file), path_as_json(each.path), each.version or each.text] for each in values]


def _below(places: Sequence[str], file: str) -> str:
    inside = next((place for place in places if file.startswith(f"{place}/")), None)
    return file.removeprefix(f"{inside}/") if inside else file.rpartition("/")[2]


def digest_of_content(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
