"""`# flotilla:ignore ID reason`: a person's word that a finding is meant."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from clusters_app.repo.lint.finding import Finding
from clusters_app.repo.tree import Tree, TreeError

# A reason is asked for: a bare marker says nothing to the next reader, and suppresses nothing.
_MARKER = re.compile(r"#\s*flotilla:ignore\s+(?P<id>[A-Z]{2,3}\d{3}(?:\.\w+)?)\s+\S")


def without_suppressed(tree: Tree, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings that no marker in their own line or in the one above it speaks of."""
    by_file: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_file[finding.file].append(finding)
    for path, found in by_file.items():
        markers = _markers(tree, path)
        for finding in found:
            near = markers.get(finding.line, set()) | markers.get(finding.line - 1, set())
            if finding.id not in near and finding.id.partition(".")[0] not in near:
                yield finding


def _markers(tree: Tree, path: str) -> dict[int, set[str]]:
    try:
        data = tree.read(path)
    except TreeError:
        return {}
    if b"flotilla:ignore" not in data:
        return {}
    markers: dict[int, set[str]] = defaultdict(set)
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        for found in _MARKER.finditer(line):
            markers[number].add(found["id"])
    return markers
