"""Sealing and opening credentials. Sealing needs the public key alone; opening happens in workers only."""

from datetime import datetime
from functools import cache
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from clusters_app.models import Credential
from clusters_app.sealed import KeyRing, PublicKey, SealedError, bind, open_, read_key_file, seal
from clusters_app.secret import Secret

from .errors import ServiceError


@cache
def _public_key() -> PublicKey:
    try:
        text = settings.FLOTILLA_PUBLIC_KEY_FILE.read_text(encoding="ascii")
    except OSError as error:
        raise ServiceError(
            "credential.no-key",
            _("The public key that seals credentials is not there: %(file)s.")
            % {"file": settings.FLOTILLA_PUBLIC_KEY_FILE},
            remedy=_("Set FLOTILLA_PUBLIC_KEY_FILE, or run: flotilla rotate-keys --first"),
        ) from error
    return PublicKey.parse(text)


@cache
def _key_ring() -> KeyRing:
    return read_key_file(settings.FLOTILLA_KEY_FILE)


def host_of(url: str) -> str:
    """What a credential is bound to besides its owner: host and port of the place that it is sent to."""
    parts = urlsplit(url if "://" in url else f"ssh://{url}")
    return f"{(parts.hostname or '').lower()}:{parts.port or ''}"


def store_credential(
    *, owner_kind: str, owner_id: int, field: str, host: str, value: Secret, expires_at: datetime | None = None
) -> Credential:
    """Seal a value for its owner, field and host, replacing what was there."""
    key = _public_key()
    associated = bind(table=owner_kind, row=str(owner_id), field=field, host=host)
    row, _created = Credential.objects.update_or_create(
        owner_kind=owner_kind,
        owner_id=owner_id,
        field=field,
        defaults={
            "host": host,
            "sealed": seal(value, key, associated),
            "key_id": key.key_id,
            "expires_at": expires_at,
        },
    )
    return row


def open_credential(*, owner_kind: str, owner_id: int, field: str, host: str) -> Secret | None:
    """The value, None when none is stored. ServiceError when it was sealed for another host or with a lost key."""
    return opened(sealed_credentials(owner_kind=owner_kind, owner_ids=[owner_id]).get((owner_id, field)), host)


def sealed_credentials(*, owner_kind: str, owner_ids: list[int]) -> dict[tuple[int, str], Credential]:
    """Sealed rows by (owner, field) for a batch, in one query; `opened` opens one."""
    rows = Credential.objects.filter(owner_kind=owner_kind, owner_id__in=owner_ids)
    return {(row.owner_id, row.field): row for row in rows}


def opened(row: Credential | None, host: str) -> Secret | None:
    """The value of a sealed row, None for None. ServiceError as `open_credential`."""
    if row is None:
        return None
    associated = bind(table=row.owner_kind, row=str(row.owner_id), field=row.field, host=host)
    try:
        return open_(bytes(row.sealed), _key_ring(), associated)
    except SealedError as error:
        raise ServiceError(
            "credential.not-opened",
            _("The stored credential of %(owner)s cannot be opened: %(why)s") % {"owner": row, "why": error},
            remedy=_("Enter the credential again."),
        ) from error


def forget_credentials(*, owner_kind: str, owner_id: int) -> None:
    Credential.objects.filter(owner_kind=owner_kind, owner_id=owner_id).delete()
