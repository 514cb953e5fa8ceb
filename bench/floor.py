"""The floor of reading: one TLS socket that stays open, a request a list, bytes straight into typed structs.

No program that keeps Python's `ssl` and typed objects can do with less, so other readers are measured in it.
"""

import socket
from typing import Self

from clusters_app.flux.resources import KindSpec, ObjectList, decode_list
from clusters_app.kube.connection import Connection, tls_context


class Floor:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._path = connection.server.partition("://")[2].partition("/")[2]
        plain = socket.create_connection((connection.host, connection.port))
        self._socket = tls_context(connection).wrap_socket(plain, server_hostname=connection.host)
        self._file = self._socket.makefile("rb", buffering=2**18)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._socket.close()

    def read(self, spec: KindSpec, version: str) -> ObjectList:
        return decode_list(spec.kind, self.get(f"/apis/{spec.group}/{version}/{spec.plural}"))

    def get(self, path: str) -> bytes:
        prefix = f"/{self._path}" if self._path else ""
        token = self._connection.token
        shown = f"Authorization: Bearer {token.reveal()}\r\n" if token else ""
        self._socket.sendall(f"GET {prefix}{path} HTTP/1.1\r\nHost: {self._connection.host}\r\n{shown}\r\n".encode())
        headers = self._headers()
        if headers.get(b"transfer-encoding") == b"chunked":
            return b"".join(iter(self._chunk, b""))
        return bytes(self._file.read(int(headers[b"content-length"])))

    def _headers(self) -> dict[bytes, bytes]:
        status = self._file.readline()
        if b" 200 " not in status:
            raise ValueError(f"the server answers {status!r}")
        found: dict[bytes, bytes] = {}
        while (line := self._file.readline()) not in {b"\r\n", b""}:
            name, _, value = line.partition(b":")
            found[name.strip().lower()] = value.strip().lower()
        return found

    def _chunk(self) -> bytes:
        data = bytes(self._file.read(int(self._file.readline(), 16)))
        self._file.readline()
        return data
