"""The audit chain. Every service that writes calls `record` inside its transaction; refusals are recorded too."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from clusters_app.models import AuditRecord

#: Any constant will do: it names the advisory lock that orders writers of the chain on PostgreSQL.
_CHAIN_LOCK = 0x666C6F74


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: a person (with the token used, if any) or the product itself."""

    name: str
    user: User | None = None
    token: str = ""
    address: str = ""


SYSTEM = Actor("flotilla")


def record(
    *, actor: Actor, verb: str, subject: str, outcome: str = AuditRecord.Outcome.DONE, **detail: object
) -> AuditRecord:
    """Append one record, in the caller's transaction: the deed and its record stand or fall together. Three queries."""
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_CHAIN_LOCK])
        last = AuditRecord.objects.order_by("-id").values_list("digest", flat=True).first() or ""
        row = AuditRecord(
            at=timezone.now(),
            actor=actor.name,
            token=actor.token,
            address=actor.address,
            verb=verb,
            subject=subject[:400],
            outcome=outcome,
            detail=json.loads(json.dumps(detail, default=str)),
            previous=last,
        )
        row.digest = digest_of(row)
        row.save(force_insert=True)
    return row


def digest_of(row: AuditRecord) -> str:
    """SHA-256 over the row's content and the digest before it."""
    content = [row.previous, _instant(row.at), row.actor, row.token, row.address, row.verb, row.subject, row.outcome]
    return hashlib.sha256(json.dumps([*content, row.detail], sort_keys=True).encode()).hexdigest()


def _instant(at: datetime) -> str:
    return at.isoformat(timespec="microseconds")


def first_broken_link() -> AuditRecord | None:
    """The first record that was changed or whose predecessor is missing; None when the chain holds. Reads every row."""
    previous = ""
    for row in AuditRecord.objects.order_by("id").iterator():
        if row.previous != previous or row.digest != digest_of(row):
            return row
        previous = row.digest
    return None
