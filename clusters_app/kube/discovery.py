"""Which API versions a cluster serves, asked group by group.

`GET /apis/<group>` costs 300 bytes; the document of all groups is large and fails as a whole when any aggregated API is
broken, and a list of CRDs weighs 24 MB on a large cluster. Neither is ever asked for.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import msgspec

from .client import Client
from .errors import KubeError, fault

_KEPT_FOR = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Served:
    """What was learnt of a cluster's API. `groups`: served versions by group, none for a group that is not there.

    `refused`: groups whose document could not be read, and why; they are asked again in the next round.
    """

    kubernetes_version: str
    at: datetime
    groups: Mapping[str, tuple[str, ...]]
    refused: Mapping[str, KubeError] = field(default_factory=dict)

    def is_usable(self, groups: Iterable[str], now: datetime) -> bool:
        """Young enough, and about all these groups."""
        return timedelta(0) <= now - self.at < _KEPT_FOR and all(group in self.groups for group in groups)


class _GroupVersion(msgspec.Struct, frozen=True):
    version: str


class _Group(msgspec.Struct, frozen=True):
    """`meta/v1.APIGroup`."""

    versions: tuple[_GroupVersion, ...]


class _ApiResource(msgspec.Struct, frozen=True):
    kind: str = ""


class _ResourceList(msgspec.Struct, frozen=True):
    """`meta/v1.APIResourceList`."""

    resources: tuple[_ApiResource, ...] = ()


class _Version(msgspec.Struct, frozen=True, rename="camel"):
    """`version.Info`."""

    git_version: str


async def discover(client: Client, groups: Iterable[str], now: datetime) -> Served:
    """Ask for the version and for each group. A group that fails is in `refused`; what fails for all is raised.

    Costs one request a group and one for the version. Raises `KubeError`.
    """
    wanted = tuple(dict.fromkeys(groups))
    version = await kubernetes_version(client)
    found = await asyncio.gather(*(_group(client, group) for group in wanted))
    answers = dict(zip(wanted, found, strict=True))
    refused = {group: answer for group, answer in answers.items() if isinstance(answer, KubeError)}
    served = {group: answer for group, answer in answers.items() if not isinstance(answer, KubeError)}
    return Served(version, now, served, refused)


async def rediscover(client: Client, served: Served, group: str) -> Served:
    """The same knowledge with one group asked again."""
    answer = await _group(client, group)
    if isinstance(answer, KubeError):
        return replace(served, refused={**served.refused, group: answer})
    return replace(served, groups={**served.groups, group: answer})


async def has_kind(client: Client, group: str, version: str, kind: str) -> bool:
    """Whether a served version of a group has this kind. Raises `KubeError`."""
    what = f"the API group {group}/{version}"
    answer = await client.get(f"/apis/{group}/{version}", what=what)
    try:
        resources = msgspec.json.decode(answer.body, type=_ResourceList).resources
    except msgspec.DecodeError as error:
        raise fault("kube.wrong-kind", host=client.place, what=what, detail="no resource list") from error
    return any(resource.kind == kind for resource in resources)


async def kubernetes_version(client: Client) -> str:
    """`v1.36.3`. Raises `KubeError`, also when what answers is no Kubernetes API."""
    try:
        answer = await client.get("/version", what="its version")
        return msgspec.json.decode(answer.body, type=_Version).git_version
    except msgspec.DecodeError as error:
        detail = "its /version names no version"
        raise fault("kube.not-kubernetes", host=client.place, detail=detail) from error
    except KubeError as error:
        if error.code == "kube.not-found":
            detail = "it has no /version"
            raise fault("kube.not-kubernetes", host=client.place, detail=detail) from error
        raise


async def _group(client: Client, group: str) -> tuple[str, ...] | KubeError:
    what = f"the API group {group}"
    try:
        answer = await client.get(f"/apis/{group}", what=what)
        return tuple(entry.version for entry in msgspec.json.decode(answer.body, type=_Group).versions)
    except msgspec.DecodeError:
        return fault("kube.wrong-kind", host=client.place, what=what, detail="no API group")
    except KubeError as error:
        return () if error.code == "kube.not-found" else error
