"""One list of one kind: its pages, whether anything in it changed, and its typed objects when that is wanted.

A list of custom resources ends in `],"kind":…,"metadata":{…}}`, and its `resourceVersion` moves with any write anywhere
in the cluster. The bytes before that tail are the objects alone: equal bytes are equal objects, without decoding them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote

import msgspec
import xxhash

from clusters_app.flux.resources import KindSpec, NotAList, Unreadable, decode_list
from clusters_app.flux.structs import Resource

from .client import Client
from .errors import KubeError, fault

type Item = Resource | Unreadable
type ListState = Literal["ok", "unchanged", "missing", "forbidden", "failed"]

PAGE_SIZE = 500
# The tail holds a kind, two versions and a continue token (a few hundred bytes at most).
_LONGEST_TAIL = 8192
_SEAM = b'],"kind":"'


class _ListMeta(msgspec.Struct, frozen=True):
    continue_: str = msgspec.field(default="", name="continue")


class _Envelope(msgspec.Struct, frozen=True):
    """A list without its items."""

    kind: str = ""
    metadata: _ListMeta = _ListMeta()


@dataclass(frozen=True, slots=True)
class Page:
    """One answer. `items_end` is where its tail begins, or None when the list is written in another order."""

    body: bytes
    continues_at: str
    items_end: int | None


@dataclass(frozen=True, slots=True)
class KindList:
    """What a round learnt of one kind. `items` is None whenever it learnt nothing: then the old rows stay as they are.

    "unchanged": byte for byte what the given memory stood for; `decoded()` gives the objects all the same.
    "missing": the kind is not installed. "forbidden", "failed": see `error`.
    """

    kind: str
    state: ListState
    served_version: str = ""
    items: tuple[Item, ...] | None = None
    error: KubeError | None = None
    digest: str | None = None
    pages: tuple[Page, ...] = field(default=(), repr=False)

    def decoded(self) -> tuple[Item, ...] | None:
        """The objects of an "ok" or "unchanged" list, decoded now if need be; None for the other states.

        Raises `KubeError` in the one case that bytes once accepted cannot be read, which only new code can bring.
        """
        if self.state != "unchanged":
            return self.items
        return _decode(self.kind, "", self.pages)


def failed(kind: str, error: KubeError, version: str = "") -> KindList:
    state: ListState = "forbidden" if error.code == "kube.forbidden" else "failed"
    return KindList(kind, state, version, error=error)


async def read_list(client: Client, spec: KindSpec, version: str, known_digest: str | None) -> KindList:
    """All objects of a kind in all namespaces, in one version; `known_digest` makes an equal list "unchanged".

    Raises `KubeError`; "kube.not-found" when the kind is not served in that version.
    """
    path = f"/apis/{spec.group}/{version}/{spec.plural}"
    pages = await read_pages(client, path, spec.kind)
    digest = _digest(pages)
    if digest is not None and digest == known_digest:
        return KindList(spec.kind, "unchanged", version, digest=digest, pages=pages)
    items = _decode(spec.kind, client.place, pages)
    return KindList(spec.kind, "ok", version, items, digest=digest)


async def read_objects(client: Client, path: str, kind: str) -> tuple[Item, ...]:
    """A list that is decoded in any case. Raises `KubeError`."""
    return _decode(kind, client.place, await read_pages(client, path, kind))


async def read_pages(client: Client, path: str, kind: str) -> tuple[Page, ...]:
    """Every page of a list; once more from the start when its continue token expired (410). Raises `KubeError`."""
    try:
        return await _walk(client, path, kind)
    except KubeError as error:
        if error.code != "kube.list-expired":
            raise
    return await _walk(client, path, kind)


async def _walk(client: Client, path: str, kind: str) -> tuple[Page, ...]:
    pages: list[Page] = []
    query = f"?limit={PAGE_SIZE}"
    while True:
        answer = await client.get(f"{path}{query}", what=kind)
        pages.append(_page(client.place, kind, answer.body))
        if not pages[-1].continues_at:
            return tuple(pages)
        query = f"?limit={PAGE_SIZE}&continue={quote(pages[-1].continues_at, safe='')}"


def _page(host: str, kind: str, body: bytes) -> Page:
    cut = body.rfind(_SEAM, max(0, len(body) - _LONGEST_TAIL))
    try:
        envelope = msgspec.json.decode(b"{" + body[cut + 2 :], type=_Envelope) if cut >= 0 else None
    except msgspec.DecodeError:
        envelope = None
    if envelope is None:
        cut, envelope = -1, _envelope(host, kind, body)
    if envelope.kind != f"{kind}List":
        detail = f"a {envelope.kind[:60]}" if envelope.kind else "no Kubernetes object"
        raise fault("kube.wrong-kind", host=host, what=kind, detail=detail)
    return Page(body, envelope.metadata.continue_, cut if cut >= 0 else None)


def _envelope(host: str, kind: str, body: bytes) -> _Envelope:
    try:
        return msgspec.json.decode(body, type=_Envelope)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        detail = "it ends too early" if "truncated" in str(error) else str(error)[:120]
        raise fault("kube.not-json", host=host, what=kind, detail=detail) from error


def _digest(pages: Sequence[Page]) -> str | None:
    """Fingerprint of the objects' bytes over all pages; None when they cannot be told from the rest."""
    hasher = xxhash.xxh3_128()
    for page in pages:
        if page.items_end is None:
            return None
        hasher.update(memoryview(page.body)[: page.items_end])
    return hasher.hexdigest()


def _decode(kind: str, host: str, pages: Sequence[Page]) -> tuple[Item, ...]:
    try:
        return tuple(item for page in pages for item in decode_list(kind, page.body).items)
    except NotAList as error:
        raise fault("kube.not-json", host=host, what=kind, detail=str(error)) from error
