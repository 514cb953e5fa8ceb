"""When a credential of a cluster ends, as far as it says so itself."""

import base64
import binascii
from datetime import UTC, datetime

import msgspec
from cryptography import x509

from clusters_app.secret import Secret

from .connection import Connection


class _Claims(msgspec.Struct, frozen=True):
    exp: float | None = None


def expires_at(connection: Connection) -> datetime | None:
    """The end of the token or of the client certificate; None when it has none or does not tell.

    A token is read, not verified: it is ours, and its issuer alone can judge it.
    """
    if connection.token:
        return _token_ends_at(connection.token)
    if connection.client_certificate_pem:
        return _certificate_ends_at(connection.client_certificate_pem)
    return None


def _token_ends_at(token: Secret) -> datetime | None:
    parts = token.reveal().split(".")
    if len(parts) != 3:
        return None
    try:
        claims = msgspec.json.decode(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)), type=_Claims)
        return datetime.fromtimestamp(claims.exp, UTC) if claims.exp is not None else None
    except (binascii.Error, msgspec.DecodeError, UnicodeDecodeError, ValueError, OverflowError, OSError):
        return None


def _certificate_ends_at(pem: str) -> datetime | None:
    try:
        return x509.load_pem_x509_certificate(pem.encode()).not_valid_after_utc
    except ValueError:
        return None
