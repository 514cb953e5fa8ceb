"""What Flux builds for a Kustomization, flat, so that two builds can be compared value by value."""

import json
from collections.abc import Callable, Mapping

from clusters_app.repo.documents import Value, mapping, parse, sequence, text
from clusters_app.repo.graph import FluxKustomizationNode
from clusters_app.repo.image_reference import ImageReference
from clusters_app.repo.kustomize import KUSTOMIZATION_NAMES
from clusters_app.repo.tree import OverlaidTree, Tree

type Render = Callable[[Tree, str], str]
"""Builds a directory of a tree as kustomize does. Raises RenderFailed for what cannot be built."""

type Signature = dict[tuple[str, ...], str]
"""Every value of a build that decides something, by object and path."""


_ORDER = {
    "OCIRepository": ("digest", "semver", "tag"),
    "GitRepository": ("name", "commit", "semver", "tag", "branch"),
}


class RenderFailed(Exception):
    """A directory cannot be built, so nothing is claimed about it."""


def as_flux_builds(tree: Tree, node: FluxKustomizationNode) -> tuple[Tree, str]:
    """The tree in which a plain build gives what Flux builds, with patches, images and components of the Kustomization.

    Flux writes them into the kustomization file of the path before it builds; an image replaces one of its name.
    """
    directory = node.path or ""
    names = [f"{directory}/{name}".lstrip("/") for name in KUSTOMIZATION_NAMES]
    path = next((name for name in names if name in tree.files()), None)
    spec = node.spec
    if path is None or not any(spec.get(key) for key in ("patches", "images", "components", "targetNamespace")):
        return tree, directory
    parsed = parse(tree.read(path))
    value = dict(parsed.documents[0].value) if parsed.documents else {}
    value["patches"] = [*sequence(value, "patches"), *sequence(spec, "patches")]
    value["components"] = [*sequence(value, "components"), *sequence(spec, "components")]
    ours = {text(image, "name") for image in sequence(spec, "images")}
    own = [image for image in sequence(value, "images") if text(image, "name") not in ours]
    value["images"] = [*own, *sequence(spec, "images")]
    if namespace := text(spec, "targetNamespace"):
        value["namespace"] = namespace
    return OverlaidTree(tree, {path: json.dumps(value).encode()}), directory


def signature_of(built: str) -> Signature:
    """What of a build decides, flat."""
    found: Signature = {}
    for number, document in enumerate(parse(built.encode()).documents):
        value = document.value
        key = (
            (document.group, document.kind, document.namespace, document.name) if document.is_object else (str(number),)
        )
        _flatten(_effective(value), key, found)
    return found


def _effective(value: Value) -> Value:
    """An object with only the field of a source's reference that decides."""
    order = _ORDER.get(text(value, "kind"))
    reference = mapping(value, "spec", "ref")
    if order is None or not reference:
        return value
    decides = next((name for name in order if name in reference), None)
    kept = {decides: reference[decides]} if decides else reference
    return {**value, "spec": {**mapping(value, "spec"), "ref": dict(kept)}}


def _flatten(value: object, key: tuple[str, ...], found: Signature) -> None:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            _flatten(inner, (*key, str(name)), found)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            _flatten(inner, (*key, str(number)), found)
    else:
        found[key] = _pulled(str(value)) if key[-1] == "image" else json.dumps(value, ensure_ascii=False, default=str)


def _pulled(text_: str) -> str:
    """An image by what decides: a digest makes the tag beside it a remark."""
    image = ImageReference.parse(text_)
    return f"{image.repository}@{image.digest}" if image and image.digest else text_
