"""The recorded situations of real controllers: documents at a moment, and the verdict that an operator gave."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

DIRECTORY = Path(__file__).parent / "recorded"


class Situation:
    """One file. `expected` and `accepted` give every value that is right for a field."""

    def __init__(self, path: Path) -> None:
        self.name = path.stem
        self.record: dict[str, Any] = json.loads(path.read_text())
        self.expected: Mapping[str, str | None] = self.record["expected"]

    def __repr__(self) -> str:
        return self.name

    def right(self, field: str) -> list[str | None]:
        accepted: Mapping[str, list[str | None]] = self.record.get("accept") or {}
        return [self.expected[field], *accepted.get(field, [])]

    @property
    def previous(self) -> list[dict[str, Any]]:
        return self.record.get("previous") or []

    @property
    def hints(self) -> Mapping[str, str]:
        return self.record.get("hints") or {}


def situations() -> Iterator[Situation]:
    return (Situation(path) for path in sorted(DIRECTORY.glob("*.json")))
