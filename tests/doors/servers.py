"""A certificate authority and TLS servers that misbehave as told, on real sockets."""

import contextlib
import datetime as dt
import ipaddress
import socket
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

type Handler = Callable[[socket.socket], None]

NOW = dt.datetime.now(dt.UTC)
DAY = dt.timedelta(days=1)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


class Authority:
    """Signs server certificates. Has no key identifiers, as many cluster authorities: strict mode would refuse it."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._certificate = (
            x509.CertificateBuilder()
            .subject_name(_name("test authority"))
            .issuer_name(_name("test authority"))
            .public_key(self._key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(NOW - DAY)
            .not_valid_after(NOW + DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.pem = self._certificate.public_bytes(serialization.Encoding.PEM).decode()

    def server_context(
        self, *, name: str = "127.0.0.1", starts: dt.datetime = NOW - DAY, ends: dt.datetime = NOW + DAY
    ) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            x509.CertificateBuilder()
            .subject_name(_name("server"))
            .issuer_name(self._certificate.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(starts)
            .not_valid_after(ends)
            .add_extension(x509.SubjectAlternativeName([_alternative(name)]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        pem = certificate.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "server.pem"
            path.write_bytes(pem)
            context.load_cert_chain(path)
        return context


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


@dataclass
class Server:
    port: int
    connections: int = 0
    stopping: threading.Event | None = None

    def url(self, path: str = "/", host: str = "127.0.0.1", scheme: str = "https") -> str:
        return f"{scheme}://{host}:{self.port}{path}"


@contextlib.contextmanager
def serving(handler: Handler, context: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Each connection runs the handler in a thread of its own; a client that goes away in the middle is expected."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(port=listener.getsockname()[1], stopping=threading.Event())
    threads: list[threading.Thread] = []
    open_sockets: list[socket.socket] = []

    def one(plain: socket.socket) -> None:
        connection = plain
        with contextlib.suppress(OSError):
            if context is not None:
                connection = context.wrap_socket(plain, server_side=True)
            handler(connection)
        with contextlib.suppress(OSError, ValueError):
            if isinstance(connection, ssl.SSLSocket):
                connection.settimeout(0.05)
                connection.unwrap()
        connection.close()
        plain.close()

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                plain, _ = listener.accept()
                plain.settimeout(20)
                open_sockets.append(plain)
                server.connections += 1
                threads.append(threading.Thread(target=one, args=(plain,), daemon=True))
                threads[-1].start()

    acceptor = threading.Thread(target=accept, daemon=True)
    acceptor.start()
    try:
        yield server
    finally:
        assert server.stopping is not None
        server.stopping.set()
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        acceptor.join(5)
        for thread in threads:
            thread.join(5)


def read_request(connection: socket.socket) -> bytes:
    """Head and body of one request; empty when the client has gone."""
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk:
            return b""
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            while len(body) < int(line.split(b":")[1]):
                body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def answering(*answers: bytes) -> Handler:
    """Gives these answers in turn on one connection, then closes it."""

    def handler(connection: socket.socket) -> None:
        for answer in answers:
            if not read_request(connection):
                return
            connection.sendall(answer)

    return handler


def ok(body: bytes = b"{}", *headers: bytes) -> bytes:
    lines = [b"HTTP/1.1 200 OK", b"Content-Length: %d" % len(body), *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body
