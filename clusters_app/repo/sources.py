"""Which source objects are this very repository, so that a `spec.path` is a path of this tree."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from clusters_app.repo.documents import Value, mapping, text

_SCP = re.compile(r"^(?:[^@/]+@)?([^:/]+):(?!//)(.+)$")
_PORT = re.compile(r":\d+$")


class SourceKey(NamedTuple):
    """A source object of a cluster: kind, namespace and name."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return "/".join(self)


def source_key(reference: Value, namespace: str) -> SourceKey:
    """What a `sourceRef` or `chartRef` of an object in this namespace points at."""
    return SourceKey(text(reference, "kind"), text(reference, "namespace") or namespace, text(reference, "name"))


def same_url(one: str, other: str) -> bool:
    """Two spellings of one repository: by HTTPS or SSH, with and without user, port and `.git`."""
    return bool(one) and _plain_url(one) == _plain_url(other)


def _plain_url(url: str) -> str:
    rest = url.strip()
    if "://" in rest:
        host, _, path = rest.partition("://")[2].partition("/")
    elif found := _SCP.match(rest):
        host, path = found[1], found[2]
    else:
        host, _, path = rest.partition("/")
    host = _PORT.sub("", host.rpartition("@")[2]).lower()
    return f"{host}/{path.strip('/').removesuffix('.git').lower()}"


def is_same_repository(one: Value, other: Value) -> bool:
    """Whether two source objects fetch the same revision of the same repository; another branch is another tree."""
    same = same_url(text(one, "spec", "url"), text(other, "spec", "url"))
    return same and _followed(one) == _followed(other)


def _followed(source: Value) -> Mapping[str, object]:
    return mapping(source, "spec", "ref") or {"branch": "master"}
