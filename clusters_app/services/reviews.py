"""Reviewing on the `local` forge: what a pull request changes, and merging or closing it. The network is a worker's."""

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from clusters_app.git.trailers import read_trailers
from clusters_app.models import LocalPullRequest, Operation, Promotion, Repository

from .audit import Actor, record
from .differences import diff_lines, text_of
from .errors import ServiceError
from .nudges import nudge
from .operations import actor_of_operation, start_operation
from .promotions.gates import evaluate_gates, newest_results
from .remotes import forge_of, mirror_of

MERGE, CLOSE = "review.merge", "review.close"


def difference(*, repository: Repository, review: LocalPullRequest) -> list[dict[str, Any]]:
    """[{file, lines: [[mark, text]]}] of the head against where it left the base; empty before it was fetched."""
    mirror = mirror_of(repository)
    base = repository.head
    if not (base and mirror.has(review.head) and mirror.has(base)):
        return []
    if review.state == LocalPullRequest.State.MERGED and mirror.describe(review.head).parents:
        since = mirror.describe(review.head).parents[0]
    else:
        since = mirror.merge_base(base, review.head) or base
    before, after = mirror.tree(since), mirror.tree(review.head)
    return [
        {"file": path, "lines": diff_lines(text_of(before, path), text_of(after, path))}
        for path in mirror.changed_paths(since, review.head)
    ]


def merge_review(*, repository: Repository, review: LocalPullRequest, head: str, actor: Actor) -> Operation:
    """Merge in a worker, if the head is still the one that the person saw."""
    _refuse_unless_open(review)
    return start_operation(
        kind=MERGE,
        subject=str(review),
        arguments={"repository": repository.pk, "number": review.number, "head": head},
        actor=actor,
    )


def close_review(*, repository: Repository, review: LocalPullRequest, head: str, actor: Actor) -> Operation:
    _refuse_unless_open(review)
    return start_operation(
        kind=CLOSE,
        subject=str(review),
        arguments={"repository": repository.pk, "number": review.number, "head": head},
        actor=actor,
    )


def _refuse_unless_open(review: LocalPullRequest) -> None:
    if review.state != LocalPullRequest.State.OPEN:
        raise ServiceError(
            "review.not-open", _("This pull request is %(state)s already.") % {"state": review.get_state_display()}
        )


def do_merge(operation: Operation) -> dict[str, Any]:
    """The work of MERGE: the push of the merge commit is the merge."""
    repository, number, head = _subject(operation)
    _refuse_while_gates_hold(repository, number)
    with forge_of(repository) as forge:
        opened = forge.read(number)
        message = _trailers(repository, opened.head_sha)
        commit = forge.merge(number, head=head or opened.head_sha, title=f"{opened.title} (#{number})", message=message)
    record(actor=actor_of_operation(operation), verb=MERGE, subject=operation.subject, merge_commit=commit)
    _tell(repository, number)
    return {"merge_commit": commit, "url": _back(repository, number)}


def _refuse_while_gates_hold(repository: Repository, number: int) -> None:
    """This review is the forge here, so it holds what the promotion's gates hold."""
    promotion = _promotion_of(repository, number)
    if promotion is None or not promotion.is_open:
        return
    evaluate_gates(promotion, timezone.now())
    if held := held_by(promotion):
        raise ServiceError(
            "review.gates", held, remedy=_("It can be merged as soon as every gate of the promotion has passed.")
        )


def held_by(promotion: Promotion) -> str:
    """What the first gate that has not passed says, by its newest verdict; "" when all have. One query."""
    return next((result.text for result in newest_results(promotion) if not result.passed), "")


def _promotion_of(repository: Repository, number: int) -> Promotion | None:
    """The promotion that this pull request carries: the newest, when one took another over."""
    return Promotion.objects.filter(repository=repository, pull_request_number=number).order_by("-pk").first()


def do_close(operation: Operation) -> dict[str, Any]:
    repository, number, _head = _subject(operation)
    with forge_of(repository) as forge:
        forge.close(number)
    record(actor=actor_of_operation(operation), verb=CLOSE, subject=operation.subject)
    _tell(repository, number)
    return {"url": _back(repository, number)}


def _subject(operation: Operation) -> tuple[Repository, int, str]:
    arguments = operation.arguments
    return Repository.objects.get(pk=arguments["repository"]), arguments["number"], arguments["head"]


def _trailers(repository: Repository, head: str) -> str:
    """The facts that travel with the branch's commit, so that the merge carries them too."""
    mirror = mirror_of(repository)
    found = read_trailers(mirror.describe(head).message) if mirror.has(head) else ()
    return "\n".join(f"{key}: {value}" for key, value in found)


def _tell(repository: Repository, number: int) -> None:
    Repository.objects.filter(pk=repository.pk).update(due_at=None)
    nudge("sync_repository", repository.pk)
    for pk in Promotion.objects.filter(
        repository=repository, pull_request_number=number, state__in=Promotion.OPEN_STATES
    ).values_list("pk", flat=True):
        nudge("advance_promotion", pk)


def _back(repository: Repository, number: int) -> str:
    """Where the person goes on: the promotion, else the review."""
    promotion = _promotion_of(repository, number)
    if promotion is not None:
        return promotion.get_absolute_url()
    return LocalPullRequest.objects.get(repository=repository, number=number).get_absolute_url()
