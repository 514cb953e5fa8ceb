"""What a measurement says: one number, what it must be, what it aims at; the table and the file of all of them."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

RESULTS = Path(__file__).parent / "results.json"


@dataclass(frozen=True)
class Result:
    """A ratio of two things that were measured in one run: absolute times of a shared machine mean nothing."""

    value: float
    must: float
    aim: float
    better: Literal["lower", "higher"]
    unit: str = "ratio"

    def reaches(self, bound: float) -> bool:
        return self.value <= bound if self.better == "lower" else self.value >= bound

    @property
    def verdict(self) -> str:
        if self.reaches(self.aim):
            return "aim reached"
        return "must reached" if self.reaches(self.must) else "MISSED"


def table(results: Mapping[str, Result]) -> str:
    """One line a result, for people."""
    width = max(map(len, results), default=0)
    lines = [f"{'what':{width}}  {'value':>8}  {'must':>8}  {'aim':>8}"]
    for name, result in results.items():
        sign = "≤" if result.better == "lower" else "≥"
        bounds = f"{sign + f'{result.must:g}':>8}  {sign + f'{result.aim:g}':>8}"
        lines.append(f"{name:{width}}  {result.value:8.2f}  {bounds}  {result.verdict}")
    return "\n".join(lines)


def save(results: Mapping[str, Result]) -> None:
    """Merge into `bench/results.json`: names that were not measured now keep their last value."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    measured = {name: asdict(result) | {"value": round(result.value, 3)} for name, result in results.items()}
    RESULTS.write_text(json.dumps(kept | measured, indent=2, sort_keys=True) + "\n")
