"""One connection: to a checked address, under a deadline, with every byte counted below every parser."""

import contextlib
import functools
import http.client
import io
import socket
import ssl
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from urllib3.connection import HTTPConnection
from urllib3.response import HTTPResponse

from clusters_app.egress.addresses import Address, Policy, is_loopback
from clusters_app.egress.deadline import Deadline
from clusters_app.egress.errors import EgressPermanent, TooMuch
from clusters_app.egress.names import resolve_checked
from clusters_app.egress.target import Target, https_only

MAX_HEAD_BYTES = 64 * 1024

_CHUNK = 64 * 1024
_READ_AHEAD = 8 * 1024


@dataclass(frozen=True)
class Order:
    """One request as it goes out."""

    method: str
    target: Target
    headers: dict[str, str] = field(repr=False)
    body: bytes | None = field(repr=False)
    max_bytes: int


class Meter(io.RawIOBase):
    """Counts the bytes of one answer as they come from the socket.

    Everything that http.client and urllib3 buffer (status line, headers, chunk sizes, trailers, which they read by
    unlimited lines) has passed here, so no part of an answer can grow beyond what was allowed.
    """

    def __init__(self) -> None:
        self._raw: io.RawIOBase | None = None
        self._what = "head"
        self._allowed = MAX_HEAD_BYTES
        self._left = MAX_HEAD_BYTES + _READ_AHEAD

    def measure(self, raw: io.RawIOBase) -> io.BufferedReader:
        self._raw = raw
        return io.BufferedReader(self, _READ_AHEAD)

    def begin_body(self, allowed: int) -> None:
        """Twice the size of the body and a margin: chunks of a few bytes each cost that much on the wire."""
        self._what, self._allowed = "body", allowed
        self._left = 2 * allowed + MAX_HEAD_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int | None:  # type: ignore[override]
        count = self._raw.readinto(buffer) if self._raw is not None else 0
        self._left -= count or 0
        if self._left < 0:
            raise TooMuch(self._what, self._allowed)
        return count

    def close(self) -> None:
        if self._raw is not None:
            self._raw.close()
        super().close()


class _MeteredResponse(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *, method: str | None = None, meter: Meter) -> None:
        super().__init__(sock, method=method)
        # Nothing has been read yet: the buffer that http.client made is empty, its raw side is taken over.
        self.fp = meter.measure(self.fp.detach())

    def begin(self) -> None:
        """http.client takes headers that end with the connection for complete ones; here they are cut."""
        lines = _Lines(self.fp)
        self.fp = lines  # type: ignore[assignment]
        try:
            super().begin()
        finally:
            if self.fp is not None:  # http.client gives it up for a bad status line
                self.fp = lines.buffer
        if lines.last not in (b"\r\n", b"\n"):
            raise http.client.IncompleteRead(b"")


class _Lines:
    """The head of an answer, line by line, with the last line kept."""

    def __init__(self, buffer: io.BufferedReader) -> None:
        self.buffer = buffer
        self.last = b""

    def readline(self, limit: int = -1) -> bytes:
        self.last = self.buffer.readline(limit)
        return self.last

    def close(self) -> None:
        self.buffer.close()


class Connection(HTTPConnection):
    """Connects when first used; TLS when there is a context. SNI and Host carry the URL's own name, not the address."""

    def __init__(self, target: Target, policy: Policy, context: ssl.SSLContext | None) -> None:
        super().__init__(target.host, target.port)
        self.target = target
        self._policy = policy
        self._context = context
        self._deadline = Deadline(0)

    def exchange(self, order: Order, deadline: Deadline) -> tuple[HTTPResponse, bytes]:
        """One request and its complete answer. What it raises may be of any library, except for `EgressError`."""
        self._deadline = deadline
        self.timeout = deadline.left
        if self.sock is not None:
            deadline.guard(self.sock)
        meter = Meter()
        self.response_class = functools.partial(_MeteredResponse, meter=meter)  # type: ignore[assignment]
        self.request(order.method, order.target.path, order.body, order.headers, preload_content=False)
        deadline.phase = "waiting for the answer"
        response = self.getresponse()
        meter.begin_body(order.max_bytes)
        deadline.phase = "reading the answer"
        body = _body(response, order)
        deadline.finish()
        return response, body

    def connect(self) -> None:
        """Called by http.client when there is no connection yet."""
        self._deadline.phase = "looking up the name"
        addresses = resolve_checked(
            self.target.host, self.target.port, self._policy, deadline_seconds=self._deadline.left
        )
        if self._context is None and not all(is_loopback(address) for address in addresses):
            raise https_only(self.target.host)
        self._deadline.phase = "connecting"
        plain = self._reach(addresses)
        self.sock = plain if self._context is None else self._secure(plain, self._context)
        self._deadline.phase = "sending the request"

    def _reach(self, addresses: tuple[Address, ...]) -> socket.socket:
        failure: OSError | None = None
        for address in addresses:
            self._deadline.check()
            try:
                return self._dial(address)
            except OSError as error:
                failure = error
        raise failure or TimeoutError

    def _dial(self, address: Address) -> socket.socket:
        plain = socket.socket(socket.AF_INET6 if address.version == 6 else socket.AF_INET, socket.SOCK_STREAM)
        try:
            plain.settimeout(self._deadline.left)
            plain.connect((str(address), self.target.port))
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._deadline.guard(plain)
        except BaseException:
            plain.close()
            raise
        return plain

    def _secure(self, plain: socket.socket, context: ssl.SSLContext) -> ssl.SSLSocket:
        self._deadline.phase = "the TLS handshake"
        plain.settimeout(self._deadline.left)
        try:
            # A connection that ends without TLS's own goodbye was cut: nothing that came over it counts as complete.
            return context.wrap_socket(plain, server_hostname=self.target.host.rstrip("."), suppress_ragged_eofs=False)
        except BaseException:
            plain.close()
            raise


def _body(response: HTTPResponse, order: Order) -> bytes:
    host = order.target.host
    if response.status < 200:
        raise EgressPermanent("egress.not-http", host, f"{host} wants to switch to another protocol")
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    with contextlib.closing(response):
        # Decompressed here: the library takes a stream that ends too early for a complete one.
        pieces = response.stream(_CHUNK, decode_content=False)
        if encoding == "gzip":
            return _limited(_unpacked(pieces), order.max_bytes)
        if encoding in ("", "identity"):
            return _limited(pieces, order.max_bytes)
    raise EgressPermanent(
        "egress.bad-encoding", host, f"{host} compressed its answer in a way that it was not asked for"
    )


def _limited(pieces: Iterable[bytes], allowed: int) -> bytes:
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > allowed:
            raise TooMuch("body", allowed)
    return bytes(body)


def _unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Gzip, never more than one chunk at a time. Raises `zlib.error` when the stream is not one whole member."""
    unpacker = zlib.decompressobj(wbits=31)
    nothing = True
    for piece in pieces:
        nothing = False
        yield unpacker.decompress(piece, _CHUNK)
        while unpacker.unconsumed_tail:
            yield unpacker.decompress(unpacker.unconsumed_tail, _CHUNK)
    # An answer without a body (304, HEAD) may still say gzip.
    if not nothing and (not unpacker.eof or unpacker.unused_data):
        raise zlib.error("not one whole gzip member")
