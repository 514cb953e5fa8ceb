"""Before the merge: branch, push, pull request, and what people do with it at the forge.

Each step is a no-op when its effect is there: the commit's id follows from the row, the push is exact, the pull request
carries the promotion's key. So a crash anywhere leaves nothing twice and nothing forgotten.
"""

from datetime import timedelta

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from clusters_app.forges import Forge
from clusters_app.forges.base import CheckState, Draft, PullRequest, State
from clusters_app.forges.once import ensure_open
from clusters_app.git.commits import Message
from clusters_app.git.mirror import Mirror
from clusters_app.models import Promotion
from clusters_app.repo.history import APP, PROMOTION, RELEASE, SOURCE, STAGE
from clusters_app.services.authorship import FLOTILLA
from clusters_app.services.branches import is_our_commit, push_our_branch
from clusters_app.services.errors import ServiceError
from clusters_app.services.nudges import nudge
from clusters_app.services.outside import policy
from clusters_app.services.remotes import forge_of, mirror_of, remote_of

from .claims import still_mine, write
from .gates import evaluate_gates
from .planning import Planned, build_directory, plan
from .rollout import freeze_targets
from .text import pull_request_body, pull_request_title
from .transitions import move

S = Promotion.State
PAUSE = timedelta(seconds=4)


def open_pull_request(promotion: Promotion) -> timedelta:
    """Plan again on the newest head, push the branch, open or adopt the pull request."""
    planned = _plan_again(promotion)
    if _carries_another_release(promotion, planned):
        why = _("%(source)s moved on before this was opened: promote its newer release.") % {"source": promotion.source}
        move(promotion=promotion, to=S.SUPERSEDED, why=why)
        return PAUSE
    if not planned.plan.files:
        move(promotion=promotion, to=S.NO_CHANGE, why=_("The target has all of it already."))
        return PAUSE
    head = _push(promotion, planned)
    write(promotion, base=planned.base, head=head, plan=planned.document, plan_hash=planned.plan.hash)
    with forge_of(promotion.repository) as forge:
        draft = Draft(
            key=promotion.pull_request_key,
            head=promotion.branch,
            base=promotion.repository.branch,
            title=pull_request_title(promotion),
            body=pull_request_body(promotion),
            labels=("flotilla", f"to-{promotion.target.name}"),
        )
        opened = ensure_open(forge, draft, lambda: still_mine(promotion))
        if opened is None:
            return PAUSE
        if opened.title != draft.title:
            opened = forge.update(opened.number, title=draft.title, body=draft.body)
    move(
        promotion=promotion,
        to=S.OPEN,
        why=_("Pull request #%(number)d is open.") % {"number": opened.number},
        pull_request_number=opened.number,
        pull_request_url=opened.url,
        opened_at=timezone.now(),
    )
    return timedelta(seconds=1)


def _plan_again(promotion: Promotion) -> Planned:
    planned = plan(
        apps=list(promotion.apps.all()),
        source=promotion.source,
        target=promotion.target,
        answers=promotion.answers,
        build=build_directory,
    )
    if planned.plan.refusals:
        refusal = planned.plan.refusals[0]
        raise ServiceError(f"promotion.{refusal.code}", refusal.why, remedy=refusal.remedy)
    return planned


def _push(promotion: Promotion, planned: Planned) -> str:
    """The branch's commit on the remote; the same row and base give the same id, so a second push changes nothing."""
    mirror = mirror_of(promotion.repository)
    message = Message(
        text=f"{pull_request_title(promotion)}\n\n{_('Promoted from')} {promotion.source}.",
        author=FLOTILLA,
        when=promotion.created_at.replace(microsecond=0),
        trailers=trailers_of(promotion, planned.base),
    )
    head = mirror.commit(planned.base, planned.plan.files, message)
    push_our_branch(
        repository=promotion.repository, mirror=mirror, branch=promotion.branch, head=head, mark=_mark(promotion)
    )
    return head


def _mark(promotion: Promotion) -> str:
    """The line by which a commit on the branch is known as this slot's: left by a crash, or by an older release."""
    return f"{STAGE}: {promotion.target.name}.{promotion.slot}"


def trailers_of(promotion: Promotion, source: str) -> tuple[tuple[str, str], ...]:
    """Facts that travel with the commit, so that history can be read from Git alone."""
    apps = tuple((APP, app.name) for app in promotion.apps.order_by("name"))
    return (
        (PROMOTION, str(promotion.pk)),
        (RELEASE, promotion.release.content_hash),
        (STAGE, f"{promotion.target.name}.{promotion.slot}"),
        *apps,
        (SOURCE, source),
    )


def watch_pull_request(promotion: Promotion) -> timedelta:
    """What became of the pull request: merged, closed, written to by a person, in conflict, or still open."""
    if promotion.pull_request_number is None:
        raise ServiceError("promotion.no-request", _("This promotion has no pull request."))
    with forge_of(promotion.repository) as forge:
        seen = forge.read(promotion.pull_request_number)
        if seen.state is State.OPEN:
            return _while_open(promotion, seen, forge)
    if seen.state is State.MERGED:
        _note_merge(promotion, seen)
    else:
        move(promotion=promotion, to=S.CLOSED, why=_("The pull request was closed without merging: rejected."))
    return timedelta(seconds=1)


