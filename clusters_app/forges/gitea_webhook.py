"""Gitea's webhooks: who sent it, and what should be read again. Nothing else in them is believed."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from clusters_app.ingest import IngestError, json_object
from clusters_app.secret import Secret


@dataclass(frozen=True, slots=True)
class Hint:
    """Something moved in a repository: a branch, or a pull request. `delivery` is the forge's id of this message."""

    delivery: str
    repository_url: str
    branch: str | None = None
    number: int | None = None


class _Repository(msgspec.Struct, frozen=True):
    clone_url: str


class _PullRequest(msgspec.Struct, frozen=True):
    number: int


class _Event(msgspec.Struct, frozen=True):
    repository: _Repository
    ref: str = ""
    number: int | None = None
    pull_request: _PullRequest | None = None


def is_signed(secret: Secret, headers: Mapping[str, str], body: bytes) -> bool:
    """Whether `X-Gitea-Signature` is the HMAC-SHA256 of the raw body. Constant time, before anything is parsed.

    Header names in any case. The copies under other forges' names do not count.
    """
    given = next((value for name, value in headers.items() if name.lower() == "x-gitea-signature"), "")
    wanted = hmac.new(secret.reveal().encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(given.encode(), wanted.encode())


def read_hint(headers: Mapping[str, str], body: bytes) -> Hint | None:
    """What the event is about, None for one that cannot be read. The caller has checked the signature."""
    names = {name.lower(): value for name, value in headers.items()}
    try:
        event = msgspec.convert(json_object(body), _Event)
    except (IngestError, msgspec.ValidationError):
        return None
    branch = event.ref.removeprefix("refs/heads/") if event.ref.startswith("refs/heads/") else None
    number = event.pull_request.number if event.pull_request else event.number
    return Hint(names.get("x-gitea-delivery", "")[:64], event.repository.clone_url, branch, number)
