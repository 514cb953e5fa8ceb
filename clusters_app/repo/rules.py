"""Promotion rules: for each value, file and directory whether it is promoted, kept, asked about or never touched.

`.flotilla/promotion.yaml` holds the repository's own rules. Precedence: never > the repository's rules, most specific
first > files named as promoted > what is known to belong to an environment > what is known to be a version > ask.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from clusters_app.repo import fields
from clusters_app.repo.documents import documents
from clusters_app.repo.environments import canonical
from clusters_app.repo.leaves import Leaf
from clusters_app.repo.tree import Tree

RULES_PATH = ".flotilla/promotion.yaml"

PROMOTED_NAMES = frozenset({"version", "settings"})
KEPT_NAMES = frozenset({"env", "cluster-vars"})
_BOOTSTRAP = frozenset({"gotk-components.yaml", "gotk-sync.yaml"})


class Action(StrEnum):
    PROMOTE = "promote"
    KEEP = "keep"
    ASK = "ask"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What happens to a value and why. `code` is stable; `why` is English for people, `detail` what it speaks of."""

    action: Action
    code: str
    why: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the repository. What is empty matches everything.

    `path` is a list of keys: `*` is any one, `**` any number; a list item is named by the text of its merge key.
    """

    action: Action
    files: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    apps: tuple[str, ...] = ()
    to: tuple[str, ...] = ()
    why: str = ""

    @property
    def specificity(self) -> tuple[int, int, int]:
        exact = sum(1 for key in self.path if key not in ("*", "**"))
        return exact, len(self.path), sum(map(bool, (self.files, self.kinds, self.apps, self.to)))

    def speaks_of(self, file: str, app: str, to: str) -> bool:
        return (
            (not self.files or any(_glob(pattern, file) for pattern in self.files))
            and (not self.apps or app in self.apps)
            and (not self.to or to in self.to)
        )

    def matches(self, leaf: Leaf) -> bool:
        return (not self.kinds or leaf.kind_of_object in self.kinds) and (
            not self.path or _path_matches(self.path, _plain(leaf.field)) or _path_matches(self.path, _plain_path(leaf))
        )


def _plain(field: Sequence[str]) -> tuple[str, ...]:
    return tuple(re.sub(r"^(name|path|releaseName|mountPath|kind|target)=", "", key) for key in field)


def _plain_path(leaf: Leaf) -> tuple[str, ...]:
    return _plain([str(step) for step in leaf.path])


def _path_matches(pattern: Sequence[str], keys: Sequence[str]) -> bool:
    if not pattern:
        return not keys
    if pattern[0] == "**":
        return any(_path_matches(pattern[1:], keys[number:]) for number in range(len(keys) + 1))
    return bool(keys) and pattern[0] in ("*", keys[0]) and _path_matches(pattern[1:], keys[1:])


def _glob(pattern: str, path: str) -> bool:
    """`*` stays within a directory, `**` crosses them; a directory's name stands for all that is in it."""
    if pattern.endswith("/"):
        return path.startswith(pattern)
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.fullmatch("".join(known.get(part, re.escape(part)) for part in parts), path) is not None


@dataclass(frozen=True)
class Rules:
    """All rules for one repository. `of` answers for a value, `of_file` for a whole file."""

    own: tuple[Rule, ...] = ()
    automation: Mapping[str, bool] = None  # type: ignore[assignment]

    def forbids_automation(self, environment: str) -> bool:
        """Whether image automation may not write there: said by the repository, else production."""
        said = (self.automation or {}).get(environment)
        return canonical(environment) == "prod" if said is None else not said

    def of_file(self, file: str, *, app: str = "", to: str = "") -> Verdict:
        """For a file as a whole: a new one, a removed one, a binary one."""
        if verdict := self._never(file, None, app, to):
            return verdict
        if rule := self._own(file, None, app, to):
            return _by_rule(rule)
        name = file.rpartition("/")[2]
        if is_promoted_name(file):
            return Verdict(Action.PROMOTE, "promoted-file", f"files named {name} are promoted", name)
        if name.partition(".")[0] in KEPT_NAMES:
            return Verdict(Action.KEEP, "kept-file", f"files named {name} belong to their environment", name)
        return Verdict(Action.ASK, "unknown-file", "no rule knows this file", name)

    def of(self, file: str, leaf: Leaf, *, app: str = "", to: str = "") -> Verdict:
        """For one value of a file."""
        if verdict := self._never(file, leaf, app, to):
            return verdict
        if rule := self._own(file, leaf, app, to):
            return _by_rule(rule)
        return _by_name(file, leaf) or _by_field(leaf)

    def explain(self, file: str, leaf: Leaf | None = None, *, app: str = "", to: str = "") -> str:
        """Why a value or a file is promoted, kept or asked about, as one sentence."""
        verdict = self.of(file, leaf, app=app, to=to) if leaf else self.of_file(file, app=app, to=to)
        return f"{verdict.action}: {verdict.why}"

    def _never(self, file: str, leaf: Leaf | None, app: str, to: str) -> Verdict | None:
        name = file.rpartition("/")[2]
        if name in _BOOTSTRAP or file.startswith(".flotilla/"):
            return Verdict(Action.NEVER, "bootstrap", f"{name} belongs to Flux or to Flotilla itself", name)
        if leaf is not None and leaf.field[-1:] == ("suspend",):
            return Verdict(
                Action.NEVER, "suspend", "whether something is suspended is decided in each environment", "suspend"
            )
        if leaf is not None and _is_secret(leaf):
            return Verdict(Action.NEVER, "secret", "the data of Secrets is never promoted", leaf.field[-1])
        for rule in self.own:
            if rule.action is Action.NEVER and rule.speaks_of(file, app, to) and _concerns(rule, leaf):
                return _by_rule(rule)
        return None

    def _own(self, file: str, leaf: Leaf | None, app: str, to: str) -> Rule | None:
        found = [rule for rule in self.own if rule.speaks_of(file, app, to) and _concerns(rule, leaf)]
        return max(found, key=lambda rule: rule.specificity, default=None)


