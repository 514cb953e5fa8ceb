"""Lines of progress that a person watches while something is checked."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Line:
    """One line: what was looked at and how it is. `remedy` is set when it failed."""

    code: str
    state: Literal["ok", "failed", "warning"]
    text: str
    remedy: str = ""
    #: What the line found, for whoever stores it.
    value: str = ""
