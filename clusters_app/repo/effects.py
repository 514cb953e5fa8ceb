"""Whether an edit changes anything that a cluster would run, proved by building before and after.

Texts that name one artifact twice (a tag beside a digest) count by the part that decides, so an edit of the other part
is no effect. What overrides an edit is found by looking for the value that has the last word.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from clusters_app.repo import fields
from clusters_app.repo.apply_edits import apply_edit
from clusters_app.repo.edit_paths import Path
from clusters_app.repo.flux_build import Render, RenderFailed, Signature, as_flux_builds, signature_of
from clusters_app.repo.graph import FleetGraph, FluxKustomizationNode
from clusters_app.repo.image_reference import ImageReference
from clusters_app.repo.overrides import overriding_file
from clusters_app.repo.plan_model import Remark
from clusters_app.repo.plan_scope import ValueEdit
from clusters_app.repo.tree import OverlaidTree, Tree, TreeError


def check_effects(
    builds: "Builds", edits: Sequence[ValueEdit], files: Mapping[str, bytes | None]
) -> tuple[list[Remark], list[Remark]]:
    """A refusal for each edit that changes nothing in any build, and the clusters that an edit does not reach.

    Builds that fail are not counted against an edit.
    """
    values = [edit for edit in edits if edit.kind == "set"]
    changed = builds.changes(files)
    if changed is None:
        return list(_by_text(builds, values)), list(_not_built(builds, edits, files))
    idle = [edit for edit in values if not _shows(edit, changed, values) and builds.is_idle(edit, edits, files)]
    # Tag and digest name one artifact: where one of them decides, the other goes along so that it does not lie.
    effective = {_artifact(edit) for edit in values if edit not in idle}
    refused = [edit for edit in idle if _artifact(edit) not in effective]
    pins = [pin for edit in values if edit not in idle for pin in _pins(builds, edit, files)]
    return [_refusal(builds, edit) for edit in refused], [*pins, *_not_built(builds, edits, files)]


def _by_text(builds: "Builds", edits: Sequence[ValueEdit]) -> Iterable[Remark]:
    """Refusals where nothing could be built, for edits that the texts alone show to be overridden everywhere."""
    for edit in edits:
        found = [overriding_file(builds.tree, edit, node) for node in builds.reached([edit.file])]
        if found and all(found):
            yield _overridden(edit, next(Overriding(*each) for each in found if each))


def _not_built(builds: "Builds", edits: Sequence[ValueEdit], files: Mapping[str, bytes | None]) -> Iterable[Remark]:
    if builds.render is None:
        return
    app = edits[0].app if edits else ""
    for node in builds.reached(files):
        if builds.changes_of(node, files) is None:
            failure = builds.failures[node.path or ""]
            why = f"{node.path} cannot be built for {node.cluster}, so no effect is proved: {failure}"
            yield Remark("not-built", app, node.file or (node.path or ""), (), None, None, why)


def _pins(builds: "Builds", edit: ValueEdit, files: Mapping[str, bytes | None]) -> Iterable[Remark]:
    """The clusters of the environment that keep a value of their own all the same."""
    for node in builds.reached([edit.file]):
        changed = builds.changes_of(node, files)
        if changed is not None and not any(_says(text, _version(edit.new)) for text in changed):
            found = _overriding(builds, edit, node)
            if found is not None:
                why = f"{node.cluster} stays on {found.value}: pinned in {found.file}"
                yield Remark("cluster-pin", edit.app, found.file, edit.path, edit.new, found.value, why)


def _artifact(edit: ValueEdit) -> tuple[str, int, Path]:
    is_reference = edit.leaf is not None and fields.reference_fields(edit.leaf)
    return edit.file, edit.document, edit.path[:-1] if is_reference else edit.path


def _shows(edit: ValueEdit, changed: Iterable[str], edits: Sequence[ValueEdit]) -> bool:
    """Whether the new value appears in what changed, and no other edit could be the reason."""
    new = _version(edit.new)
    alone = sum(1 for other in edits if _version(other.new) == new) == 1
    return alone and any(_says(text, new) for text in changed)


def _says(text: str, version: str) -> bool:
    """Whether a text holds a version as a whole: `1.2` is not in `1.2.1`."""
    return re.search(rf"(?<![\w.-]){re.escape(version)}(?![\w-]|\.\w)", text) is not None


def _version(new: str | None) -> str:
    image = ImageReference.parse(new or "")
    if image is None or (image.tag is None and image.digest is None):
        return new or ""
    return image.digest or image.tag or ""


class Builds:
    """The builds of one environment before and after; each directory is built once for each state."""

    def __init__(self, tree: Tree, graph: FleetGraph, environment: str, render: Render | None) -> None:
        self.tree = tree
        self.render = render
        self.nodes = [
            node for cluster in graph.clusters_in(environment) for node in cluster.kustomizations if node.path
        ]
        self._before: dict[tuple[str, str], Signature | None] = {}
        self.failures: dict[str, str] = {}
        self._changes: dict[tuple[str, str, int], list[str] | None] = {}

    def reached(self, files: Iterable[str]) -> list[FluxKustomizationNode]:
        wanted = set(files)
        found = [node for node in self.nodes if node.files & wanted]
        return list({(node.path, json.dumps(node.spec, sort_keys=True, default=str)): node for node in found}.values())

    def signature(self, tree: Tree, node: FluxKustomizationNode) -> Signature | None:
        if self.render is None:
            return None
        built, path = as_flux_builds(tree, node)
        try:
            return signature_of(self.render(built, path))
        except RenderFailed as error:
            self.failures[path] = str(error)
            return None

    def before(self, node: FluxKustomizationNode) -> Signature | None:
        key = (node.cluster, node.ref)
        if key not in self._before:
            self._before[key] = self.signature(self.tree, node)
        return self._before[key]

    def changes(self, files: Mapping[str, bytes | None]) -> list[str] | None:
        """The values that the files change, after the change; None when no build could be compared."""
        found = [self.changes_of(node, files) for node in self.reached(files)]
        compared = [changed for changed in found if changed is not None]
        return [text for changed in compared for text in changed] if compared else None

    def changes_of(self, node: FluxKustomizationNode, files: Mapping[str, bytes | None]) -> list[str] | None:
        """The same for one Flux Kustomization of one cluster."""
        key = (node.cluster, node.ref, hash(tuple(sorted(files.items(), key=lambda item: item[0]))))
        if key not in self._changes:
            old, new = self.before(node), self.signature(OverlaidTree(self.tree, files), node)
            self._changes[key] = None if old is None or new is None else _changed(old, new)
        return self._changes[key]

    def is_idle(self, edit: ValueEdit, edits: Sequence[ValueEdit], files: Mapping[str, bytes | None]) -> bool:
        """Whether leaving this one edit out leaves every build as it is."""
        data = self.tree.read(edit.file)
        for other in edits:
            if other.file == edit.file and other is not edit:
                data = apply_edit(data, other)
        with_it, without_it = self.changes(files), self.changes({**files, edit.file: data})
        return with_it is not None and without_it is not None and sorted(with_it) == sorted(without_it)


def _changed(old: Signature, new: Signature) -> list[str]:
    changed = [value for key, value in new.items() if old.get(key) != value]
    return changed + [old[key] for key in sorted(old.keys() - new.keys())]


# --- what has the last word


@dataclass(frozen=True, slots=True)
class Overriding:
    file: str
    value: str


def _refusal(builds: Builds, edit: ValueEdit) -> Remark:
    everywhere = (_overriding(builds, edit, node) for node in builds.reached([edit.file]))
    found = next((each for each in everywhere if each is not None), None)
    if found is not None:
        return _overridden(edit, found)
    why = "the edit changes nothing in any render: something else sets this value later"
    return Remark("no-effect", edit.app, edit.file, edit.path, edit.new, edit.old, why, "look for what sets it")


def _overridden(edit: ValueEdit, found: Overriding) -> Remark:
    why = f"the edit changes nothing in any render: {found.file} has the last word and says {found.value}"
    remedy = f"change or remove the patch or value in {found.file}, then promote again"
    return Remark("no-effect", edit.app, edit.file, edit.path, edit.new, edit.old, why, remedy)


def _overriding(builds: Builds, edit: ValueEdit, node: FluxKustomizationNode) -> Overriding | None:
    """The file in which the value stands that a build ends up with."""
    for value in filter(None, _last_words(builds.before(node) or {}, edit)):
        for path in (node.file, *sorted(node.files - {edit.file})):
            if path in builds.tree.files() and _stands_in(builds.tree, path, value):
                return Overriding(path, value)
    return None


def _last_words(signature: Signature, edit: ValueEdit) -> list[str]:
    """Values that the build has where the edit wanted its own: same field of the same object, or same image."""
    leaf = edit.leaf
    if leaf is None:
        return []
    order = fields.reference_fields(leaf)
    if fields.is_image(leaf) or order == fields.IMAGE_FIELDS:
        names = _image_names(edit)
        images = [value for key, value in signature.items() if key[-1] == "image"]
        return [_tail(value) for value in images if (image := ImageReference.parse(value)) and image.name in names]
    plain = [key for key in leaf.field if "=" not in key]
    # Of a source's reference the build shows the field that decides, whichever it is.
    ends = [[*plain[:-1], name] for name in order] or [plain]
    return [_plain(value) for key, value in signature.items() if _is_of(key, leaf.kind_of_object, ends)]


def _is_of(key: tuple[str, ...], kind: str, ends: list[list[str]]) -> bool:
    named = [part for part in key if not part.isdigit()]
    return (not kind or kind in key[:2]) and any(named[-len(end) :] == end for end in ends)


def _plain(value: str) -> str:
    return str(json.loads(value)) if value.startswith('"') else value


def _image_names(edit: ValueEdit) -> set[str]:
    leaf = edit.leaf
    if leaf is None:
        return set()
    if leaf.field[-1] == "image":
        image = ImageReference.parse(leaf.text)
        return {image.name} if image else set()
    entries = {key.value: value.value for key, value in leaf.place.parents[-1].entries}
    return {entries[name].rpartition("/")[2] for name in ("name", "newName") if name in entries}


def _tail(value: str) -> str:
    image = ImageReference.parse(value)
    return (image.digest or image.tag or "") if image else value


def _stands_in(tree: Tree, path: str, value: str) -> bool:
    try:
        return value.encode() in tree.read(path)
    except TreeError:
        return False
