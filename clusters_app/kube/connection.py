"""How one API server is reached: the values that a registration holds, and what TLS makes of them."""

import hashlib
import os
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from clusters_app import egress
from clusters_app.secret import Secret

from .errors import fault

_PATH = re.compile(r"(/[A-Za-z0-9._~!$&'()*+,;=:@%-]+)*")
_DEFAULT_PORTS = {"https": 443, "http": 80}


class InvalidServer(ValueError):
    """The address of an API server is not one; the message names what is wrong with it."""


def normalise_server(url: str) -> str:
    """The one spelling of a server's address: host in lower case, no default port, no slash at the end.

    The path stays, since clusters behind one proxy differ by nothing else; IPv6 brackets stay too. Raises
    `InvalidServer`. That http is for the demo's loopback alone is the egress policy's to say, not ours.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise InvalidServer("the server's address cannot be read") from error
    if parts.scheme not in _DEFAULT_PORTS or not host:
        raise InvalidServer("the server's address must look like https://host:6443")
    if parts.username is not None or parts.password is not None:
        raise InvalidServer("the server's address must not carry a user name or password")
    path = parts.path.rstrip("/")
    if parts.query or parts.fragment or ".." in path.split("/") or not _PATH.fullmatch(path):
        raise InvalidServer("the server's address must end with its path: no '?', '#', '..' or empty steps")
    if not re.fullmatch(r"[a-z0-9_.-]+|[0-9a-f:.]+", host):
        raise InvalidServer("the server's host name holds a character that no host name has")
    authority = f"[{host}]" if ":" in host else host
    if port is not None and port != _DEFAULT_PORTS[parts.scheme]:
        authority += f":{port}"
    return f"{parts.scheme}://{authority}{path}"


@dataclass(frozen=True, slots=True)
class Connection:
    """Everything that is needed to call one API server. Without `ca_pem` the system's authorities are trusted.

    Either a token or a client certificate with its key. Raises `InvalidServer`.
    """

    server: str
    ca_pem: str | None = None
    token: Secret | None = None
    client_certificate_pem: str | None = None
    client_key: Secret | None = field(default=None)
    tls_server_name: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "server", normalise_server(self.server))

    @property
    def host(self) -> str:
        """Host name or address, IPv6 without brackets."""
        return urlsplit(self.server).hostname or ""

    @property
    def port(self) -> int:
        parts = urlsplit(self.server)
        return parts.port or _DEFAULT_PORTS[parts.scheme]

    @property
    def place(self) -> str:
        """Host and port for a message."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_tls(self) -> bool:
        return self.server.startswith("https:")

    @property
    def identity(self) -> str:
        """What a credential is bound to: another server, path, name or authority needs a new credential."""
        authority = hashlib.sha256((self.ca_pem or "").strip().encode()).hexdigest()
        return f"{self.server} {self.tls_server_name or ''} {authority}"


def tls_context(connection: Connection) -> ssl.SSLContext:
    """Trust in the registered authority alone, and our client certificate when there is one.

    Chain, name and dates are verified. The strict-extension flag that Python 3.13 turns on is off: authorities of older
    EKS and MicroK8s clusters carry no key identifiers and no key usage, and are right all the same.
    Raises `KubePermanent`.
    """
    try:
        context = egress.tls_context(connection.ca_pem)
    except egress.EgressError as error:
        raise fault("kube.authority-unusable", host=connection.place, detail="it is not PEM text") from error
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if connection.client_certificate_pem and connection.client_key:
        _load_client_certificate(context, connection, connection.client_certificate_pem, connection.client_key)
    return context


def _load_client_certificate(context: ssl.SSLContext, connection: Connection, certificate: str, key: Secret) -> None:
    # Python's ssl takes a private key as a file only; this file lives in memory and is gone before we return.
    # An encrypted key would make OpenSSL ask at the terminal: the empty password makes it fail instead.
    with _memory_file(f"{certificate.strip()}\n{key.reveal()}") as path:
        try:
            context.load_cert_chain(path, password="")
        except (ssl.SSLError, ValueError) as error:
            reason = "the certificate and the key do not belong together or are not PEM text"
            raise fault("kube.client-certificate-unusable", host=connection.place, detail=reason) from error


@contextmanager
def _memory_file(text: str) -> Iterator[str]:
    descriptor = os.memfd_create("client", os.MFD_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
