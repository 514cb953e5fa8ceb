"""Asking and getting one complete answer or one error of ours."""

import json as text_of
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from clusters_app.egress.addresses import Policy
from clusters_app.egress.deadline import Deadline
from clusters_app.egress.errors import EgressError, explained, timed_out
from clusters_app.egress.target import Target, sendable
from clusters_app.egress.trust import tls_context
from clusters_app.egress.wire import Connection, Order
from clusters_app.secret import Secret

DEADLINE_SECONDS = 20.0
MAX_BYTES = 8 * 1024 * 1024

_IDLE_PER_ORIGIN = 4


@dataclass(frozen=True)
class Answer:
    """What the server said, whatever its status: 3xx is never followed, 4xx and 5xx are no exceptions.

    Header names are lower-case, repeated headers joined by commas. The body is decompressed and complete.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


class Session:
    """Keeps connections to the servers it talks to. May be used by several threads, and not across a fork.

    `ca_pem` replaces the public certificate authorities. `deadline_seconds` is the whole time of one request, from
    looking up the name to the last byte; `max_bytes` the size of a body after decompression.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        ca_pem: str | None = None,
        deadline_seconds: float = DEADLINE_SECONDS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._policy = policy
        self._context = tls_context(ca_pem)
        self._deadline_seconds = deadline_seconds
        self._max_bytes = max_bytes
        self._idle: dict[str, list[Connection]] = {}
        self._lock = threading.Lock()

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str | Secret] | None = None,
        json: object = None,
        body: bytes | None = None,
        deadline_seconds: float | None = None,
        max_bytes: int | None = None,
    ) -> Answer:
        """One exchange; `json` (unless None) is sent in place of `body`. Raises `EgressError`, and nothing else."""
        target = Target.parse(url, self._policy)
        outgoing = sendable(headers or {}, target)
        if json is not None:
            body = text_of.dumps(json, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
            outgoing.setdefault("Content-Type", "application/json")
        order = Order(
            method=method,
            target=target,
            headers=outgoing,
            body=body,
            max_bytes=self._max_bytes if max_bytes is None else max_bytes,
        )
        with Deadline(self._deadline_seconds if deadline_seconds is None else deadline_seconds) as deadline:
            return self._exchange(order, deadline)

    def _exchange(self, order: Order, deadline: Deadline) -> Answer:
        connection = self._take(order.target)
        try:
            response, body = connection.exchange(order, deadline)
        except BaseException as error:
            connection.close()
            if isinstance(error, EgressError) or not isinstance(error, Exception):
                raise
            if deadline.has_passed or isinstance(error, TimeoutError):
                raise timed_out(order.target.host, deadline.phase, deadline.seconds) from error
            raise explained(error, order.target.host) from error
        self._keep(connection)
        return Answer(response.status, {name.lower(): value for name, value in response.headers.items()}, body)

    def _take(self, target: Target) -> Connection:
        while True:
            with self._lock:
                kept = self._idle.get(target.origin)
                connection = kept.pop() if kept else None
            if connection is None:
                return Connection(target, self._policy, self._context if target.scheme == "https" else None)
            if connection.is_connected:
                return connection
            connection.close()

    def _keep(self, connection: Connection) -> None:
        if connection.sock is not None:
            with self._lock:
                kept = self._idle.setdefault(connection.target.origin, [])
                if len(kept) < _IDLE_PER_ORIGIN:
                    kept.append(connection)
                    return
        connection.close()

    def close(self) -> None:
        """Closes the idle connections; the session can still be used."""
        with self._lock:
            connections = [connection for kept in self._idle.values() for connection in kept]
            self._idle.clear()
        for connection in connections:
            connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
