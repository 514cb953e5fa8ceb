"""Long work that a person or script waits for: queued in the database, done by a worker, seen step by step.

A Celery message is only a nudge; `due_operations` finds what a lost one left behind. Running is a lease with an end.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Protocol

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from clusters_app.egress import EgressError, EgressTransient
from clusters_app.forges import ForgeError, ForgeTransient
from clusters_app.git.errors import GitError, GitTransient
from clusters_app.models import AuditRecord, Credential, Operation
from clusters_app.secret import Secret, mask

from .audit import SYSTEM, Actor, record
from .credentials import forget_credentials, store_credential
from .errors import NotYet, ServiceError
from .nudges import nudge

LEASE = timedelta(minutes=5)
MOST_ATTEMPTS = 5

#: Who hears of each step in this process: a command that prints them, nobody in a worker.
_listener: "ContextVar[Callable[[Step], None] | None]" = ContextVar("listener", default=None)


class Step(Protocol):
    """One line of progress, e.g. a line of the registration check."""

    @property
    def code(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def remedy(self) -> str: ...
    @property
    def value(self) -> str: ...


def start_operation(
    *, kind: str, subject: str, arguments: dict[str, object], actor: Actor, secrets: dict[str, Secret] | None = None
) -> Operation:
    """Queue work and nudge a worker once the transaction is through. Secrets are sealed beside it until it ends."""
    with transaction.atomic():
        operation = Operation.objects.create(kind=kind, subject=subject, arguments=arguments, created_by=actor.user)
        for field, value in (secrets or {}).items():
            store_credential(
                owner_kind=Credential.Owner.OPERATION, owner_id=operation.pk, field=field, host=subject, value=value
            )
        record(actor=actor, verb=f"{kind}.ask", subject=subject, operation=operation.pk)
        transaction.on_commit(lambda: nudge("run_operation", operation.pk))
    return operation


def due_operations() -> list[int]:
    """Ids of work that waits for a worker: never started, or left by a worker that died."""
    now = timezone.now()
    return list(Operation.objects.filter(_free(now)).values_list("pk", flat=True)[:100])


def _free(now: datetime) -> Q:
    """Queued and not paused, or running under a lease that ended."""
    is_unfinished = Q(state__in=(Operation.State.QUEUED, Operation.State.RUNNING))
    return is_unfinished & (Q(lease_until=None) | Q(lease_until__lt=now))


def run_operation(*, operation_id: int, work: Callable[[Operation], dict[str, object]]) -> None:
    """Claim the operation and do its work; does nothing when another worker holds it or it is finished.

    `work` returns the result and may raise ServiceError, whose text becomes the problem that the page shows.
    """
    now = timezone.now()
    claimed = Operation.objects.filter(_free(now), pk=operation_id).update(
        state=Operation.State.RUNNING, lease_until=now + LEASE, steps=[], attempts=F("attempts") + 1, problem=""
    )
    if not claimed:
        return
    operation = Operation.objects.select_related("created_by").get(pk=operation_id)
    try:
        result = work(operation)
    except (NotYet, EgressTransient, ForgeTransient, GitTransient) as error:
        _try_again(operation, error)
    except (ServiceError, EgressError, ForgeError, GitError) as error:
        _finish(operation, Operation.State.FAILED, problem=str(error), result={"code": error.code})
    except Exception:
        _finish(operation, Operation.State.FAILED, problem=_("Flotilla failed at this; its log says why."))
        raise
    else:
        _finish(operation, Operation.State.DONE, result=result)


def _try_again(operation: Operation, error: NotYet | EgressError | ForgeError | GitError) -> None:
    """Back into the queue for some seconds, longer each time; after the last attempt it has failed."""
    if operation.attempts >= MOST_ATTEMPTS:
        _finish(operation, Operation.State.FAILED, problem=str(error), result={"code": error.code})
        return
    pause = timedelta(seconds=2**operation.attempts)
    Operation.objects.filter(pk=operation.pk, state=Operation.State.RUNNING).update(
        state=Operation.State.QUEUED, lease_until=timezone.now() + pause, problem=mask(str(error))
    )
    nudge("run_operation", operation.pk, seconds=pause.total_seconds() + 0.5)


def _finish(operation: Operation, state: str, *, problem: str = "", result: dict[str, object] | None = None) -> None:
    with transaction.atomic():
        Operation.objects.filter(pk=operation.pk, state=Operation.State.RUNNING).update(
            state=state, problem=mask(problem), result=result or {}, finished_at=timezone.now(), lease_until=None
        )
        forget_credentials(owner_kind=Credential.Owner.OPERATION, owner_id=operation.pk)


@contextmanager
def told_of_steps(tell: Callable[[Step], None]) -> Iterator[None]:
    """Within it, `tell` hears each step of the work that this thread does, as it comes."""
    token = _listener.set(tell)
    try:
        yield
    finally:
        _listener.reset(token)


def follow_steps(operation: Operation, steps: Iterable[Step]) -> list[Step]:
    """Write each step as it comes, so that the page shows it; returns them all."""
    done: list[Step] = []
    for step in steps:
        done.append(step)
        if tell := _listener.get():
            tell(step)
        shown = [{"code": s.code, "state": s.state, "text": mask(s.text), "remedy": s.remedy} for s in done]
        Operation.objects.filter(pk=operation.pk).update(steps=shown, lease_until=timezone.now() + LEASE)
    return done


def actor_of_operation(operation: Operation) -> Actor:
    """Who asked for it. A command has no account: its name stands in the record of the asking."""
    if user := operation.created_by:
        return Actor(user.get_username(), user)
    asked = AuditRecord.objects.filter(verb=f"{operation.kind}.ask", subject=operation.subject).order_by("-id")
    names = asked.filter(detail__operation=operation.pk).values_list("actor", flat=True)
    return Actor(names[0]) if names else SYSTEM
