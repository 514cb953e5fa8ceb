"""KST002: Kustomizations that ask too often, or give up too late."""

import re
from collections.abc import Iterator

from clusters_app.repo.documents import text
from clusters_app.repo.lint.finding import Place
from clusters_app.repo.lint.subject import Subject

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def timing_is_careless(subject: Subject) -> Iterator[Place]:
    """An interval under a minute, no retryInterval, no timeout; what a parent's patch adds counts."""
    for node in subject.kustomizations:
        values = {"name": node.ref}
        if seconds(text(node.spec, "interval")) < 60:
            line = subject.line(node, "spec", "interval")
            yield Place(
                node.file, line, "{name} is applied anew more than once a minute", "1h is usual", node.ref, values
            )
        missing = [field for field in ("retryInterval", "timeout") if not text(node.spec, field)]
        if missing:
            said = "{name} has no {missing}: after a failure it waits for its next interval"
            values = {**values, "missing": " and no ".join(missing)}
            yield Place(node.file, node.line, said, "add retryInterval: 2m and timeout: 5m", node.ref, values)


def seconds(duration: str) -> float:
    """The seconds of a duration as Go writes it; a text that is none counts as long."""
    parts = _PART.findall(duration)
    return sum(float(number) * _SECONDS[unit] for number, unit in parts) if parts else float("inf")
