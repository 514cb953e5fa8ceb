"""What a failed call to an API server raises: two branches, one catalogue (`faults.py`), no secrets."""

import asyncio
import errno
import re
import socket
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import aiohttp
import msgspec

from .faults import FAULTS, ConnectionState

#: OpenSSL's verify results (X509_V_ERR_*) that have a text of their own.
_CERTIFICATE_FAULTS = {
    9: "kube.certificate-not-yet-valid",
    10: "kube.certificate-expired",
    18: "kube.certificate-unknown-authority",
    19: "kube.certificate-unknown-authority",
    20: "kube.certificate-unknown-authority",
    21: "kube.certificate-unknown-authority",
    7: "kube.certificate-unknown-authority",
    62: "kube.certificate-wrong-name",
    64: "kube.certificate-wrong-name",
}
_NO_ROUTE = {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL, errno.ENETDOWN, errno.EHOSTDOWN}
#: A server may ask for any pause; a pause beyond this is an outage and is ours to look at again.
_LONGEST_PAUSE_SECONDS = 600.0


class KubeError(Exception):
    """A call that brought no answer. `str()` names the host and the object, `remedy` says what to do."""

    def __init__(self, code: str, *, retry_after_seconds: float | None = None, **params: object) -> None:
        self.code = code
        self.params = {name: str(value) for name, value in params.items()}
        self.retry_after_seconds = retry_after_seconds
        super().__init__(FAULTS[code].text % self.params)

    @property
    def text(self) -> str:
        return str(self)

    @property
    def remedy(self) -> str:
        return FAULTS[self.code].remedy % self.params

    @property
    def connection(self) -> ConnectionState:
        """What the cluster's connection is as long as this lasts, when it concerns the whole cluster."""
        return FAULTS[self.code].connection

    @property
    def ends_round(self) -> bool:
        """Whether every further request of the round would only fail the same way."""
        return FAULTS[self.code].ends_round


class KubeTransient(KubeError):
    """Try again later, without a person."""


class KubePermanent(KubeError):
    """It stays as it is until somebody changes something."""


class _Status(msgspec.Struct, frozen=True):
    """`meta/v1.Status`, the API server's way to refuse."""

    kind: str = ""
    message: str = ""
    code: int = 0


def fault(code: str, *, retry_after_seconds: float | None = None, **params: object) -> KubeError:
    """The error for a code of the catalogue, in the branch that the catalogue names."""
    branch = KubeTransient if FAULTS[code].is_transient else KubePermanent
    return branch(code, retry_after_seconds=retry_after_seconds, **params)


def from_certificate(host: str, error: ssl.SSLCertVerificationError) -> KubeError:
    code = _CERTIFICATE_FAULTS.get(error.verify_code, "kube.tls-failed")
    return fault(code, host=host, detail=_detail(error.verify_message))


def from_exception(host: str, error: BaseException) -> KubeError:
    """The fault behind what aiohttp, ssl or the socket raised. Time-outs are the caller's: only it knows the phase."""
    cause = _root(error)
    if isinstance(cause, KubeError):
        return cause
    if isinstance(cause, ssl.SSLCertVerificationError):
        return from_certificate(host, cause)
    if isinstance(cause, ssl.SSLError):
        return fault("kube.tls-failed", host=host, detail=_detail(cause.reason or "handshake failed"))
    return _from_network(host, cause)


def _from_network(host: str, cause: BaseException) -> KubeError:
    match cause:
        case socket.gaierror():
            return fault("kube.name-not-resolved", host=host)
        case ConnectionRefusedError():
            return fault("kube.connection-refused", host=host)
        case OSError(errno=number) if number in _NO_ROUTE:
            return fault("kube.network-unreachable", host=host, detail=_detail(cause.strerror or ""))
        case aiohttp.ClientResponseError():
            return fault("kube.not-kubernetes", host=host, detail="what it says is not HTTP")
        case _:
            return fault("kube.disconnected", host=host)


_STATUS_FAULTS = {
    401: "kube.unauthorized",
    403: "kube.forbidden",
    404: "kube.not-found",
    410: "kube.list-expired",
    429: "kube.rate-limited",
}


def from_answer(host: str, what: str, status: int, headers: Mapping[str, str], body: bytes) -> KubeError:
    """The fault of an answer without success. `body` is read for its shape alone, never repeated."""
    pause = retry_after_seconds(headers)
    code = _STATUS_FAULTS.get(status) or _code_of_range(status)
    if code not in {"kube.unauthorized", "kube.rate-limited", "kube.redirected"} and is_web_page(headers, body):
        code = "kube.web-page"
    detail = "" if pause is None else f" for {pause:.0f} s"
    return fault(code, retry_after_seconds=pause, host=host, what=what, status=status, detail=detail)


def _code_of_range(status: int) -> str:
    if status >= 500:
        return "kube.server-error"
    return "kube.redirected" if 300 <= status < 400 else "kube.unexpected-status"


def status_of(body: bytes) -> int | None:
    """The code of a `Status` document, whatever HTTP said (some proxies turn every answer into a 200); else None."""
    if len(body) > 65_536 or b'"Status"' not in body:
        return None
    try:
        status = msgspec.json.decode(body, type=_Status)
    except msgspec.DecodeError:
        return None
    return status.code or 500 if status.kind == "Status" else None


def is_web_page(headers: Mapping[str, str], body: bytes) -> bool:
    return headers.get("Content-Type", "").startswith("text/html") or body[:200].lstrip()[:1] == b"<"


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """`Retry-After` in seconds (RFC 9110 allows seconds or a date); None when absent or senseless.

    A date is measured against the answer's own `Date`: the two come from the same clock, ours may differ.
    """
    value = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"\d{1,9}", value):
        return min(float(value), _LONGEST_PAUSE_SECONDS)
    until, sent = http_date(value), http_date(headers.get("Date", ""))
    if until is None or sent is None:
        return None
    return min(max((until - sent).total_seconds(), 0.0), _LONGEST_PAUSE_SECONDS)


def http_date(value: str) -> datetime | None:
    """A date of an HTTP header as aware UTC; None for anything else."""
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    return at.replace(tzinfo=at.tzinfo or UTC)


def _root(error: BaseException) -> BaseException:
    """aiohttp wraps what happened; the innermost error that says something specific is the one to judge."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return error.certificate_error
    if isinstance(error, aiohttp.ClientConnectorError):
        return error.os_error
    if isinstance(error, aiohttp.ClientPayloadError | asyncio.IncompleteReadError):
        return aiohttp.ClientConnectionError()
    return error


def _detail(text: str) -> str:
    """A library's words for a person: one line, no final stop, not too long."""
    return " ".join(text.split()).rstrip(".")[:200] or "unknown"