def _while_open(promotion: Promotion, seen: PullRequest, forge: Forge) -> timedelta:
    repository = promotion.repository
    mirror = mirror_of(repository)
    if promotion.head and mirror.is_ancestor(promotion.head, repository.head):
        # The commit is in the branch, whatever the forge's flag says: a merge whose reply was lost, or one by hand.
        _note_merge(promotion, seen)
        return timedelta(seconds=1)
    if seen.head_sha != promotion.head and not _is_ours(promotion, mirror, seen.head_sha):
        if promotion.state != S.HUMAN_EDITED:
            why = _("Somebody pushed %(sha)s to the branch; Flotilla pushes no more.") % {"sha": seen.head_sha[:7]}
            move(promotion=promotion, to=S.HUMAN_EDITED, why=why)
        return PAUSE
    if promotion.state == S.HUMAN_EDITED:
        move(promotion=promotion, to=S.OPEN, why=_("The branch is Flotilla's own again."))
    if repository.head != promotion.base:
        _follow_base(promotion, mirror, forge)
    _show_gates(promotion, forge)
    return PAUSE


def _is_ours(promotion: Promotion, mirror: Mirror, sha: str) -> bool:
    return is_our_commit(repository=promotion.repository, mirror=mirror, sha=sha, mark=_mark(promotion))


def _carries_another_release(promotion: Promotion, planned: Planned) -> bool:
    """A promotion carries the release that somebody asked for; what the source has since is another one's business."""
    return planned.plan.release != promotion.release.content_hash


def _follow_base(promotion: Promotion, mirror: Mirror, forge: Forge) -> None:
    """The base moved: plan again; push only when the plan is another one or no longer merges cleanly."""
    planned = _plan_again(promotion)
    if _carries_another_release(promotion, planned):
        _stay_with_the_release(promotion, mirror, planned.base)
        return
    if not planned.plan.files:
        move(promotion=promotion, to=S.NO_CHANGE, why=_("Somebody made the same change in the base."))
        nudge("close_pull_request", promotion.pk)
        return
    is_clean = not mirror.merge_conflicts(planned.base, promotion.head)
    if planned.plan.hash == promotion.plan_hash and is_clean:
        write(promotion, base=planned.base)
        return
    head = _push(promotion, planned)
    write(promotion, base=planned.base, head=head, plan=planned.document, plan_hash=planned.plan.hash)
    if promotion.pull_request_number is not None:
        forge.update(
            promotion.pull_request_number, title=pull_request_title(promotion), body=pull_request_body(promotion)
        )


def _stay_with_the_release(promotion: Promotion, mirror: Mirror, base: str) -> None:
    """The commit that is open still says what was asked for, unless it no longer merges cleanly."""
    write(promotion, base=base)
    if mirror.merge_conflicts(base, promotion.head) and promotion.state == S.OPEN:
        why = _("It no longer merges cleanly, and %(source)s has a newer release: promote that one.")
        move(promotion=promotion, to=S.CONFLICT, why=why % {"source": promotion.source})


def _show_gates(promotion: Promotion, forge: Forge) -> None:
    """Judge the gates and show them at the forge; told again only when the answer changed."""
    before = {result.gate: (result.passed, result.head) for result in promotion.gate_results.order_by("id")}
    verdicts = evaluate_gates(promotion, timezone.now())
    if all(before.get(verdict.gate) == (verdict.passed, promotion.head) for verdict in verdicts):
        return
    waiting = [verdict.text for verdict in verdicts if not verdict.passed]
    forge.set_status(
        promotion.head,
        CheckState.PENDING if waiting else CheckState.SUCCESS,
        description=(waiting[0] if waiting else _("All gates passed."))[:140],
        url=settings.FLOTILLA_PUBLIC_URL + promotion.get_absolute_url(),
    )


def _note_merge(promotion: Promotion, seen: PullRequest) -> None:
    repository = promotion.repository
    mirror = mirror_of(repository)
    commit = seen.merge_commit or repository.head
    if not mirror.has(commit):
        mirror.fetch(remote_of(repository), policy())
    freeze_targets(promotion)
    move(
        promotion=promotion,
        to=S.MERGED,
        why=_("Merged as %(sha)s.") % {"sha": commit[:7]},
        merge_commit=commit,
        merged_at=timezone.now(),
    )
    nudge("sync_repository", repository.pk)


def close_pull_request(*, promotion_id: int) -> None:
    """Close the pull request of a promotion that was given up, unless a newer one carries it on; delete our branch."""
    promotion = Promotion.objects.select_related("repository", "target").get(pk=promotion_id)
    taken_over = Promotion.objects.filter(
        pull_request_number=promotion.pull_request_number,
        repository=promotion.repository,
        state__in=Promotion.OPEN_STATES,
    )
    if promotion.pull_request_number is None or taken_over.exists():
        return
    with forge_of(promotion.repository) as forge:
        seen = forge.read(promotion.pull_request_number)
        if seen.state is State.OPEN:
            forge.close(promotion.pull_request_number)
        if seen.state is not State.MERGED and seen.head_sha == promotion.head:
            mirror_of(promotion.repository).delete_branch(
                remote_of(promotion.repository), policy(), promotion.branch, promotion.head
            )
