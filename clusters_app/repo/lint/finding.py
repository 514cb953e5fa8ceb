"""What a rule finds, and what a rule is."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from clusters_app.repo.lint.subject import Subject


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """One result: `text` is an English sentence with `{names}` that `values` fill, so that a page can translate it.

    `line` counts from 1. `object` is `Kind/namespace/name`, empty where a finding is about a file.
    """

    id: str
    severity: Severity
    file: str
    line: int
    text: str
    remedy: str
    object: str = ""
    values: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def message(self) -> str:
        return self.text.format_map(self.values)

    @property
    def link(self) -> str:
        """Where the rule is explained, from the root of the project."""
        return f"docs/rules.md#{self.id.lower()}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rule found something; its row in the table adds the rest. `severity`: where it is not the rule's own."""

    file: str
    line: int
    text: str
    remedy: str
    object: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table of rules."""

    id: str
    severity: Severity
    title: str
    check: Callable[[Subject], Iterator[Place]]

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for place in self.check(subject):
            severity = place.severity or self.severity
            yield Finding(
                self.id, severity, place.file, place.line, place.text, place.remedy, place.object, place.values
            )
