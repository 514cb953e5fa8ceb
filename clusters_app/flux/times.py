"""Times and durations as Kubernetes and Go write them; what cannot be read is None, never an exception."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)"
_DURATION = re.compile(rf"(?:{_PART})+")
_WHOLE_SECONDS = len("2006-01-02T15:04:05Z")
_LONGEST = timedelta(days=36_500)


def parse_time(text: str | None) -> datetime | None:
    """RFC 3339 to an aware UTC time."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def parse_duration(text: str | None) -> timedelta | None:
    """Go's `1h2m3.5s`."""
    if not text or len(text) > 64 or not _DURATION.fullmatch(text):
        return timedelta(0) if text == "0" else None
    seconds = sum(float(number) * _UNITS[unit] for number, unit in re.findall(_PART, text))
    return min(timedelta(seconds=min(seconds, _LONGEST.total_seconds())), _LONGEST)


def newest(*texts: str | None) -> datetime | None:
    """The latest of the times that can be read."""
    if all(text is None or (len(text) == _WHOLE_SECONDS and text.endswith("Z")) for text in texts):
        return parse_time(max((text for text in texts if text), default=None))
    return max((moment for moment in map(parse_time, texts) if moment), default=None)
