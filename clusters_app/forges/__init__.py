"""Pull requests, one file a forge. `FORGES` is all there is to choose from; `docs/` says how to add one."""

from collections.abc import Callable
from dataclasses import dataclass

from clusters_app.egress import Session
from clusters_app.secret import Secret

from .base import Forge, ForgeKind
from .errors import ForgeError, ForgePermanent, ForgeTransient, forge_error
from .gitea import Gitea
from .local import LocalForge, LocalGit, RequestStore
from .pace import Pace
from .recognise import Recognised, recognise
from .transport import Call, Record, Transport

__all__ = [
    "FORGES",
    "Access",
    "Call",
    "Forge",
    "ForgeError",
    "ForgeKind",
    "ForgePermanent",
    "ForgeTransient",
    "Recognised",
    "Review",
    "recognise",
]


@dataclass(frozen=True, slots=True)
class Review:
    """What the `local` forge stands on instead of a server: where requests are kept, and the Git side."""

    store: RequestStore
    git: LocalGit
    actor: str = "flotilla"


@dataclass(frozen=True, slots=True)
class Access:
    """All that a forge's client needs. `pace` is shared by every client of one credential; `review` is for `local`."""

    url: str
    session: Session | None = None
    token: Secret | None = None
    pace: Pace | None = None
    record: Record = lambda _: None
    review: Review | None = None


def open_gitea(access: Access) -> Forge:
    """The repository at `<root>/<owner>/<name>[.git]`, where the root may have a path of its own."""
    root, owner, name = access.url.removesuffix("/").removesuffix(".git").rsplit("/", 2)
    if access.session is None:
        raise forge_error("forge.unknown", host=root)
    authorization = None if access.token is None else Secret(f"token {access.token.reveal()}")
    transport = Transport(
        access.session, f"{root}/api/v1", authorization, pace=access.pace or Pace(), record=access.record
    )
    return Gitea(transport, owner, name)


def open_local(access: Access) -> Forge:
    """Flotilla's own review of the remote."""
    if access.review is None:
        raise forge_error("forge.unknown", host=access.url)
    review = access.review
    return LocalForge(review.store, review.git, full_name=access.url, clone_url=access.url, actor=review.actor)


FORGES: dict[ForgeKind, Callable[[Access], Forge]] = {
    ForgeKind.GITEA: open_gitea,
    ForgeKind.LOCAL: open_local,
}
"""How each kind is opened. The other kinds are recognised, so that a person is told that they are not there yet."""
