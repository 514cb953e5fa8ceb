"""Credentials at rest: whoever holds the public key can seal them, only the workers' private key opens them.

The web process has the public key alone, so a hole in a page gives out no credential. Each sealed value is bound to the
row, field and host that it belongs to: copied anywhere else it does not open. HPKE (RFC 9180) with X25519, HKDF-SHA256
and AES-256-GCM does the work.
"""

import base64
import binascii
import contextlib
import hashlib
import os
import stat
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from clusters_app.secret import Secret

_SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM)
_MAGIC = b"FLS1"
_KEY_ID_BYTES = 8
_HEAD = len(_MAGIC) + _KEY_ID_BYTES
_LEAST = _HEAD + 32 + 16  # the ephemeral key, the authentication tag

_PUBLIC_PREFIX = "flotilla-seal-public-"
_PRIVATE_PREFIX = "flotilla-seal-private-"


class SealedError(Exception):
    """`code` is stable; the message says what to do and holds neither key nor plaintext."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __reduce__(self) -> tuple[type["SealedError"], tuple[str, str]]:
        return type(self), (self.code, self.message)


# Keys


@dataclass(frozen=True)
class PublicKey:
    """Seals. Its text form (`str`) may stand in a setting; `key_id` is a digest of the key itself."""

    key_id: str
    _key: X25519PublicKey = field(repr=False, compare=False)

    @classmethod
    def of(cls, key: X25519PublicKey) -> Self:
        return cls(hashlib.sha256(key.public_bytes_raw()).digest()[:_KEY_ID_BYTES].hex(), key)

    @classmethod
    def parse(cls, text: str) -> Self:
        """From the text form. Raises `SealedError` when it is none."""
        raw = _decoded(text.strip(), _PUBLIC_PREFIX)
        if raw is None:
            raise SealedError("sealed.public-key", f"this is no public key: it begins with {_PUBLIC_PREFIX}")
        return cls.of(X25519PublicKey.from_public_bytes(raw))

    def __str__(self) -> str:
        return _encoded(_PUBLIC_PREFIX, self._key.public_bytes_raw())


@dataclass(frozen=True)
class KeyRing:
    """Opens. `active` is the key that new values should be sealed under; the others open what is older."""

    active: PublicKey
    _private: Mapping[str, X25519PrivateKey] = field(repr=False, compare=False)

    @property
    def key_ids(self) -> tuple[str, ...]:
        return tuple(self._private)

    def holds(self, key: PublicKey) -> bool:
        """Whether what this public key seals can be opened here. Asked at start: a wrong key is refused at once."""
        return key.key_id in self._private


def _encoded(prefix: str, raw: bytes) -> str:
    return prefix + base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _decoded(text: str, prefix: str) -> bytes | None:
    try:
        raw = base64.urlsafe_b64decode(text.removeprefix(prefix) + "=")
    except (binascii.Error, ValueError):
        return None
    return raw if len(raw) == 32 and _encoded(prefix, raw) == text else None


# Sealing


def bind(*, table: str, row: str, field: str, host: str) -> bytes:
    """What a sealed value belongs to, as bytes that no other four texts give. `row` must be known before sealing."""
    parts = [part.encode() for part in (table, row, field, host)]
    return b"".join(struct.pack(">I", len(part)) + part for part in parts)


def seal(plaintext: Secret, public_key: PublicKey, associated: bytes) -> bytes:
    """The sealed value; the same plaintext gives different bytes each time. `associated` comes from `bind`."""
    head = _MAGIC + bytes.fromhex(public_key.key_id)
    return head + _SUITE.encrypt(plaintext.reveal().encode(), public_key._key, info=head + associated)


def open_(sealed: bytes, ring: KeyRing, associated: bytes) -> Secret:
    """The plaintext. Raises `SealedError`: made for another key, or changed, or moved here from another place."""
    key_id = sealed_under(sealed)
    private = ring._private.get(key_id)
    if private is None:
        raise SealedError(
            "sealed.unknown-key",
            f"this credential was sealed under key {key_id}, and the key file holds {', '.join(ring.key_ids)}: "
            f"put the missing key back, or enter the credential again",
        )
    try:
        plaintext = _SUITE.decrypt(bytes(sealed[_HEAD:]), private, info=bytes(sealed[:_HEAD]) + associated)
        return Secret(plaintext.decode())
    except (InvalidTag, ValueError):
        raise SealedError(
            "sealed.not-authentic",
            "this credential was changed, or belongs to another row, field or host: enter it again",
        ) from None


def sealed_under(sealed: bytes) -> str:
    """The id of the key that a value was sealed for. Raises `SealedError` when it is no sealed value at all."""
    if len(sealed) < _LEAST or not bytes(sealed[:4]) == _MAGIC:
        raise SealedError("sealed.malformed", "this is no sealed credential: enter it again")
    return bytes(sealed[len(_MAGIC) : _HEAD]).hex()


def reseal(sealed: bytes, ring: KeyRing, associated: bytes) -> bytes:
    """The value under the active key; the very same bytes when it is there already, so that rotation can be resumed."""
    if sealed_under(sealed) == ring.active.key_id:
        return sealed
    return seal(open_(sealed, ring, associated), ring.active, associated)


# The key file: one private key a line, the active one first, readable by its owner alone.


def read_key_file(path: Path) -> KeyRing:
    """The keys of a file. Raises `SealedError`: missing, readable by others than its owner, or not a key file."""
    keys = [_private_key(line, path) for line in _protected_text(path).splitlines() if line.strip()]
    if not keys:
        raise _malformed(path)
    return _ring(keys)


def generate_key_file(path: Path) -> PublicKey:
    """A new key in a new file of mode 0600. Never overwrites: a lost key is every credential lost."""
    key = X25519PrivateKey.generate()
    try:
        _write_new(path, [key])
    except FileExistsError:
        raise SealedError(
            "sealed.key-file-exists", f"{path} exists already: rotate its key, or choose another path"
        ) from None
    return PublicKey.of(key.public_key())


def rotate_key_file(path: Path) -> PublicKey:
    """A new active key in front of the old ones, in one step. Re-seal what is stored, then drop the old lines."""
    text = _protected_text(path)
    old = [_private_key(line, path) for line in text.splitlines() if line.strip()]
    if not old:
        raise _malformed(path)
    new = X25519PrivateKey.generate()
    beside = path.with_name(f".{path.name}.new")
    with contextlib.suppress(FileNotFoundError):
        beside.unlink()  # left by a rotation that was interrupted
    _write_new(beside, [new, *old])
    beside.replace(path)
    return PublicKey.of(new.public_key())


def _ring(keys: list[X25519PrivateKey]) -> KeyRing:
    by_id = {PublicKey.of(key.public_key()).key_id: key for key in keys}
    return KeyRing(PublicKey.of(keys[0].public_key()), by_id)


def _private_key(line: str, path: Path) -> X25519PrivateKey:
    raw = _decoded(line.strip(), _PRIVATE_PREFIX)
    if raw is None:
        raise _malformed(path)
    return X25519PrivateKey.from_private_bytes(raw)


def _malformed(path: Path) -> SealedError:
    return SealedError(
        "sealed.key-file-malformed", f"{path} is no key file: each line begins with {_PRIVATE_PREFIX}; restore it"
    )


def _protected_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            # Asked of the open file: a path may lead elsewhere a moment later.
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or stat.S_IMODE(status.st_mode) & 0o077:
                raise SealedError(
                    "sealed.key-file-open", f"{path} can be read by others than its owner: run chmod 600 on it"
                )
            return file.read(64 * 1024).decode("ascii", "replace")
    except OSError as error:
        raise SealedError(
            "sealed.key-file-missing", f"{path} cannot be read ({error.strerror}): create it, or set the right path"
        ) from error


def _write_new(path: Path, keys: list[X25519PrivateKey]) -> None:
    text = "".join(_encoded(_PRIVATE_PREFIX, key.private_bytes_raw()) + "\n" for key in keys)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
