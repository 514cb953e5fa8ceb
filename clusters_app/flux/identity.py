"""The names of things: objects, revisions, inventory entries and versions, each parsed in one place."""

from __future__ import annotations

import re
from functools import total_ordering
from typing import NamedTuple, Self

_HASH = re.compile(r"[0-9a-f]{7,128}")
_VERSION = re.compile(
    r"v?(?P<numbers>\d{1,18}(?:\.\d{1,18}){0,7})(?:-(?P<prerelease>[0-9A-Za-z.\-]+))?(?:[+_](?P<build>[0-9A-Za-z.\-]+))?"
)
_LEGACY = re.compile(r"(?P<pointer>.+)/(?P<hash>[0-9a-f]{40}|[0-9a-f]{64})")


class ObjectRef(NamedTuple):
    """An object of one cluster. `namespace` is empty for a cluster-scoped object; order is by kind, namespace, name."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return "/".join(part for part in self if part)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what `str` wrote: `Kind/namespace/name` or `Kind/name`. Raises ValueError otherwise."""
        parts = text.split("/")
        if len(parts) == 2:
            parts.insert(1, "")
        if len(parts) != 3 or not parts[0] or not parts[2]:
            raise ValueError(f"{text!r} is not Kind/namespace/name")
        return cls(*parts)


class Revision(NamedTuple):
    """`[pointer@]algorithm:hash`, split at the last `@`; a plain version has a pointer alone.

    The form before Flux 2.0, `main/<sha>`, is read as well.
    """

    pointer: str
    algorithm: str
    hash: str

    def __str__(self) -> str:
        return self._joined(self.hash)

    def short(self) -> str:
        """The revision with its hash cut to 8 digits, as `flux get` prints it."""
        return self._joined(self.hash[:8])

    def _joined(self, hash_: str) -> str:
        digest = f"{self.algorithm}:{hash_}" if self.hash else ""
        return "@".join(part for part in (self.pointer, digest) if part)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Never raises: what has no digest is taken for a pointer, as the version of a chart is."""
        pointer, at, digest = text.rpartition("@")
        algorithm, colon, hash_ = digest.partition(":")
        if colon and algorithm in {"sha1", "sha256", "sha384", "sha512"} and _HASH.fullmatch(hash_):
            return cls(pointer, algorithm, hash_)
        if not at and (legacy := _LEGACY.fullmatch(text)):
            algorithm = "sha1" if len(legacy["hash"]) == 40 else "sha256"
            return cls(legacy["pointer"], algorithm, legacy["hash"])
        return cls(text, "", "")

    def is_same_content(self, other: Revision) -> bool:
        """Equal by hash when both have one (a branch may have been renamed), else by pointer."""
        if self.hash and other.hash:
            return (self.algorithm, self.hash) == (other.algorithm, other.hash)
        return self == other


class InventoryEntry(NamedTuple):
    """One applied object as Kustomization `status.inventory.entries[].id` names it."""

    ref: ObjectRef
    group: str

    @classmethod
    def parse(cls, identifier: str) -> Self:
        """Read `<namespace>_<name>_<group>_<kind>`; `__` inside the name stands for `:`, the core group is empty.

        Raises ValueError when the parts are not there.
        """
        namespace, first, rest = identifier.partition("_")
        rest, last, kind = rest.rpartition("_")
        name, middle, group = rest.rpartition("_")
        if not (first and last and middle and name and kind):
            raise ValueError(f"{identifier!r} is not <namespace>_<name>_<group>_<kind>")
        return cls(ObjectRef(kind, namespace, name.replace("__", ":")), group)


@total_ordering
class Version:
    """A version as people write it: natural order, a pre-release before its release, build metadata apart.

    `v1.2`, `1.2.0.10`, `104.1.0_up2` (a tag cannot hold `+`) and `1.7.2+5c938ddd1547` are all read; a text that
    starts with no number sorts before every version, by itself.
    """

    __slots__ = ("_key", "build", "text")

    def __init__(self, text: str) -> None:
        self.text, self.build = text, ""
        if match := _VERSION.fullmatch(text.strip()):
            prerelease, self.build = match["prerelease"] or "", match["build"] or ""
            self._key: tuple[object, ...] = (1, _trimmed(match["numbers"]), not prerelease, _natural(prerelease))
        else:
            self._key = (0, (), True, _natural(text))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Version({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._key == other._key

    def __lt__(self, other: Version) -> bool:
        return self._key < other._key

    def __hash__(self) -> int:
        return hash(self._key)


def _trimmed(numbers: str) -> tuple[int, ...]:
    values = [int(number) for number in numbers.split(".")]
    while len(values) > 1 and values[-1] == 0:
        values.pop()
    return tuple(values)


def _natural(text: str) -> tuple[tuple[int, int, str], ...]:
    pieces = re.findall(r"\d+|[^\d.\-]+", text)
    return tuple((0, int(piece), "") if piece.isdigit() else (1, 0, piece) for piece in pieces)


def is_same_version(promoted: str, running: str) -> bool:
    """Whether a promoted tag or version is what runs.

    A chart taken from an OCI artifact runs as `<version>+<digest>`, so build metadata counts only when both sides
    carry it; a leading `v` and `_` for `+` never count.
    """
    first, second = Version(promoted), Version(running)
    if first.build and second.build and first.build != second.build:
        return False
    return first == second
