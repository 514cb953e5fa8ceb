"""Keeping up with each repository: one `ls-remote` a round, a fetch when the head moved, a reading of each new head."""

from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from clusters_app.git.errors import GitError
from clusters_app.git.mirror import Mirror
from clusters_app.models import Repository
from clusters_app.secret import mask

from .errors import ServiceError
from .nudges import nudge
from .outside import policy
from .reading import read_commit
from .remotes import mirror_of, remote_of

#: How long a worker may hold a repository; after that another one takes it.
LEASE = timedelta(minutes=3)
SLOWEST = timedelta(minutes=10)


def due_repositories() -> list[int]:
    """Ids of the repositories whose next look is due."""
    now = timezone.now()
    return list(Repository.objects.filter(Q(due_at=None) | Q(due_at__lte=now)).values_list("pk", flat=True))


def sync_repository(*, repository_id: int) -> None:
    """Look at the remote; fetch and read what is new. Does nothing when another worker holds it or it is not due."""
    now = timezone.now()
    is_due = Q(due_at=None) | Q(due_at__lte=now)
    if not Repository.objects.filter(is_due, pk=repository_id).update(due_at=now + LEASE):
        return
    repository = Repository.objects.get(pk=repository_id)
    try:
        head = _newest_head(repository)
        if head and head != repository.read_commit:
            read_commit(repository=repository, mirror=mirror_of(repository), commit=head)
    except (GitError, ServiceError) as error:
        _note_failure(repository, error.code, str(error))
        return
    except Exception:
        _note_failure(repository, "repository.crashed", _("Flotilla failed at reading it; its log says why."))
        raise
    Repository.objects.filter(pk=repository.pk).update(
        seen_at=timezone.now(),
        due_at=timezone.now() + timedelta(seconds=settings.FLOTILLA_SYNC_SECONDS),
        failures=0,
        problem="",
        problem_code="",
    )
    if head and (head != repository.head or head != repository.read_commit):
        nudge("follow_clusters", list(repository.clusters.values_list("pk", flat=True)))


def _newest_head(repository: Repository) -> str:
    """The branch's head on the remote, fetched into the mirror and stored; "" while the repository is empty."""
    mirror = mirror_of(repository)
    remote = remote_of(repository)
    head = mirror.ls_remote(remote, policy()).get(f"refs/heads/{repository.branch}", "")
    if head and not mirror.has(head):
        mirror.fetch(remote, policy())
        head = mirror.head(repository.branch)
    if head != repository.head:
        _store_head(repository, mirror, head)
    return head


def _store_head(repository: Repository, mirror: Mirror, head: str) -> None:
    Repository.objects.filter(pk=repository.pk).update(head=head, head_at=mirror.describe(head).at if head else None)


def _note_failure(repository: Repository, code: str, text: str) -> None:
    """Keep what was known, say what is wrong, and come back later and later."""
    failures = repository.failures + 1
    pause = min(timedelta(seconds=settings.FLOTILLA_SYNC_SECONDS) * 2**failures, SLOWEST)
    Repository.objects.filter(pk=repository.pk).update(
        failures=failures,
        problem_code=code,
        problem=mask(text),
        due_at=timezone.now() + pause,
    )
