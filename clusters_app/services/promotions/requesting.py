"""A person or script asks for a promotion: plan it, take the slot, and leave the rest to a worker."""

import secrets
from collections.abc import Iterable, Sequence

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from clusters_app.models import App, AppStage, Environment, Promotion, PromotionEvent, Release
from clusters_app.services.audit import Actor, record
from clusters_app.services.errors import ServiceError
from clusters_app.services.nudges import nudge

from .planning import Planned, plan, versions_of
from .transitions import move

S = Promotion.State


def request_promotion(
    *,
    apps: Sequence[App],
    source: Environment,
    target: Environment,
    actor: Actor,
    answers: Iterable[str] = (),
) -> tuple[Promotion | None, Planned]:
    """Plan and, when there is something to change, queue it; None when the target has it all already.

    Asking again for what is open returns the open one. A newer release takes the slot of an older open promotion.
    Raises ServiceError with the plan's first refusal.
    """
    answers = list(answers)
    planned = plan(apps=apps, source=source, target=target, answers=answers)
    if planned.plan.refusals:
        refusal = planned.plan.refusals[0]
        raise ServiceError(f"promotion.{refusal.code}", refusal.why, remedy=refusal.remedy)
    if not planned.plan.files:
        return None, planned
    try:
        with transaction.atomic():
            promotion = _take_slot(apps, source, target, planned, list(answers), actor)
    except IntegrityError as error:
        raise ServiceError(
            "promotion.slot-taken",
            _("Somebody else has just opened a promotion of this app to %(target)s.") % {"target": target},
            remedy=_("Look at it on the Promotions page."),
        ) from error
    return promotion, planned


def _take_slot(
    apps: Sequence[App],
    source: Environment,
    target: Environment,
    planned: Planned,
    answers: list[str],
    actor: Actor,
) -> Promotion:
    repository = apps[0].repository
    slot = slot_of(apps)
    held = (
        Promotion.objects.select_for_update(of=("self",))
        .select_related("release")
        .filter(repository=repository, target=target, slot=slot, state__in=Promotion.OPEN_STATES)
    )
    older = held.first()
    if older is not None and _is_same(older, planned, answers):
        return older
    if older is not None:
        why = _("A newer release takes over: %(version)s.") % {"version": versions_of(apps, source)}
        move(promotion=older, to=S.SUPERSEDED, why=why, actor=actor)
    promotion = Promotion.objects.create(
        repository=repository,
        release=_release(apps, source, planned),
        source=source,
        target=target,
        slot=slot,
        version_before=versions_of(apps, target),
        version_after=versions_of(apps, source),
        plan=planned.document,
        plan_hash=planned.plan.hash,
        answers=list(answers),
        base=planned.base,
        branch=f"flotilla/{target.name}.{slot.replace('+', '.')}"[:250],
        pull_request_key=older.pull_request_key if older else secrets.token_hex(12),
        requested_by=actor.user,
        due_at=timezone.now(),
    )
    promotion.apps.set(apps)
    if older is not None:
        # The same branch and pull request go on with the newer release.
        Promotion.objects.filter(pk=promotion.pk).update(
            head=older.head,
            pull_request_number=older.pull_request_number,
            pull_request_url=older.pull_request_url,
        )
        Promotion.objects.filter(pk=older.pk).update(superseded_by=promotion)
    PromotionEvent.objects.create(
        promotion=promotion, after=S.PLANNED, actor=actor.name, why=_("asked for"), at=timezone.now()
    )
    record(actor=actor, verb="promotion.request", subject=str(promotion), plan=planned.plan.hash, base=planned.base)
    transaction.on_commit(lambda: nudge("advance_promotion", promotion.pk))
    return promotion


def _is_same(older: Promotion, planned: Planned, answers: list[str]) -> bool:
    """Whether the open promotion already is what was asked for: the same release, with the same answers."""
    return older.release.content_hash == planned.plan.release and set(older.answers) == set(answers)


def slot_of(apps: Sequence[App]) -> str:
    return "+".join(sorted(app.name for app in apps))


def _release(apps: Sequence[App], source: Environment, planned: Planned) -> Release:
    """The release that is carried: the one seen in the source environment, made now for a combination of apps."""
    key = slot_of(apps)
    seen = Release.objects.filter(
        repository=apps[0].repository, environment=source, app_key=key, content_hash=planned.plan.release
    )
    release = seen.order_by("-id").first()
    if release is not None:
        return release
    stages = AppStage.objects.filter(app__in=apps, environment=source)
    release = Release.objects.create(
        repository=apps[0].repository,
        environment=source,
        app_key=key,
        content_hash=planned.plan.release,
        version=versions_of(apps, source),
        values=[value for stage in stages for value in stage.values],
        commit=planned.base,
        seen_at=timezone.now(),
    )
    release.apps.set(apps)
    return release


def abort_promotion(*, promotion: Promotion, actor: Actor, why: str = "") -> None:
    """Give up before the merge. The pull request is closed by the worker; nothing in Git changes."""
    if not promotion.is_open:
        raise ServiceError(
            "promotion.not-open",
            _("This promotion is %(state)s; only an open one can be given up.")
            % {"state": promotion.get_state_display()},
        )
    with transaction.atomic():
        move(promotion=promotion, to=S.ABORTED, why=why or _("given up"), actor=actor, due_at=timezone.now())
        record(actor=actor, verb="promotion.abort", subject=str(promotion))
        transaction.on_commit(lambda: nudge("close_pull_request", promotion.pk))


def retry_promotion(*, promotion: Promotion, actor: Actor) -> None:
    """Try the next step again at once, after what stood in the way was repaired. ServiceError when it has ended."""
    if promotion.state not in Promotion.MOVING_STATES:
        raise ServiceError(
            "promotion.ended",
            _("This promotion is %(state)s; there is no next step.") % {"state": promotion.get_state_display()},
        )
    with transaction.atomic():
        Promotion.objects.filter(pk=promotion.pk).update(attempts=0, due_at=timezone.now(), problem="", problem_code="")
        record(actor=actor, verb="promotion.retry", subject=str(promotion))
        transaction.on_commit(lambda: nudge("advance_promotion", promotion.pk))
