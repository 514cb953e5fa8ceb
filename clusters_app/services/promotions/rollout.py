"""After the merge: how far it has come on each target cluster, until all of them are proven live."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from clusters_app.models import AppOnCluster, AppStage, FluxObject, Promotion, PromotionTarget
from clusters_app.services.following import cluster_progress, contains_in
from clusters_app.services.progress import Contains, Progress
from clusters_app.services.remotes import read_mirror

from .transitions import move

S = Promotion.State
Target = PromotionTarget.State
#: A promotion that runs is also nudged by each round of its clusters; this is only the sweep.
PAUSE = timedelta(seconds=10)
PAUSE_FAILED = timedelta(seconds=30)

#: What a target is called while its app is in that state on the cluster.
TARGET_STATES: dict[str, str] = {
    AppOnCluster.State.WAITING: Target.MERGED,
    AppOnCluster.State.SUSPENDED: Target.MERGED,
    AppOnCluster.State.FETCHED: Target.FETCHED,
    AppOnCluster.State.APPLIED: Target.APPLIED,
    AppOnCluster.State.LIVE: Target.VERIFIED,
    AppOnCluster.State.FAILING: Target.FAILING,
    AppOnCluster.State.UNKNOWN: Target.UNKNOWN,
}
#: The slowest app decides for a cluster that carries several.
SLOWEST_FIRST = (
    Target.FAILING,
    Target.UNKNOWN,
    Target.MERGED,
    Target.FETCHED,
    Target.APPLIED,
    Target.VERIFIED,
)


def freeze_targets(promotion: Promotion) -> None:
    """The clusters that must be live before this promotion is: those of the target environment that carry its apps."""
    now = timezone.now()
    placed = AppOnCluster.objects.filter(stage__app__in=promotion.apps.all(), stage__environment=promotion.target)
    names = dict(placed.values_list("cluster__name", "cluster_id"))
    for name, cluster_id in names.items():
        PromotionTarget.objects.get_or_create(
            promotion=promotion, cluster_name=name, defaults={"cluster_id": cluster_id, "since": now}
        )


def follow(promotion: Promotion) -> timedelta:
    """Bring each target's state up to date, then the promotion's. Reads rows and the mirror; writes only changes."""
    now = timezone.now()
    mirror = read_mirror(promotion.repository, promotion.merge_commit)
    contains = contains_in(mirror)
    placed = _placed(promotion)
    is_read = contains(promotion.merge_commit, promotion.repository.read_commit)
    is_overtaken = is_read and _is_overtaken(promotion, placed)
    for target in promotion.targets.select_related("cluster", "cluster__status"):
        here = [app for app in placed if app.cluster_id == target.cluster_id]
        progress = _state_of(promotion, here, contains, now)
        if progress.state == Target.VERIFIED and not is_read:
            progress = Progress(Target.APPLIED, progress.revision, progress.text)
        _store(target, progress, is_overtaken=is_overtaken, now=now)
    _move_promotion(promotion, is_overtaken=is_overtaken, now=now)
    return PAUSE_FAILED if promotion.state == S.FAILED else PAUSE


def _placed(promotion: Promotion) -> list[AppOnCluster]:
    placed = AppOnCluster.objects.filter(stage__app__in=promotion.apps.all(), stage__environment=promotion.target)
    return list(placed.select_related("stage", "cluster", "cluster__status"))


def _state_of(promotion: Promotion, here: Sequence[AppOnCluster], contains: Contains, now: datetime) -> Progress:
    """The slowest of the promotion's apps on one cluster, in a target's words."""
    found = [_app_progress(promotion, app, contains, now) for app in here]
    if not found:
        return Progress(Target.UNKNOWN, text=_("This cluster no longer carries the app."))
    return min(found, key=lambda progress: SLOWEST_FIRST.index(progress.state))


def _app_progress(promotion: Promotion, app: AppOnCluster, contains: Contains, now: datetime) -> Progress:
    rows = {str(row): row for row in FluxObject.objects.filter(cluster=app.cluster, gone_at=None, kind__in=_kinds(app))}
    found = cluster_progress(
        cluster=app.cluster, commit=promotion.merge_commit, refs=app.refs, rows=rows, contains=contains, now=now
    )
    state = TARGET_STATES[found.state]
    if state == Target.VERIFIED and (app.state, app.commit) != (AppOnCluster.State.LIVE, app.stage.commit):
        # `following` wants a second round to say so; what it does not call live yet is not verified.
        state = Target.APPLIED
    return Progress(state, found.revision, found.text)


def _kinds(app: AppOnCluster) -> set[str]:
    return {ref.split("/")[0] for ref in app.refs}


def _is_overtaken(promotion: Promotion, placed: Sequence[AppOnCluster]) -> bool:
    """Whether a later commit changed what this promotion wrote; the merge must have been read for this to be known."""
    stages = {app.stage_id: app.stage for app in placed}
    wanted = {_place(edit): edit["new"] for edit in promotion.plan.get("edits", [])}
    return any(_differs(stage, wanted) for stage in stages.values())


def _differs(stage: AppStage, wanted: Mapping[str, object]) -> bool:
    values = {_place(value): value["value"] for value in stage.values}
    return any(place in values and values[place] != new for place, new in wanted.items())


def _place(value: Mapping[str, object]) -> str:
    """One spelling for file and path of an edit or of a promoted value."""
    return json.dumps([value["file"], value["path"]], sort_keys=True)


def _store(target: PromotionTarget, progress: Progress, *, is_overtaken: bool, now: datetime) -> None:
    """Write what changed. Verified is latched: a target that was live stays so in this promotion's record."""
    state = progress.state
    if target.verified_at is not None:
        return
    if not is_overtaken and target.state == Target.FAILING and state in {Target.FETCHED, Target.APPLIED}:
        # Flux tries again and again: a failure that is being retried is a failure until it is live.
        return
    if is_overtaken:
        # What runs here contains our commit, but no longer our values: that proves nothing about this release.
        state = Target.OVERTAKEN
    if (target.state, target.revision, target.text) == (state, progress.revision, progress.text):
        return
    since = now if target.state != state else target.since
    PromotionTarget.objects.filter(pk=target.pk).update(
        state=state,
        revision=progress.revision,
        text=progress.text,
        since=since,
        verified_at=now if state == Target.VERIFIED else None,
    )


def _move_promotion(promotion: Promotion, *, is_overtaken: bool, now: datetime) -> None:
    with transaction.atomic():
        states = list(promotion.targets.values_list("state", "cluster_name", "text"))
        to, why = _next_state(states, is_overtaken=is_overtaken)
        if to != promotion.state:
            move(promotion=promotion, to=to, why=why, verified_at=now if to == S.VERIFIED else None)


def _next_state(targets: Sequence[tuple[str, str, str]], *, is_overtaken: bool) -> tuple[str, str]:
    """The promotion's state and the sentence for its timeline, from `(state, cluster, text)` of each target."""
    failing = [f"{name}: {text}" for state, name, text in targets if state == Target.FAILING]
    live = [name for state, name, _text in targets if state == Target.VERIFIED]
    if targets and len(live) == len(targets):
        return S.VERIFIED, _("Live on %(clusters)s.") % {"clusters": ", ".join(live)}
    if is_overtaken:
        return S.OVERTAKEN, _("A later commit changed the promoted values before this was live everywhere.")
    if failing:
        return S.FAILED, "; ".join(failing)
    return S.ROLLING_OUT, _("Live on %(live)d of %(all)d clusters.") % {"live": len(live), "all": len(targets)}
