"""What a promotion plan says: edits, what is kept, what a person is asked, and what is refused."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from clusters_app.repo.edit_paths import Match, Path

type Json = str | int | bool | list[Json] | dict[str, Json] | None
type EditKind = Literal["set", "insert", "remove", "create", "delete", "rename", "mode"]


def path_as_json(path: Path) -> list[Json]:
    """Keys as texts; a list item as the fields that find it, `{"": text}` for a plain one."""
    return [dict(step.fields) if isinstance(step, Match) else step for step in path]


def path_as_text(path: Path) -> str:
    return " → ".join(str(step) or '""' for step in path)


@dataclass(frozen=True, slots=True)
class Edit:
    """One planned change. `old` and `new` are texts of values; of a whole file the SHA-256 of its content."""

    kind: EditKind
    file: str
    path: Path
    old: str | None
    new: str | None
    app: str

    def as_json(self) -> dict[str, Json]:
        return {
            "kind": self.kind,
            "file": self.file,
            "path": path_as_json(self.path),
            "old": self.old,
            "new": self.new,
            "app": self.app,
        }


@dataclass(frozen=True, slots=True)
class Remark:
    """A difference that is not carried over, and why: kept, asked about or refused.

    `code` is stable; `why` is English; `remedy` says what a person can do. `source` and `target` are the values now.
    """

    code: str
    app: str
    file: str
    path: Path
    source: str | None
    target: str | None
    why: str
    remedy: str = ""

    @property
    def id(self) -> str:
        """Stable as long as the question is the same: an answer to it can be remembered."""
        parts = [self.app, self.file, path_as_json(self.path), self.source, self.target, self.code]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()[:16]

    def as_json(self) -> dict[str, Json]:
        return {
            "id": self.id,
            "code": self.code,
            "app": self.app,
            "file": self.file,
            "path": path_as_json(self.path),
            "source": self.source,
            "target": self.target,
            "why": self.why,
            "remedy": self.remedy,
        }


@dataclass(frozen=True)
class Plan:
    """A promotion of one or several apps, all or nothing. `files` is what to write, None to delete.

    With a refusal nothing is written: `edits` and `files` are empty. `is_adoption`: no earlier promotion was found.
    """

    apps: tuple[str, ...]
    source: str
    target: str
    release: str
    edits: tuple[Edit, ...] = ()
    kept: tuple[Remark, ...] = ()
    asks: tuple[Remark, ...] = ()
    refusals: tuple[Remark, ...] = ()
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    is_adoption: bool = False

    @cached_property
    def hash(self) -> str:
        """The same for the same outcome, whatever the order in which it was found."""
        document: dict[str, Json] = {key: value for key, value in self.as_json().items() if key != "hash"}
        document["files"] = {path: _digest(data) for path, data in sorted(self.files.items())}
        return f"sha256:{hashlib.sha256(json.dumps(document, sort_keys=True, ensure_ascii=False).encode()).hexdigest()}"

    def as_json(self) -> dict[str, Json]:
        """The document of the command and the API, without the hash."""
        return {
            "apps": list(self.apps),
            "from": self.source,
            "to": self.target,
            "release": self.release,
            "adoption": self.is_adoption,
            "edits": [edit.as_json() for edit in self.edits],
            "kept": [remark.as_json() for remark in self.kept],
            "asks": [remark.as_json() for remark in self.asks],
            "refusals": [remark.as_json() for remark in self.refusals],
        }


def _digest(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()
