"""One round over one cluster: every kind in parallel, each with its own outcome, all within one deadline.

A round never raises for what a cluster does. What it could not learn is None, and stays as it was known before.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from clusters_app.flux.resources import KindSpec
from clusters_app.flux.structs import Deployment, Lease

from .client import Client
from .discovery import Served, discover, has_kind, rediscover
from .errors import KubeError, fault, http_date
from .faults import ConnectionState
from .kinds import STANDARD_KINDS
from .lists import KindList, failed, read_list, read_objects

_FLUX_VERSION_LABEL = "app.kubernetes.io/version"


@dataclass(frozen=True, slots=True)
class ListMemory:
    """What is remembered of a list: the version it was read in, and the fingerprint of its objects."""

    served_version: str
    digest: str | None


@dataclass(frozen=True, slots=True)
class RoundMemory:
    """What one round hands to the next. Keep it only once the round's rows are stored, else a change may be lost.

    Losing it costs one full decode and nothing else.
    """

    cluster_uid: str | None
    served: Served
    lists: Mapping[str, ListMemory]


@dataclass(frozen=True, slots=True)
class Observation:
    """What one round learnt. Times are the caller's clock; `bytes` counts bodies after decompression.

    `fault` concerns the cluster as a whole. `leases` and `controllers` (the deployments of the Flux namespace) are None
    when they could not be read, and `heartbeat_error` says why. `skew_seconds`: how far the cluster's clock is ahead of
    ours, None when it did not say.
    """

    kubernetes_version: str | None
    cluster_uid: str | None
    lists: Mapping[str, KindList]
    leases: tuple[Lease, ...] | None
    controllers: tuple[Deployment, ...] | None
    heartbeat_error: KubeError | None
    skew_seconds: float | None
    started_at: datetime
    received_at: datetime
    bytes: int
    fault: KubeError | None
    memory: RoundMemory | None

    @property
    def connection(self) -> ConnectionState:
        if self.fault is not None:
            return self.fault.connection
        states = {found.state for found in self.lists.values()}
        if "forbidden" in states or (self.heartbeat_error and self.heartbeat_error.code == "kube.forbidden"):
            return "Forbidden"
        return "Degraded" if "failed" in states or self.heartbeat_error else "Connected"

    @property
    def flux_version(self) -> str | None:
        """The distribution's version as its manifests label the controllers; None when Flux runs in another way."""
        for controller in self.controllers or ():
            version = (controller.metadata.labels or {}).get(_FLUX_VERSION_LABEL)
            if version:
                return version
        return None

    @property
    def retry_after_seconds(self) -> float | None:
        """The longest pause that the API server asked for."""
        errors = [self.fault, self.heartbeat_error, *(found.error for found in self.lists.values())]
        pauses = [error.retry_after_seconds for error in errors if error and error.retry_after_seconds is not None]
        return max(pauses, default=None)


async def observe(
    client: Client,
    *,
    now: datetime,
    memory: RoundMemory | None = None,
    kinds: Mapping[str, KindSpec] = STANDARD_KINDS,
    deadline_seconds: float = 20.0,
    flux_namespace: str = "flux-system",
    expected_uid: str | None = None,
) -> Observation:
    """Read one cluster. Never raises `KubeError`.

    Costs a request a kind (a page of 500 objects each), four more, and every 10 min one a group. The first request asks
    for the identity with the credential: nothing else is asked of a cluster that cannot be reached, refuses us or is
    another one than `expected_uid`.
    """
    reading = _Round(client, kinds, memory, now, flux_namespace)
    deadline = reading.began + deadline_seconds
    try:
        async with asyncio.timeout_at(deadline):
            await reading.identify(expected_uid)
            await reading.learn_versions()
        await reading.read_all(deadline)
    except TimeoutError:
        reading.fault = _too_slow(client)
    except KubeError as error:
        reading.fault = error
    return reading.result()


class _ObjectMeta(msgspec.Struct, frozen=True):
    uid: str


