"""Where the same file differs between two environments, value by value."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from clusters_app.repo import fields
from clusters_app.repo.edit_nodes import EditRefused, Node, Stream, parse
from clusters_app.repo.edit_paths import Match, Path, Place, field_text, locate
from clusters_app.repo.environments import canonical, tokens
from clusters_app.repo.image_reference import ImageReference
from clusters_app.repo.kustomize import KUSTOMIZATION_NAMES
from clusters_app.repo.leaves import Leaf, leaves_of
from clusters_app.repo.tree import Tree, TreeError, is_binary


@dataclass(frozen=True)
class Parsed:
    """A file as nodes, with the values of each document."""

    path: str
    stream: Stream

    @cached_property
    def documents(self) -> tuple[tuple[Leaf, ...], ...]:
        kind = "Kustomization" if self.path.rpartition("/")[2] in KUSTOMIZATION_NAMES else ""
        return tuple(tuple(leaves_of(self.stream, number, kind)) for number in range(len(self.stream.documents)))

    def by_path(self, document: int) -> dict[Path, Leaf]:
        return {leaf.path: leaf for leaf in self.documents[document]}

    def identity(self, document: int, environment: str) -> tuple[str, str]:
        """Kind and name of a document, the environment's name taken out; empty texts for a file of plain values."""
        root = self.stream.documents[document]
        if root is None or root.kind != "mapping":
            return "", ""
        metadata = next((value for key, value in root.entries if key.value == "metadata"), None)
        name = field_text(metadata, "name") if metadata is not None else ""
        parts = [part for part in tokens(name or "") if canonical(part) != canonical(environment)]
        return field_text(root, "kind") or "", "-".join(parts)

    def belongs_to(self, document: int, environment: str, apps: Collection[str]) -> bool:
        """Whether a document is the workload that one of these apps is named after."""
        kind, name = self.identity(document, environment)
        return kind in _WORKLOADS and name in apps


_WORKLOADS = frozenset({"HelmRelease", "Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job", "Rollout"})


def parsed(tree: Tree, path: str) -> Parsed:
    """EditRefused for a file that is not there or cannot be read as YAML or JSON."""
    try:
        data = tree.read(path)
    except TreeError as error:
        raise EditRefused("unreadable", str(error)) from error
    if is_binary(data):
        raise EditRefused("binary", "a binary file")
    return Parsed(path, parse(data))


def is_encrypted(file: Parsed) -> bool:
    """Whether SOPS keeps a checksum over the file: any edit, also of a clear field, would break it."""
    roots = [root for root in file.stream.documents if root is not None and root.kind == "mapping"]
    return any(key.value == "sops" and value.kind == "mapping" for root in roots for key, value in root.entries)


def pair_documents(source: Parsed, target: Parsed, environments: tuple[str, str]) -> Iterator[tuple[int, int]]:
    """Documents of the same object; a document of no kind is paired by its place."""
    wanted: dict[tuple[str, str], int] = {}
    for number in range(len(target.stream.documents)):
        wanted.setdefault(target.identity(number, environments[1]), number)
    for number in range(len(source.stream.documents)):
        identity = source.identity(number, environments[0])
        if identity in wanted:
            yield number, wanted.pop(identity)
        elif len(source.stream.documents) == len(target.stream.documents) == 1 and identity[0] in _kinds(target):
            yield 0, 0


def _kinds(target: Parsed) -> set[str]:
    return {target.identity(number, "")[0] for number in range(len(target.stream.documents))}


@dataclass(frozen=True)
class Difference:
    """A value of the source that the target does not have in the same way.

    `target` is None where it has no such value; then `missing` is the shortest path that does not exist there, and
    `problem` says why when the path is not simply missing (doubled key, ambiguous item).
    """

    source_file: str
    file: str
    document: int
    source: Leaf
    target: Leaf | None
    missing: Path = ()
    problem: EditRefused | None = None

    @property
    def path(self) -> Path:
        return self.source.path

    @property
    def is_new_item(self) -> bool:
        return bool(self.missing) and isinstance(self.missing[-1], Match)


def differences(source: Parsed, target: Parsed, pair: tuple[int, int]) -> Iterator[Difference]:
    """Every difference of two documents, in the order of the source."""
    there: dict[Path, list[Leaf]] = {}
    for leaf in target.documents[pair[1]]:
        there.setdefault(leaf.path, []).append(leaf)
    for leaf in source.documents[pair[0]]:
        others = there.get(leaf.path, [])
        if others and all(is_same(leaf, other) for other in others):
            continue
        if len(others) == 1:
            yield Difference(source.path, target.path, pair[1], leaf, others[0])
            continue
        missing, problem = _missing(target.stream, pair[1], leaf.path)
        place = None if missing else _place(target.stream, pair[1], leaf.path)
        if place is None:
            yield Difference(source.path, target.path, pair[1], leaf, None, missing or leaf.path, problem)
        else:
            found = Leaf(leaf.path, leaf.field, leaf.kind_of_object, place)
            if not is_same(leaf, found):
                yield Difference(source.path, target.path, pair[1], leaf, found)


def _place(stream: Stream, document: int, path: Path) -> Place | None:
    try:
        return locate(stream, document, path)
    except EditRefused:
        return None


def _missing(stream: Stream, document: int, path: Path) -> tuple[Path, EditRefused | None]:
    """The shortest prefix that is not there, and the reason when it is not only absent."""
    for length in range(1, len(path) + 1):
        try:
            locate(stream, document, path[:length])
        except EditRefused as error:
            return path[:length], None if error.code == "edit.missing" else error
    return (), None


def is_same(one: Leaf, other: Leaf) -> bool:
    """Whether two values are one; of an image only tag and digest are compared."""
    if fields.is_image(one) or fields.is_image(other):
        mine, yours = ImageReference.parse(one.text), ImageReference.parse(other.text)
        if mine and yours and mine.name == yours.name:
            return (mine.tag, mine.digest) == (yours.tag, yours.digest)
    if not one.is_scalar or not other.is_scalar:
        return _shape(one.node) == _shape(other.node)
    is_version = fields.is_promoted_field(one)
    return one.text == other.text and (is_version or one.is_string == other.is_string)


def _shape(node: Node) -> object:
    if node.kind == "alias" and node.target is not None:
        return _shape(node.target)
    if node.kind == "mapping":
        return {key.value: _shape(value) for key, value in node.entries}
    if node.kind == "sequence":
        return [_shape(item) for item in node.items]
    return node.value


def only_there(source: Parsed, target: Parsed, pair: tuple[int, int]) -> list[Leaf]:
    """Values that the target has and the source lacks."""
    known = source.by_path(pair[0]).keys()
    return [leaf for leaf in target.documents[pair[1]] if leaf.path not in known]


def users_of(target: Parsed, document: int, leaf: Leaf) -> Sequence[Leaf]:
    """Every value of the document that is written at the same spot: more than one where an anchor is shared."""
    return [other for other in target.documents[document] if other.node is leaf.node]
