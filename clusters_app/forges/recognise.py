"""Which forge a repository's URL belongs to: by its host where that is enough, else by asking the server."""

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

import msgspec

from clusters_app.egress import EgressError, Session
from clusters_app.ingest import IngestError, json_object

from .base import ForgeKind

_HOSTS = {
    "github.com": ForgeKind.GITHUB,
    "gitlab.com": ForgeKind.GITLAB,
    "bitbucket.org": ForgeKind.BITBUCKET_CLOUD,
    "dev.azure.com": ForgeKind.AZURE,
    "codeberg.org": ForgeKind.GITEA,
}
_AZURE_SUFFIX = ".visualstudio.com"


@dataclass(frozen=True, slots=True)
class Recognised:
    """`root`: where the forge is installed, without a slash at its end; `owner` and `name`: the repository there."""

    kind: ForgeKind
    root: str
    owner: str
    name: str


class _Version(msgspec.Struct, frozen=True):
    version: str


def recognise(url: str, session: Session) -> Recognised | None:
    """The forge behind an https clone URL, None for one that is not known (plain Git, or ssh: `local` fits those).

    At most three requests, none of which carries a credential.
    """
    parts = urlsplit(url)
    segments = [unquote(segment) for segment in parts.path.split("/") if segment]
    if parts.scheme not in ("https", "http") or len(segments) < 2:
        return None
    *context, owner, name = segments
    name = name.removesuffix(".git")
    host = (parts.hostname or "").lower()
    root = "/".join([f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", *context])
    if kind := _HOSTS.get(host) or (ForgeKind.AZURE if host.endswith(_AZURE_SUFFIX) else None):
        return Recognised(kind, root, owner, name)
    kind = _asked(root, f"{parts.scheme}://{parts.netloc}", session)
    return None if kind is None else Recognised(kind, root, owner, name)


def _asked(root: str, host_root: str, session: Session) -> ForgeKind | None:
    """Each forge answers at an address of its own, also to a stranger: with its version, or with "sign in first"."""
    if _is_gitea(f"{root}/api/v1/version", session):
        return ForgeKind.GITEA
    if _headers(f"{host_root}/api/v4/version", session).get("x-gitlab-meta"):
        return ForgeKind.GITLAB
    if _headers(f"{host_root}/api/v3/meta", session).get("x-github-request-id"):
        return ForgeKind.GITHUB
    return None


def _is_gitea(url: str, session: Session) -> bool:
    try:
        answer = session.request("GET", url, headers={"Accept": "application/json"})
        msgspec.convert(json_object(answer.body), _Version)
    except (EgressError, IngestError, msgspec.ValidationError):
        return False
    return answer.status == 200


def _headers(url: str, session: Session) -> dict[str, str]:
    try:
        return dict(session.request("GET", url).headers)
    except EgressError:
        return {}
