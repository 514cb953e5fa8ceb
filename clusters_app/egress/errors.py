"""What can go wrong on the way out: two branches, stable codes, and one text for each."""

import errno
import http.client
import ssl
import zlib
from collections.abc import Callable
from typing import Any

from urllib3.exceptions import InvalidChunkLength, ProtocolError


class EgressError(Exception):
    """`code` is stable, `host` the name that was asked (or empty), the message names host and remedy and no secret."""

    def __init__(self, code: str, host: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.host = host
        self.message = message

    def __reduce__(self) -> tuple[type["EgressError"], tuple[str, str, str]]:
        return type(self), (self.code, self.host, self.message)


class EgressTransient(EgressError):
    """The same request may succeed later."""


class EgressPermanent(EgressError):
    """It will fail again until a person changes something."""


class TooMuch(Exception):
    """The server sent more than it may. Not an OSError on purpose: the HTTP library must let it pass."""

    def __init__(self, what: str, allowed: int) -> None:
        super().__init__(what, allowed)
        self.what = what
        self.allowed = allowed


def timed_out(host: str, phase: str, seconds: float) -> EgressTransient:
    return EgressTransient(
        "egress.timed-out",
        host,
        f"{host} did not finish within {seconds:.3g} s ({phase}): check that it is up and not overloaded",
    )


def explained(error: BaseException, host: str) -> EgressError:
    """The error of a library as ours. Understands what is at the bottom of a chain of wrapped ones."""
    for cause in _causes(error):
        for kind, explain in _KNOWN:
            if isinstance(cause, kind):
                return explain(cause, host)
    if isinstance(error, ProtocolError):
        return _not_http(error, host)
    return EgressTransient(
        "egress.connection-lost",
        host,
        f"the connection to {host} broke ({type(error).__name__}): trying again may help",
    )


def _causes(error: BaseException) -> list[BaseException]:
    """The error and what it wraps: by `from`, or as an argument, as urllib3 does."""
    found: list[BaseException] = []
    waiting: list[object] = [error]
    while waiting:
        cause = waiting.pop(0)
        if isinstance(cause, BaseException) and cause not in found:
            found.append(cause)
            waiting += [*cause.args, cause.__cause__]
    return found


# OpenSSL's results of a verification (x509_vfy.h).
_DATES = {9, 10}
_NAMES = {62, 64}
_AUTHORITIES = {2, 7, 18, 19, 20, 21, 24}  # 7: another authority of the same name, as kubeadm makes them


def _certificate(error: ssl.SSLCertVerificationError, host: str) -> EgressPermanent:
    if error.verify_code in _DATES:
        code, text = "egress.certificate-expired", "is not valid at this time: renew it, or set the clocks right"
    elif error.verify_code in _NAMES:
        code, text = "egress.certificate-name", "was issued for another name: use the name that it was issued for"
    elif error.verify_code in _AUTHORITIES:
        code, text = "egress.certificate-authority", "comes from an unknown authority: give the right CA certificate"
    else:
        code, text = "egress.certificate", f"is refused ({error.verify_message})"
    return EgressPermanent(code, host, f"the certificate of {host} {text}")


_EOF_REASONS = {"UNEXPECTED_EOF_WHILE_READING", "EOF occurred in violation of protocol"}


def _tls(error: ssl.SSLError, host: str) -> EgressError:
    if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError) or error.reason in _EOF_REASONS:
        return EgressTransient(
            "egress.connection-lost", host, f"{host} closed the connection in the middle: trying again may help"
        )
    return EgressPermanent(
        "egress.tls", host, f"no TLS connection with {host}: check that this port speaks https with TLS 1.2 or newer"
    )


def _too_much(error: TooMuch, host: str) -> EgressPermanent:
    if error.what == "head":
        return EgressPermanent("egress.headers-too-large", host, f"{host} sent more headers than {error.allowed} bytes")
    return EgressPermanent("egress.too-large", host, f"the answer of {host} is larger than {error.allowed} bytes")


def _lost(error: BaseException, host: str) -> EgressTransient:
    if isinstance(error, ConnectionRefusedError):
        return EgressTransient(
            "egress.connection-refused", host, f"{host} refuses connections: check the port and that the server runs"
        )
    return EgressTransient(
        "egress.connection-lost", host, f"{host} closed the connection in the middle: trying again may help"
    )


def _unreachable(error: OSError, host: str) -> EgressTransient:
    name = errno.errorcode.get(error.errno or 0, type(error).__name__)
    return EgressTransient("egress.unreachable", host, f"{host} cannot be reached ({name}): check routes and firewalls")


def _not_http(error: Exception, host: str) -> EgressError:
    # http.client raises the bare class for "more than 100 headers".
    if isinstance(error, http.client.LineTooLong) or type(error) is http.client.HTTPException:
        return EgressPermanent("egress.headers-too-large", host, f"{host} sent too many or too long headers")
    return EgressPermanent(
        "egress.not-http", host, f"{host} does not answer in HTTP: check the port and what listens there"
    )


def _undecodable(_: BaseException, host: str) -> EgressPermanent:
    return EgressPermanent(
        "egress.bad-encoding", host, f"{host} sent a body that its Content-Encoding does not describe"
    )


# The first row that fits explains: special kinds stand above the general ones that they are cases of.
_KNOWN: tuple[tuple[type[BaseException], Callable[[Any, str], EgressError]], ...] = (
    (ssl.SSLCertVerificationError, _certificate),
    (ssl.SSLError, _tls),
    (TooMuch, _too_much),
    (ConnectionError, _lost),
    (InvalidChunkLength, _not_http),
    (http.client.IncompleteRead, _lost),
    (OSError, _unreachable),
    (zlib.error, _undecodable),
    (http.client.HTTPException, _not_http),
)
