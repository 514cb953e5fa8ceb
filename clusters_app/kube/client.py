"""One HTTP client a registration, over connections that stay open, under the same rules as every other way out.

Each address is checked before a socket exists for it, a total deadline stands outside the HTTP library, and the size of
an answer is capped before and after decompression.
"""

import asyncio
import ipaddress
import socket
import zlib
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Self

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.typedefs import LooseHeaders
from yarl import URL

from clusters_app import egress
from clusters_app.egress import addresses

from .connection import Connection, tls_context
from .errors import KubeError, fault, from_answer, from_exception, is_web_page, status_of

type _AddressInfo = tuple[int, int, int, str, tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]]

_USER_AGENT = "flotilla"
# Longer than the pause between two rounds, so that the next one finds the connection open.
_IDLE_SECONDS = 150


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one registration. A kept TLS connection weighs 0.3 MB, hence few of them for each cluster."""

    connect_seconds: float = 5.0
    answer_seconds: float = 15.0
    answer_bytes: int = 32 * 2**20
    round_bytes: int = 128 * 2**20
    connections: int = 2
    is_compressed: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer with status 200 or 201."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Client:
    """The API server of one registration. Made and used inside one running event loop."""

    def __init__(self, connection: Connection, policy: egress.Policy, limits: Limits) -> None:
        """Builds the TLS context; calls nobody. Raises `KubePermanent` for http and for an unusable certificate."""
        if not connection.is_tls and connection.host not in policy.allow_http_hosts:
            raise fault("kube.address-refused", host=connection.place, detail="http without TLS is not allowed")
        self.connection = connection
        self.place = connection.place
        self.limits = limits
        self.received_bytes = 0
        self._policy = policy
        self._tls = tls_context(connection) if connection.is_tls else None
        self._slots = asyncio.Semaphore(limits.connections)
        self._newest_socket: socket.socket | None = None
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=limits.connections,
                resolver=_CheckedResolver(connection.place, policy),
                socket_factory=self._open_socket,
                keepalive_timeout=_IDLE_SECONDS,
            ),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=limits.connect_seconds),
            headers={"User-Agent": _USER_AGENT, "Accept-Encoding": "gzip" if limits.is_compressed else "identity"},
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            read_bufsize=2**18,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._session.close()

    async def get(self, path: str, *, what: str, accept: str = "application/json") -> Answer:
        """GET a path of the API (`/version`), below the server's own path. `what` names it in messages.

        Raises `KubeError` for everything but a complete JSON answer with status 200. Never retries, but for a kept
        connection that the server had closed meanwhile.
        """
        answer = await self.request("GET", path, what=what, headers={"Accept": accept})
        if is_web_page(answer.headers, answer.body):
            raise fault("kube.web-page", host=self.place, what=what, status=answer.status)
        return answer

    async def request(
        self, method: str, path: str, *, what: str, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> Answer:
        """One request, one answer with a status of success; everything else is a `KubeError`."""
        status, answered, data = await self.exchange(method, path, what=what, headers=headers, body=body)
        refused = status if not 200 <= status < 300 else status_of(data)
        if refused is not None:
            raise from_answer(self.place, what, refused, answered, data)
        return Answer(status, answered, data)

    async def exchange(
        self, method: str, path: str, *, what: str, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> tuple[int, Mapping[str, str], bytes]:
        """One request with whatever status it is answered. Raises `KubeError` when there is no whole answer."""
        async with self._slots:
            try:
                async with asyncio.timeout(self.limits.answer_seconds):
                    return await self._send(method, path, what, {**(headers or {}), **self._authorization()}, body)
            except TimeoutError as error:
                raise self._timeout(error) from error
            except (aiohttp.ClientError, OSError, egress.EgressError, KubeError) as error:
                raise from_exception(self.place, error) from error

    async def _send(
        self, method: str, path: str, what: str, headers: LooseHeaders, body: bytes | None
    ) -> tuple[int, Mapping[str, str], bytes]:
        url = URL(self.connection.server + path, encoded=True)
        async with self._session.request(
            method,
            url,
            headers=headers,
            data=body,
            ssl=self._tls if self._tls is not None else True,
            server_hostname=self.connection.tls_server_name,
            allow_redirects=False,
        ) as response:
            data = await self._read(response, what)
            self.received_bytes += len(data)
            return response.status, response.headers, data

    async def _read(self, response: aiohttp.ClientResponse, what: str) -> bytes:
        limit = self.limits.answer_bytes
        chunks: list[bytes] = []
        size = 0
        if (response.content_length or 0) > limit:
            raise self._too_large(what)
        async for chunk in response.content.iter_any():
            size += len(chunk)
            if size > limit:
                raise self._too_large(what)
            chunks.append(chunk)
        data = b"".join(chunks)
        if response.headers.get("Content-Encoding") == "gzip":
            return self._decompress(data, what)
        return data

    def _decompress(self, data: bytes, what: str) -> bytes:
        """gzip with the same cap: half a megabyte of it can stand for a gigabyte."""
        unpacker = zlib.decompressobj(wbits=31)
        try:
            plain = unpacker.decompress(data, self.limits.answer_bytes + 1)
        except zlib.error as error:
            raise fault("kube.not-json", host=self.place, what=what, detail="damaged gzip") from error
        if len(plain) > self.limits.answer_bytes:
            raise self._too_large(what)
        return plain

    def _too_large(self, what: str) -> KubeError:
        limit = f"{self.limits.answer_bytes / 2**20:.0f} MiB"
        return fault("kube.answer-too-large", host=self.place, what=what, limit=limit)

    def _authorization(self) -> dict[str, str]:
        token = self.connection.token
        return {"Authorization": f"Bearer {token.reveal()}"} if token else {}

    def _open_socket(self, info: _AddressInfo) -> socket.socket:
        """The last door: whatever a name resolved to, or a literal address, is checked where the socket is made."""
        family, kind, protocol, _, (address, *_) = info
        checked = ipaddress.ip_address(str(address).partition("%")[0])
        reason = addresses.refusal(checked, self._policy)
        if reason is None and not self.connection.is_tls and not addresses.is_loopback(checked):
            reason = "not loopback, and http is for loopback alone"
        if reason is not None:
            raise fault("kube.address-refused", host=self.place, detail=f"{address} is {reason}")
        self._newest_socket = socket.socket(family, kind, protocol)
        return self._newest_socket

    def _timeout(self, error: TimeoutError) -> KubeError:
        """Which phase a time-out ended: only a socket that has a peer was ever connected."""
        place, limits = self.place, self.limits
        if not isinstance(error, aiohttp.ConnectionTimeoutError):
            return fault("kube.answer-timeout", host=place, seconds=f"{limits.answer_seconds:g}")
        code = "kube.tls-timeout" if _has_peer(self._newest_socket) else "kube.connect-timeout"
        return fault(code, host=place, seconds=f"{limits.connect_seconds:g}")


class Clients:
    """The clients of a process, one a registration: two registrations of one address never share a connection."""

    def __init__(self, policy: egress.Policy, limits: Limits | None = None) -> None:
        self._policy = policy
        self._limits = limits or Limits()
        self._clients: dict[Hashable, Client] = {}

    async def client(self, key: Hashable, connection: Connection) -> Client:
        """The kept client of a registration; a new one when its address, authority or credential changed.

        Raises `KubePermanent` when the connection cannot even be prepared.
        """
        kept = self._clients.get(key)
        if kept is not None and kept.connection == connection:
            return kept
        await self.drop(key)
        self._clients[key] = Client(connection, self._policy, self._limits)
        return self._clients[key]

    async def drop(self, key: Hashable) -> None:
        """Forget a registration and close its connections."""
        kept = self._clients.pop(key, None)
        if kept is not None:
            await kept.close()

    async def close(self) -> None:
        for key in list(self._clients):
            await self.drop(key)


class _CheckedResolver(AbstractResolver):
    """Names to addresses through the egress door, which refuses a name when any of its addresses is refused."""

    def __init__(self, place: str, policy: egress.Policy) -> None:
        self._place = place
        self._policy = policy

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_INET,  # noqa: ARG002 - aiohttp's signature
    ) -> list[ResolveResult]:
        try:
            found = await asyncio.to_thread(egress.resolve_checked, host, port, self._policy)
        except egress.EgressPermanent as error:
            raise fault("kube.address-refused", host=self._place, detail=str(error).rstrip(".")) from error
        except egress.EgressTransient as error:
            raise fault("kube.name-not-resolved", host=self._place) from error
        return [_resolved(host, port, str(address), address.version) for address in found]

    async def close(self) -> None:
        """Nothing is kept."""


def _resolved(host: str, port: int, address: str, version: int) -> ResolveResult:
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    return ResolveResult(
        hostname=host, host=address, port=port, family=family, proto=socket.IPPROTO_TCP, flags=socket.AI_NUMERICHOST
    )


def _has_peer(opened: socket.socket | None) -> bool:
    try:
        return opened is not None and bool(opened.getpeername())
    except OSError:
        return False
