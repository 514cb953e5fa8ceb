"""What a decision about a value may look at, and what it may say."""

from dataclasses import dataclass, field
from typing import Literal

from clusters_app.repo.compare import Difference, Parsed, parsed
from clusters_app.repo.edit import Plain
from clusters_app.repo.edit_content import Content
from clusters_app.repo.edit_nodes import EditRefused
from clusters_app.repo.edit_paths import Path, Place, Step, locate
from clusters_app.repo.history import LastPromotion
from clusters_app.repo.leaves import Leaf
from clusters_app.repo.plan_model import Remark
from clusters_app.repo.rules import Rules, Verdict
from clusters_app.repo.tree import Tree

ANSWER = "answer it on the promotion's page, or write a rule in .flotilla/promotion.yaml"


@dataclass(frozen=True, slots=True)
class ValueEdit:
    """One value to set, insert or remove. `content` is what an insertion writes, behind its sibling `after`."""

    kind: Literal["set", "insert", "remove"]
    file: str
    document: int
    path: Path
    old: str | None
    new: str | None
    value: str | Plain = ""
    at_anchor: bool = False
    content: Content = ""
    after: Step | None = None
    leaf: Leaf | None = None
    app: str = ""


@dataclass
class Outcome:
    """What was decided so far, in the order in which it was found."""

    edits: list[ValueEdit] = field(default_factory=list)
    kept: list[Remark] = field(default_factory=list)
    asks: list[Remark] = field(default_factory=list)
    refusals: list[Remark] = field(default_factory=list)

    def add(self, other: "Outcome") -> None:
        self.edits += other.edits
        self.kept += other.kept
        self.asks += other.asks
        self.refusals += other.refusals

    def ask(self, remark: Remark) -> None:
        """The same question is asked once."""
        if remark.id not in {known.id for known in self.asks}:
            self.asks.append(remark)


@dataclass(frozen=True)
class Scope:
    """What a decision may look at. `answers`: ids of asks that a person answered with "take it over"."""

    tree: Tree
    app: str
    environments: tuple[str, str]
    rules: Rules
    past: LastPromotion | None
    answers: frozenset[str] = frozenset()
    created: frozenset[str] = frozenset()
    """Files of the source that are copied: the lines that list them go along."""
    deleted: frozenset[str] = frozenset()
    """Files of the target that go, with the lines that list them."""
    neighbours: frozenset[str] = frozenset()
    """Other apps: where one stands in the same file, its objects are its own."""

    def verdict(self, file: str, leaf: Leaf) -> Verdict:
        return self.rules.of(file, leaf, app=self.app, to=self.environments[1])

    def before(self, both: "Documents", path: Path) -> tuple[Leaf | None, Leaf | None]:
        """The value in the target as the last promotion left it, and in the source as that promotion found it."""
        if self.past is None:
            return None, None
        identity = both.target.identity(both.numbers[1], self.environments[1])
        written = value_at(self.past.written, both.target.path, identity, path, self.environments[1])
        if self.past.source is None:
            return written, None
        return written, value_at(self.past.source, both.source.path, identity, path, self.environments[0])

    def remark(self, code: str, difference: Difference, why: str, remedy: str = "") -> Remark:
        target = difference.target.text if difference.target is not None else None
        path = difference.missing if difference.is_new_item else difference.path
        return Remark(code, self.app, difference.file, path, difference.source.text, target, why, remedy)


@dataclass(frozen=True)
class Documents:
    """The two documents of one object that are compared, by file and number."""

    source: Parsed
    target: Parsed
    numbers: tuple[int, int]

    @property
    def in_source(self) -> tuple[Leaf, ...]:
        return self.source.documents[self.numbers[0]]

    def source_place(self, path: Path) -> Place:
        return locate(self.source.stream, self.numbers[0], path)

    def target_place(self, path: Path) -> Place:
        return locate(self.target.stream, self.numbers[1], path)


def value_at(tree: Tree, file: str, identity: tuple[str, str], path: Path, environment: str) -> Leaf | None:
    """The value at a path of the same object in another tree."""
    try:
        there = parsed(tree, file)
    except EditRefused:
        return None
    for number in range(len(there.stream.documents)):
        if there.identity(number, environment) == identity and (leaf := there.by_path(number).get(path)):
            return leaf
    return None
