"""`promote-env` without --dir: the promotion that the server opens, follows and proves. Django is loaded here."""

import argparse
import time
from typing import TextIO

from django.conf import settings
from django.utils import timezone

from clusters_app.commands.documents import promotion_detail_document
from clusters_app.commands.on_server import actor, apps_named, environment_named, instant
from clusters_app.commands.output import Value, cell, paint, print_document
from clusters_app.commands.plan_text import plan_text
from clusters_app.commands.promotions import tone_of_state
from clusters_app.models import Promotion
from clusters_app.services.promotions.planning import Planned, plan
from clusters_app.services.promotions.requesting import request_promotion

S = Promotion.State

_LOOK_SECONDS = 1.0
#: Where waiting ends, and whether that is what was wanted. A failed rollout may be repaired later, but not by waiting.
_ENDS = {
    S.VERIFIED: 0,
    S.NO_CHANGE: 0,
    S.FAILED: 1,
    S.OVERTAKEN: 1,
    S.SUPERSEDED: 1,
    S.ABORTED: 1,
    S.CLOSED: 1,
}


def run(arguments: argparse.Namespace, stdout: TextIO, stderr: TextIO) -> int:
    """0 planned, opened, open already or nothing to do (with --wait: live), 1 refused or ended otherwise."""
    source, target = environment_named(arguments.source), environment_named(arguments.target)
    apps = apps_named(arguments.apps, arguments.repository)
    planned = plan(apps=apps, source=source, target=target, answers=arguments.answers)
    if planned.plan.refusals or arguments.dry_run:
        return _say_plan(planned, arguments, stdout)
    asked_at = timezone.now()
    promotion, planned = request_promotion(
        apps=apps, source=source, target=target, actor=actor(), answers=arguments.answers
    )
    if promotion is None:
        return _say_plan(planned, arguments, stdout)
    if arguments.output == "table":
        stdout.write(plan_text(planned.document, stdout))
    stderr.write(_opened(promotion, is_new=promotion.created_at >= asked_at) + "\n")
    code = _wait(promotion, stderr) if arguments.wait else 0
    if arguments.output != "table":
        promotion.refresh_from_db()
        print_document(promotion_detail_document(promotion), arguments.output, stdout)
    return code


def _say_plan(planned: Planned, arguments: argparse.Namespace, stdout: TextIO) -> int:
    """The plan alone: it is a dry run, it is refused, or there is nothing to promote."""
    is_refused, is_empty = bool(planned.plan.refusals), not planned.plan.files
    if arguments.output != "table":
        kind: dict[str, Value] = {"dry_run": True} if arguments.dry_run else {}
        if is_empty and not is_refused:
            kind["state"] = S.NO_CHANGE.value
        print_document({**kind, "base": planned.base, "plan": planned.document}, arguments.output, stdout)
        return int(is_refused)
    stdout.write(plan_text(planned.document, stdout))
    if not is_refused:
        stdout.write("nothing to promote\n" if is_empty else "dry run: nothing was opened\n")
    return int(is_refused)


def _opened(promotion: Promotion, *, is_new: bool) -> str:
    page = settings.FLOTILLA_PUBLIC_URL + promotion.get_absolute_url()
    if is_new:
        return f"Promotion {promotion.pk} is asked for; a worker opens its pull request: {page}"
    request = f" Its pull request: {promotion.pull_request_url}" if promotion.pull_request_url else ""
    return f"Promotion {promotion.pk} is open already ({promotion.state}), nothing was changed: {page}{request}"


def _wait(promotion: Promotion, stderr: TextIO) -> int:
    """Say each change of state as it is recorded, until there will be none; the exit code."""
    told, problem = 0, ""
    while True:
        # State first: what it comes from is then among the events that are read after it.
        promotion.refresh_from_db()
        for event in promotion.events.filter(pk__gt=told).order_by("pk"):
            told = event.pk
            state = paint(event.after, tone_of_state(event.after), stderr)
            stderr.write(f"{instant(event.at.replace(microsecond=0))}  {state}  {cell(event.why)}\n")
        if promotion.problem != problem:
            problem = promotion.problem
            stderr.write(f"{cell(problem)}\n" if problem else "")
        if (code := _ENDS.get(S(promotion.state))) is not None:
            return code
        _pause()


def _pause() -> None:
    time.sleep(_LOOK_SECONDS)
