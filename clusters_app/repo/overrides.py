"""What overrides an edit, as far as the texts alone tell it: for when nothing can be built to prove it.

Looked at: patches that the same kustomization lists later, and the patches and images of the Flux Kustomization.
"""

from collections.abc import Iterator

from clusters_app.repo.compare import parsed
from clusters_app.repo.edit_nodes import EditRefused
from clusters_app.repo.graph import FluxKustomizationNode
from clusters_app.repo.kustomize import KUSTOMIZATION_NAMES
from clusters_app.repo.leaves import Leaf
from clusters_app.repo.one_sided import names_file
from clusters_app.repo.plan_scope import ValueEdit
from clusters_app.repo.tree import Tree


def overriding_file(tree: Tree, edit: ValueEdit, node: FluxKustomizationNode) -> tuple[str, str] | None:
    """The file that sets the same field later, and what it sets; None when none is seen."""
    if edit.leaf is None:
        return None
    for path, leaf in (*_of_flux(tree, node), *_listed_later(tree, edit.file)):
        if path != edit.file and _is_same_field(leaf, edit.leaf):
            return path, leaf.text
    return None


def _of_flux(tree: Tree, node: FluxKustomizationNode) -> Iterator[tuple[str, Leaf]]:
    if not node.implied and node.file:
        for leaf in _leaves(tree, node.file, node.document):
            if leaf.path[:1] == ("spec",) and leaf.path[1:2] in (("patches",), ("images",)):
                yield node.file, leaf


def _listed_later(tree: Tree, file: str) -> Iterator[tuple[str, Leaf]]:
    """The values of patches that stand behind this file in the list of its own directory."""
    directory = file.rpartition("/")[0]
    names = [f"{directory}/{name}" for name in KUSTOMIZATION_NAMES if f"{directory}/{name}" in tree.files()]
    listed = [(leaf, names_file(names[0], leaf)) for leaf in _leaves(tree, names[0], 0)] if names else []
    patches = [(leaf, files) for leaf, files in listed if leaf.path[0] == "patches"]
    position = next((number for number, (_, files) in enumerate(patches) if file in files), len(patches))
    for leaf, files in patches[position + 1 :]:
        yield names[0], leaf
        for path in files & tree.files().keys():
            yield from ((path, inner) for inner in _leaves(tree, path, 0))


def _leaves(tree: Tree, path: str, document: int) -> tuple[Leaf, ...]:
    try:
        return parsed(tree, path).documents[document]
    except (EditRefused, IndexError):
        return ()


def _is_same_field(one: Leaf, other: Leaf) -> bool:
    """The same field of an object of the same kind. An index of a JSON patch may be any item of the list."""
    kinds = {one.kind_of_object, other.kind_of_object} - {""}
    if len(kinds) > 1 and "images" not in one.field:
        return False
    mine, yours = _below_images(one.field), _below_images(other.field)
    pairs = zip(mine, yours, strict=False)
    return len(mine) == len(yours) and all(a == b or a.isdigit() or b.isdigit() for a, b in pairs)


def _below_images(field: tuple[str, ...]) -> tuple[str, ...]:
    """`spec.images` of a Flux Kustomization are the `images` of the overlay."""
    return field[1:] if field[:2] == ("spec", "images") else field
