"""Opening the adapters of a stored repository: its remote, mirror and forge. Workers only: credentials are opened."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from clusters_app.egress import Session
from clusters_app.forges import FORGES, Access, Forge, ForgeKind, Review
from clusters_app.git.credentials import Remote, TokenCredential
from clusters_app.git.mirror import Mirror
from clusters_app.git.review import RemoteRepository
from clusters_app.models import Credential, Repository
from clusters_app.secret import Secret

from .authorship import FLOTILLA
from .credentials import host_of, open_credential
from .errors import ServiceError
from .local_requests import StoredRequests
from .outside import policy


def remote_of(repository: Repository) -> Remote:
    token = open_credential(
        owner_kind=Credential.Owner.REPOSITORY,
        owner_id=repository.pk,
        field="token",
        host=host_of(repository.url),
    )
    return make_remote(url=repository.url, token=token, username=repository.username, ca_pem=repository.ca_pem)


def make_remote(*, url: str, token: Secret | None, username: str, ca_pem: str) -> Remote:
    credential = TokenCredential(token=token, username=username or "flotilla") if token else None
    return Remote(url=url, credential=credential, ca_pem=ca_pem or None)


def mirror_of(repository: Repository) -> Mirror:
    """The bare mirror, made when it is missing. It may hold nothing yet: `syncing` fetches."""
    return Mirror.open(settings.FLOTILLA_MIRRORS_DIR / f"{repository.pk}.git", allow_file=settings.FLOTILLA_DEMO)


def read_mirror(repository: Repository, commit: str) -> Mirror:
    """The mirror, once it holds this commit; ServiceError when this machine's mirror does not."""
    mirror = mirror_of(repository)
    if not commit or not mirror.has(commit):
        raise ServiceError(
            "repository.not-read",
            _("The newest commit of %(repository)s has not been fetched here yet.") % {"repository": repository},
            remedy=_("Wait some seconds, or refresh the repository."),
        )
    return mirror


@contextmanager
def forge_of(repository: Repository) -> Iterator[Forge]:
    """The repository's forge, with its connections closed at the end."""
    remote = remote_of(repository)
    token = remote.credential.token if isinstance(remote.credential, TokenCredential) else None
    git = RemoteRepository(mirror_of(repository), remote, policy(), FLOTILLA, timezone.now())
    with Session(policy(), ca_pem=repository.ca_pem or None) as session:
        access = Access(
            url=repository.url,
            session=session,
            token=token,
            review=Review(StoredRequests(repository), git, actor=FLOTILLA.name),
        )
        yield FORGES[ForgeKind(repository.forge)](access)
