"""Whether one version is surely newer than another: semantic versions without any guess, else nobody knows.

See https://semver.org. `v1.2.3-4-gabcdef` (git describe) is lower there and newer in fact; calendar versions and plain
numbers are not comparable with others. So most pairs are only different.
"""

import re
from dataclasses import dataclass

_SEMVER = re.compile(
    r"(?P<v>v?)(?P<core>(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*))(?:-(?P<pre>[0-9A-Za-z.-]+))?(?:\+(?P<build>[0-9A-Za-z.-]+))?"
)
_DESCRIBE = re.compile(r"(?:^|[.-])\d+-g[0-9a-f]{7,40}(?:-dirty)?$|^[0-9a-f]{7,40}$")
_CALENDAR_FROM = 1000
_RANGE = re.compile(r"[<>=~^*|, ]|(^|\.)[xX](\.|$)| - ")
_SHORT = re.compile(r"v?\d+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class _Version:
    core: tuple[int, ...]
    pre: tuple[str, ...]
    is_prefixed: bool


def _parse(text: str) -> _Version | None:
    found = _SEMVER.fullmatch(text)
    if found is None or (found["pre"] and _DESCRIBE.search(found["pre"])):
        return None
    core = tuple(map(int, found["core"].split(".")))
    return _Version(core, tuple((found["pre"] or "").split(".")) if found["pre"] else (), bool(found["v"]))


def is_surely_newer(text: str, other: str) -> bool:
    """Whether `text` is newer than `other` beyond doubt; False when it is not, or nobody can tell."""
    one, two = _parse(text), _parse(other)
    if one is None or two is None or one.is_prefixed != two.is_prefixed:
        return False
    if (one.core[0] >= _CALENDAR_FROM) != (two.core[0] >= _CALENDAR_FROM):
        return False
    if one.core != two.core:
        return one.core > two.core
    return _is_later_prerelease(one.pre, two.pre)


def _is_later_prerelease(one: tuple[str, ...], two: tuple[str, ...]) -> bool:
    """Only `rc.10` after `rc.9`, and a release after `alpha`, `beta`, `rc`: other words are tags of somebody's own."""
    known = {"alpha", "beta", "rc"}
    if not one or not two:
        return not one and bool(two) and two[0].lower() in known
    if len(one) != len(two) or one[0] != two[0] or not all(part.isdigit() for part in (*one[1:], *two[1:])):
        return False
    return tuple(map(int, one[1:])) > tuple(map(int, two[1:]))


def is_range(text: str) -> bool:
    """Whether a chart version leaves the choice to Helm: operators, wildcards, or fewer than three numbers."""
    stripped = text.strip()
    return bool(_RANGE.search(stripped) or _SHORT.fullmatch(stripped)) if stripped else True
