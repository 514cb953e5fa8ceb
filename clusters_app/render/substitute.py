"""Flux's post-build substitution, as its controllers do it: the same answers as their `envsubst`, oddities included.

Rules: https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution. Only `${…}` counts;
`$NAME` is text, and `$$` is one `$`. Strings and their lengths are bytes.
"""

import fnmatch
import re
from collections.abc import Callable, Mapping

from clusters_app.safe_yaml import load_repository, to_plain

from .errors import RenderRefused

SWITCH = "kustomize.toolkit.fluxcd.io/substitute"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SEPARATOR = re.compile(r"^---\n", re.MULTILINE)


def substitute_documents(text: str, variables: Mapping[str, str], *, strict: bool, always: bool = False) -> str:
    """Rendered documents with variables put in, except in objects that are labelled or annotated as disabled.

    Nothing happens without a variable, unless `always`. `strict`: a variable without value and default is an error
    (the default from Flux 2.9 on), else it becomes empty. Raises RenderRefused `substitute.…`.
    """
    for name in variables:
        if not _NAME.fullmatch(name):
            raise RenderRefused("substitute.name", name=name[:80])
    if not variables and not always:
        return text
    values = {name: value.replace("\n", "") for name, value in variables.items()}
    documents = _SEPARATOR.split(text)
    return "---\n".join(each if _is_disabled(each) else substitute(each, values, strict=strict) for each in documents)


def _is_disabled(document: str) -> bool:
    if SWITCH not in document:
        return False
    parsed = load_repository(document.encode()).documents
    value = to_plain(parsed[0].root) if parsed and parsed[0].root else None
    metadata = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(metadata, dict):
        return False
    places = (metadata.get("labels"), metadata.get("annotations"))
    return any(isinstance(place, dict) and place.get(SWITCH) == "disabled" for place in places)


def substitute(text: str, variables: Mapping[str, str], *, strict: bool) -> str:
    """One text. Raises RenderRefused `substitute.unset` or `substitute.syntax`."""
    return _Reader(text, variables, strict=strict).everything()


class _Reader:
    """Reads a text once from left to right; `_at` is the next character."""

    def __init__(self, text: str, variables: Mapping[str, str], *, strict: bool) -> None:
        self._text = text
        self._variables = variables
        self._strict = strict
        self._at = 0

    def everything(self) -> str:
        parts: list[str] = []
        while (dollar := self._text.find("$", self._at)) >= 0:
            parts.append(self._text[self._at : dollar])
            self._at = dollar
            if self._take("${"):
                parts.append(self._expression(dollar))
            else:
                self._at += 2 if self._text.startswith("$$", dollar) else 1
                parts.append("$")
        return "".join([*parts, self._text[self._at :]])

    def _take(self, word: str) -> bool:
        if not self._text.startswith(word, self._at):
            return False
        self._at += len(word)
        return True

    def _expression(self, start: int) -> str:
        """What stands for `${…}`, from behind its opening brace to behind its closing one."""
        if self._take("#"):
            name = self._name(start)
            self._close(start, "bad substitution")
            return str(len(self._value(name).encode()))
        name = self._name(start)
        for operator, operation in _OPERATIONS:
            if self._take(operator):
                return operation(self, name, start)
        self._close(start, "missing closing brace")
        return self._value(name)

    def _name(self, start: int) -> str:
        end = self._at
        while end < len(self._text) and (self._text[end].isalnum() or self._text[end] == "_"):
            end += 1
        if end == self._at:
            raise self._wrong(start, "unable to parse variable name")
        name, self._at = self._text[self._at : end], end
        return name

    def _value(self, name: str) -> str:
        if name in self._variables:
            return self._variables[name]
        if self._strict:
            raise RenderRefused("substitute.unset", name=name)
        return ""

    def _close(self, start: int, said: str) -> None:
        if not self._take("}"):
            raise self._wrong(start, said)

    def _argument(self, start: int, until: str, *, escape: str = "") -> str:
        """Text up to one of the characters `until`, which stays; expressions inside are replaced, `$$` is kept."""
        parts: list[str] = []
        while self._at < len(self._text):
            character = self._text[self._at]
            if character in until:
                return "".join(parts)
            if escape and (self._text.startswith(f"\\{escape}", self._at) or self._text.startswith("\\\\", self._at)):
                parts.append(self._text[self._at + 1])
                self._at += 2
            elif self._take("${"):
                parts.append(self._expression(self._at - 2))
            else:
                parts.append(character)
                self._at += 1
        raise self._wrong(start, "missing closing brace")

    def _wrong(self, start: int, said: str) -> RenderRefused:
        return RenderRefused("substitute.syntax", what=self._text[start : start + 20].splitlines()[0], said=said)

    # One method for each family of operators

    def default(self, name: str, start: int) -> str:
        """`:-`, `:=`, `=`, and `:+` and `:?`, which Flux reads as the same."""
        otherwise = self._argument(start, "}")
        self._close(start, "missing closing brace")
        return self._variables.get(name, "") or otherwise

    def slice(self, name: str, start: int) -> str:
        """`:position` and `:position:length`; what is no number leaves the value as it is."""
        position = self._argument(start, ":}")
        length = self._argument(start, "}") if self._take(":") else None
        self._close(start, "missing closing brace")
        if position == "" or length == "":
            raise self._wrong(start, "a number is missing")
        return _sliced(self._value(name), position, length)

    def replace(self, name: str, start: int, *, count: int = 1, anchor: str = "") -> str:
        """`/old/new`, plain text and not a pattern; `\\/` is a slash."""
        old = self._argument(start, "/", escape="/")
        if not old:
            raise self._wrong(start, "bad substitution")
        # One slash ends the old text; a second one, which Flux swallows too, does not begin the new one.
        if not self._take("//"):
            self._take("/")
        new = self._argument(start, "}", escape="/")
        self._close(start, "missing closing brace")
        value = self._value(name)
        if anchor == "#":
            return new + value.removeprefix(old) if value.startswith(old) else value
        if anchor == "%":
            return value.removesuffix(old) + new if value.endswith(old) else value
        return value.replace(old, new, count)

    def trim(self, name: str, start: int, *, end: bool, longest: bool) -> str:
        """`#`, `##`, `%`, `%%`: cut what a shell pattern matches, at least one character."""
        pattern = self._argument(start, "}")
        self._close(start, "missing closing brace")
        if not pattern:
            raise self._wrong(start, "a pattern is missing")
        return _trimmed(self._value(name), pattern, end=end, longest=longest)

    def case(self, name: str, start: int, *, change: Callable[[str], str]) -> str:
        self._close(start, "bad substitution")
        return change(self._value(name))