class _Namespace(msgspec.Struct, frozen=True):
    metadata: _ObjectMeta


class _Round:
    """The state of one round while it runs."""

    def __init__(
        self, client: Client, kinds: Mapping[str, KindSpec], memory: RoundMemory | None, now: datetime, namespace: str
    ) -> None:
        self.client = client
        self.kinds = kinds
        self.memory = memory
        self.now = now
        self.namespace = namespace
        self.began = asyncio.get_running_loop().time()
        self.bytes_before = client.received_bytes
        self.slots = asyncio.Semaphore(client.limits.connections)
        self.uid: str | None = None
        self.skew_seconds: float | None = None
        self.served: Served | None = None
        self.is_rediscovered = True
        self.lists: dict[str, KindList] = {}
        self.leases: tuple[Lease, ...] | None = None
        self.controllers: tuple[Deployment, ...] | None = None
        self.heartbeat_error: KubeError | None = None
        self.fault: KubeError | None = None

    def clock(self) -> datetime:
        """The caller's clock, moved on by what has passed since."""
        return self.now + timedelta(seconds=asyncio.get_running_loop().time() - self.began)

    async def identify(self, expected_uid: str | None) -> None:
        """UID of kube-system, and the clock. Raises `KubeError`, also when it is another cluster than expected.

        A role that may not read the namespace is tolerated as long as nobody expects an identity.
        """
        place = self.client.place
        try:
            answer = await self.client.get("/api/v1/namespaces/kube-system", what="the namespace kube-system")
            self.uid = msgspec.json.decode(answer.body, type=_Namespace).metadata.uid
        except msgspec.DecodeError as error:
            detail = "its kube-system is no namespace"
            raise fault("kube.not-kubernetes", host=place, detail=detail) from error
        except KubeError as error:
            if error.code == "kube.not-found":
                raise fault("kube.not-kubernetes", host=place, detail="it has no kube-system") from error
            if error.code != "kube.forbidden" or expected_uid:
                raise
            return
        sent_at = http_date(answer.headers.get("Date", ""))
        self.skew_seconds = (sent_at - self.clock()).total_seconds() if sent_at else None
        if expected_uid and self.uid != expected_uid:
            raise fault("kube.cluster-replaced", host=place, found=self.uid, expected=expected_uid)

    async def learn_versions(self) -> None:
        """What the cluster serves, from memory while that is young and about this cluster."""
        groups = {spec.group for spec in self.kinds.values()}
        if self.memory and self.memory.cluster_uid != self.uid:
            self.memory = None
        if self.memory and self.memory.served.is_usable(groups, self.now):
            self.served, self.is_rediscovered = self.memory.served, False
        else:
            self.served = await discover(self.client, groups, self.now)

    async def read_all(self, deadline: float) -> None:
        """Every kind, the leases and the controllers; what is not there at the deadline has failed."""
        tasks = [asyncio.create_task(self._read_kind(spec)) for spec in self.kinds.values()]
        tasks += [asyncio.create_task(self._read_heartbeats())]
        try:
            await asyncio.wait(tasks, timeout=deadline - asyncio.get_running_loop().time())
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in tasks:
            if not task.cancelled():
                task.result()

    async def _read_kind(self, spec: KindSpec) -> None:
        async with self.slots:
            try:
                self._check_bounds(spec.kind)
                self.lists[spec.kind] = await self._negotiated(spec)
            except KubeError as error:
                self._note(error)
                self.lists[spec.kind] = failed(spec.kind, error)

    def _check_bounds(self, what: str) -> None:
        """Raises what ended the round, so that nobody asks on, or that the round has grown too large."""
        if self.fault is not None:
            raise self.fault
        limit = self.client.limits.round_bytes
        if self.client.received_bytes - self.bytes_before > limit:
            size = f"{limit / 2**20:.0f} MiB together with the other kinds"
            raise fault("kube.answer-too-large", host=self.client.place, what=what, limit=size)

    def _note(self, error: KubeError) -> None:
        if error.ends_round and self.fault is None:
            self.fault = error

    async def _negotiated(self, spec: KindSpec) -> KindList:
        """The list in the newest version that the cluster serves and we know.

        A group that serves `v1` need not serve every kind in it (OCIRepository came later than GitRepository), hence
        the next version after a 404. While discovery is only remembered, so is the version that answered then, or that
        none did; if it is gone, the group is asked again before the kind is given up.
        """
        known = self.memory.lists.get(spec.kind) if self.memory else None
        if known and not self.is_rediscovered and self.served:
            if not known.served_version:
                return self._missing(spec)
            if found := await self._read_version(spec, known.served_version, known.digest):
                return found
            self.served = await rediscover(self.client, self.served, spec.group)
        for version in await self._versions(spec):
            digest = known.digest if known and known.served_version == version else None
            if found := await self._read_version(spec, version, digest):
                return found
        return self._missing(spec)

    async def _read_version(self, spec: KindSpec, version: str, digest: str | None) -> KindList | None:
        try:
            return await read_list(self.client, spec, version, digest)
        except KubeError as error:
            if error.code == "kube.not-found":
                return None
            raise

    async def _versions(self, spec: KindSpec) -> tuple[str, ...]:
        """Newest first. Raises why the group could not be asked, or that it has the kind in unknown versions alone."""
        served = self.served.groups.get(spec.group, ()) if self.served else ()
        if self.served and spec.group in self.served.refused:
            raise self.served.refused[spec.group]
        versions = tuple(version for version in spec.versions if version in served)
        if versions or not served:
            return versions
        unknown = [version for version in served if await has_kind(self.client, spec.group, version, spec.kind)]
        if unknown:
            raise fault("kube.version-unknown", host=self._place, what=spec.kind, detail=", ".join(unknown))
        return ()

    def _missing(self, spec: KindSpec) -> KindList:
        return KindList(spec.kind, "missing", error=fault("kube.not-installed", host=self._place, what=spec.kind))

    async def _read_heartbeats(self) -> None:
        """Leases and deployments of the Flux namespace: whether the controllers live, and which Flux it is."""
        leases = f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases"
        deployments = f"/apis/apps/v1/namespaces/{self.namespace}/deployments"
        async with self.slots:
            try:
                self._check_bounds("Lease")
                found = await read_objects(self.client, leases, "Lease")
                self.leases = tuple(item for item in found if isinstance(item, Lease))
                found = await read_objects(self.client, deployments, "Deployment")
                self.controllers = tuple(item for item in found if isinstance(item, Deployment))
            except KubeError as error:
                self._note(error)
                self.heartbeat_error = error

    @property
    def _place(self) -> str:
        return self.client.place

    def result(self) -> Observation:
        late = self.fault or _too_slow(self.client)
        lists = {kind: self.lists.get(kind) or failed(kind, late) for kind in self.kinds}
        return Observation(
            kubernetes_version=self.served.kubernetes_version if self.served else None,
            cluster_uid=self.uid,
            lists=lists,
            leases=self.leases,
            controllers=self.controllers,
            heartbeat_error=self.heartbeat_error,
            skew_seconds=self.skew_seconds,
            started_at=self.now,
            received_at=self.clock(),
            bytes=self.client.received_bytes - self.bytes_before,
            fault=self.fault,
            memory=self._memory_of(lists),
        )

    def _memory_of(self, lists: Mapping[str, KindList]) -> RoundMemory | None:
        """A kind that failed keeps what was known of it, so that its next success can still be "unchanged"."""
        if self.served is None:
            return self.memory
        kept = dict(self.memory.lists) if self.memory else {}
        for kind, found in lists.items():
            if found.state in {"ok", "unchanged", "missing"}:
                kept[kind] = ListMemory(found.served_version, found.digest)
        return RoundMemory(self.uid, self.served, kept)


def _too_slow(client: Client) -> KubeError:
    return fault("kube.round-timeout", host=client.place)