def _concerns(rule: Rule, leaf: Leaf | None) -> bool:
    return rule.matches(leaf) if leaf is not None else not rule.path and not rule.kinds


def is_promoted_name(file: str) -> bool:
    stem, _, suffix = file.rpartition("/")[2].partition(".")
    return stem in PROMOTED_NAMES and suffix in ("yaml", "yml", "json")


def _by_rule(rule: Rule) -> Verdict:
    return Verdict(rule.action, "rule", rule.why or f"a rule in {RULES_PATH} says so", RULES_PATH)


def _is_secret(leaf: Leaf) -> bool:
    is_data = leaf.kind_of_object == "Secret" and leaf.field[:1] in (("data",), ("stringData",))
    return is_data or leaf.field[:1] == ("secretGenerator",)


def _by_name(file: str, leaf: Leaf) -> Verdict | None:
    name = file.rpartition("/")[2]
    if is_promoted_name(file):
        if fields.is_image_name(leaf):
            return Verdict(
                Action.KEEP, "image-name", "registry and name of an image belong to the environment", leaf.field[-1]
            )
        if fields.is_identity(leaf):
            return Verdict(Action.KEEP, "identity", "it says which object this is", leaf.field[-1])
        return Verdict(Action.PROMOTE, "promoted-file", f"files named {name} are promoted", name)
    if name.partition(".")[0] in KEPT_NAMES:
        return Verdict(Action.KEEP, "kept-file", f"files named {name} belong to their environment", name)
    return None


def _by_field(leaf: Leaf) -> Verdict:
    key = leaf.field[-1] if leaf.field else ""
    is_version = fields.is_promoted_field(leaf)
    if not is_version and (fields.is_identity(leaf) or fields.is_image_name(leaf)):
        return Verdict(Action.KEEP, "identity", "it names an object or an image of this environment", key)
    if not is_version and (word := fields.kept_word(leaf)):
        return Verdict(Action.KEEP, "environment-field", f"{word} belongs to the environment", word)
    if is_version:
        return Verdict(Action.PROMOTE, "version-field", f"{key} is a version", key)
    return Verdict(Action.ASK, "unknown", "no rule knows this value", key)


class RulesError(ValueError):
    """The rules of the repository cannot be used; the message names the place in the file."""


SCHEMA: Mapping[str, object] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": RULES_PATH,
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "rules": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["action"],
                "additionalProperties": False,
                "properties": {
                    "action": {"enum": [str(action) for action in Action]},
                    **{
                        name: {"type": "array", "items": {"type": "string"}}
                        for name in ("files", "path", "kinds", "apps", "to")
                    },
                    "why": {"type": "string"},
                },
            },
        },
        "automation": {"type": "object", "additionalProperties": {"type": "boolean"}},
    },
}
"""JSON Schema of the rules file. `automation`: by environment, whether image automation may write there."""


def read_rules(tree: Tree) -> Rules:
    """The repository's rules; the defaults alone where it has none. Raises RulesError for a file that says nonsense."""
    if RULES_PATH not in tree.files():
        return Rules()
    parsed = documents(tree, RULES_PATH)
    if parsed.problem is not None or len(parsed.documents) != 1:
        raise RulesError(f"{RULES_PATH}: {parsed.problem or 'must be one document'}")
    value = parsed.documents[0].value
    _known_keys(value, ("rules", "automation"), RULES_PATH)
    items = value.get("rules", [])
    if not isinstance(items, list):
        raise RulesError(f"{RULES_PATH}: rules must be a list")
    own = tuple(_rule(item, f"{RULES_PATH}: rules[{number}]") for number, item in enumerate(items))
    return Rules(own, _automation(value.get("automation", {})))


def _known_keys(value: Mapping[str, object], known: Sequence[str], where: str) -> None:
    if unknown := sorted(set(value) - set(known)):
        raise RulesError(f"{where}: {unknown[0]} is not known, only {', '.join(known)}")


def _automation(value: object) -> Mapping[str, bool]:
    if not isinstance(value, dict) or not all(isinstance(each, bool) for each in value.values()):
        raise RulesError(f"{RULES_PATH}: automation must map environments to true or false")
    return value


def _rule(value: object, where: str) -> Rule:
    if not isinstance(value, dict):
        raise RulesError(f"{where} must be a mapping")
    _known_keys(value, ("action", "files", "path", "kinds", "apps", "to", "why"), where)
    try:
        action = Action(value.get("action", ""))
    except ValueError as error:
        raise RulesError(f"{where}: action must be one of {', '.join(Action)}") from error
    texts = {name: _texts(value, name, where) for name in ("files", "path", "kinds", "apps", "to")}
    why = value.get("why", "")
    if not isinstance(why, str):
        raise RulesError(f"{where}: why must be a text")
    return Rule(action, why=why, **texts)


def _texts(value: Mapping[str, object], name: str, where: str) -> tuple[str, ...]:
    found = value.get(name, [])
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise RulesError(f"{where}: {name} must be a list of texts")
    return tuple(map(str, found))