def _sliced(value: str, position: str, length: str | None) -> str:
    raw = value.encode()
    try:
        begin = int(position) if position.strip() == position else None
        count = None if length is None else int(length)
    except ValueError:
        return value
    if begin is None or begin < 0:
        return value
    if begin > len(raw):
        return ""
    end = len(raw) if count is None else len(raw) + count if count < 0 else begin + count
    return raw[begin:end].decode(errors="replace")


def _trimmed(value: str, pattern: str, *, end: bool, longest: bool) -> str:
    matches = _shell_pattern(pattern)
    sizes = range(len(value), 0, -1) if longest else range(1, len(value) + 1)
    for size in sizes:
        if matches(value[-size:] if end else value[:size]):
            return value[:-size] if end else value[size:]
    return value


def _shell_pattern(pattern: str) -> Callable[[str], object]:
    """A matcher for `*`, `?`, `[a-b]`, `[^a]`; `*` passes over slashes. An unclosed bracket matches nothing."""
    if pattern.count("[") > pattern.count("]"):
        return lambda _: None
    return re.compile(fnmatch.translate(pattern.replace("[^", "[!").replace("\\*", "[*]").replace("\\?", "[?]"))).match


def _first_upper(value: str) -> str:
    return value[:1].upper() + value[1:]


def _first_lower(value: str) -> str:
    return value[:1].lower() + value[1:]


# Longer operators stand before those that they begin with.
_OPERATIONS: tuple[tuple[str, Callable[[_Reader, str, int], str]], ...] = (
    *((operator, _Reader.default) for operator in (":-", ":=", ":+", ":?", "=")),
    (":", _Reader.slice),
    ("^^", lambda reader, name, start: reader.case(name, start, change=str.upper)),
    ("^", lambda reader, name, start: reader.case(name, start, change=_first_upper)),
    (",,", lambda reader, name, start: reader.case(name, start, change=str.lower)),
    (",", lambda reader, name, start: reader.case(name, start, change=_first_lower)),
    ("##", lambda reader, name, start: reader.trim(name, start, end=False, longest=True)),
    ("#", lambda reader, name, start: reader.trim(name, start, end=False, longest=False)),
    ("%%", lambda reader, name, start: reader.trim(name, start, end=True, longest=True)),
    ("%", lambda reader, name, start: reader.trim(name, start, end=True, longest=False)),
    ("//", lambda reader, name, start: reader.replace(name, start, count=-1)),
    ("/#", lambda reader, name, start: reader.replace(name, start, anchor="#")),
    ("/%", lambda reader, name, start: reader.replace(name, start, anchor="%")),
    ("/", _Reader.replace),
)
