"""What templates say often: ages, revisions, and the product's own signs (verdict, rail, pips, bar) as drawn SVG."""

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from clusters_app.flux.freshness import Freshness
from clusters_app.flux.identity import InventoryEntry
from clusters_app.flux.revisions import short as short_revision
from clusters_app.flux.verdicts import BROKEN, Control
from clusters_app.models import AppOnCluster, FluxObject, GateResult, Operation, Promotion, PromotionTarget
from clusters_app.queries.apps import AppMatrix, AppRow, Cell
from clusters_app.queries.fleet import ClusterRow, Counts
from clusters_app.web.retold import retold
from clusters_app.web.words import (
    APP_LOOKS,
    HEALTH_LOOKS,
    OPERATION_WORDS,
    PROMOTION_LOOKS,
    STANDING_LOOKS,
    TARGET_LOOKS,
    age_text,
    promotion_steps,
    standing_text,
)

register = template.Library()


@register.filter
def words(text: str) -> list[str]:
    return text.split()


@register.simple_tag
def sheet_url(name: str) -> str:
    return static(f"flotilla/{name}.css")


register.filter("retold", retold)


@register.filter
def revision(text: str) -> str:
    """A revision as Flux prints it, hashes cut to eight digits."""
    return short_revision(text) or ""


@register.filter
def sha(commit: str) -> str:
    return commit[:7]


@register.filter
def age(at: datetime | None, now: datetime) -> SafeString | str:
    """How long something lasts or has been known, in one short unit, with the moment in the title."""
    if at is None:
        return _("never")
    return _timed(at, age_text(at, now) or _("now"))


@register.filter
def ago(at: datetime | None, now: datetime) -> SafeString | str:
    """When something happened, told from now, with the moment in the viewer's zone in the title."""
    if at is None:
        return _("never")
    text = age_text(at, now)
    return _timed(at, _("%(age)s ago") % {"age": text} if text else _("just now"))


def _timed(at: datetime, text: str) -> SafeString:
    exact = timezone.localtime(at).strftime("%Y-%m-%d %H:%M:%S %Z")
    return format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), exact, text)


@register.filter
def clock(at: datetime | None) -> SafeString | str:
    """The hour in the viewer's zone, with the day before it unless it is today."""
    if at is None:
        return ""
    local = timezone.localtime(at)
    is_today = local.date() == timezone.localdate()
    return _timed(at, local.strftime("%H:%M" if is_today else "%Y-%m-%d %H:%M"))


@register.filter
def version(text: str) -> str:
    """A version of Kubernetes without its v, as the mind reads it."""
    return text.removeprefix("v")


@register.filter
def controller(lease: str) -> str:
    """A controller by the name of its Lease."""
    return lease.removesuffix("-leader-election")


@register.inclusion_tag("partials/verdict.html")
def verdict(row: ClusterRow, now: datetime) -> dict[str, Any]:
    """How a cluster stands: shape, word, colour."""
    return {"look": STANDING_LOOKS[row.standing], "text": standing_text(row, now)}


@register.inclusion_tag("partials/rail.html")
def rail(chain: tuple[str, ...], width: int = 166) -> dict[str, Any]:
    """head → fetched → applied → healthy, drawn."""
    step = (width - 16) / (len(chain) - 1)
    labels = (_("head"), _("fetched"), _("applied"), _("healthy"))
    points = [
        {"x": _place(8 + step * index), "state": state, "label": label}
        for index, (state, label) in enumerate(zip(chain, labels, strict=True))
    ]
    lines = [
        {"x1": left["x"], "x2": right["x"], "is_done": left["state"] == right["state"] == "done"}
        for left, right in itertools.pairwise(points)
    ]
    return {"width": width, "points": points, "lines": lines, "label": _chain_text(chain)}


def _chain_text(chain: tuple[str, ...]) -> str:
    names = (_("head"), _("fetched"), _("applied"), _("healthy"))
    if set(chain) == {"unknown"}:
        return _("not known")
    reached = [name for name, state in zip(names, chain, strict=True) if state == "done"]
    if "stop" in chain:
        return _("stopped after: %(step)s") % {"step": reached[-1] if reached else _("nothing")}
    return _("reached: %(step)s") % {"step": reached[-1] if reached else _("nothing")}


@register.inclusion_tag("partials/bars.html")
def bars(counts: Counts, width: int = 144) -> dict[str, Any]:
    """One segment a state; lengths are counts, and what is there is never thinner than three pixels."""
    parts = [
        ("ready", counts.ready, _("ready")),
        ("waiting", counts.waiting, _("in progress or waiting")),
        ("held", counts.suspended, _("suspended")),
        ("failing", counts.failing, _("failing")),
        ("unseen", counts.unseen, _("not seen lately")),
    ]
    shown = [part for part in parts if part[1]]
    free = width - 2 * max(0, len(shown) - 1)
    lengths = _lengths([count for _look, count, _word in shown], free)
    x, segments = 0.0, []
    for (look, _count, _word), length in zip(shown, lengths, strict=True):
        segments.append({"x": _place(x), "width": _place(length), "look": look})
        x += length + 2
    label = ", ".join(f"{count} {word}" for _look, count, word in shown) or _("no objects")
    return {"width": width, "segments": segments, "label": label}


def _place(pixels: float) -> str:
    """A coordinate as SVG reads it, in every language with a point."""
    return f"{pixels:.1f}".removesuffix(".0")


def _lengths(counts: list[int], free: float) -> list[float]:
    total = sum(counts) or 1
    least = [max(3.0, free * count / total) for count in counts]
    surplus = sum(least) - free
    longest = max(range(len(least)), key=least.__getitem__, default=0)
    return [length - surplus if index == longest else length for index, length in enumerate(least)]


@register.inclusion_tag("partials/pips.html")
def pips(cell_pips: Iterable[Any]) -> dict[str, Any]:
    """One sign a cluster."""
    shown = [{"x": 5 + 11 * index, "look": APP_LOOKS[pip.state], "pip": pip} for index, pip in enumerate(cell_pips)]
    label = ", ".join(f"{each['pip'].cluster}: {each['pip'].state}" for each in shown)
    return {"pips": shown, "width": 11 * len(shown), "label": label}


@register.filter
def cell_counts(cell: Cell) -> Counts:
    """The signs of a cell as counts, for a bar where there would be too many to draw."""
    looks = Counter(APP_LOOKS[pip.state] for pip in cell.pips)
    return Counts(looks["ready"], looks["failing"], looks["waiting"] + looks["todo"], looks["held"], looks["unseen"])


@register.filter
def look(row: ClusterRow) -> str:
    return STANDING_LOOKS[row.standing]


@register.filter
def standing_words(row: ClusterRow, now: datetime) -> str:
    return standing_text(row, now)


@register.simple_tag
def behind(row: ClusterRow, now: datetime) -> SafeString | str:
    """How far the cluster is behind the branch head, in commits and time."""
    status = row.status
    if "unknown" in row.chain or status.commits_behind is None:
        return _("unknown")
    if status.commits_behind:
        commits = ngettext("%(count)d commit", "%(count)d commits", status.commits_behind) % {
            "count": status.commits_behind
        }
        return format_html("{} · {}", commits, age(status.behind_since, now))
    return "–" if row.chain[-1] == "done" else _("applied, not healthy yet")


@register.filter
def counts_text(counts: Counts) -> str:
    """The counts beside the bar, in its order, without the zeros."""
    if counts.unseen and counts.unseen == counts.total:
        return _("%(count)d last known") % {"count": counts.unseen}
    return (
        " / ".join(str(count) for count in (counts.ready, counts.waiting, counts.suspended, counts.failing) if count)
        or "0"
    )


@register.inclusion_tag("partials/root_cause.html")
def root_cause(row: ClusterRow) -> dict[str, Any]:
    """The one cause behind a cluster's state: of the connection first, then of the oldest failing object."""
    status = row.status
    if status.problem and (not row.is_live or not status.cause_object):
        return {"text": retold(status.problem)}
    kind, _slash, rest = status.cause_object.partition("/")
    name = rest.rpartition("/")[2]
    return {"object": f"{kind}/{name}" if name else "", "whole": status.cause_object, "text": retold(status.cause)}


@register.filter
def standing_look(standing: str) -> str:
    return STANDING_LOOKS[standing]


@register.filter
def health_look(health: str) -> str:
    return HEALTH_LOOKS.get(health, "none")


@register.filter
def app_look(state: str) -> str:
    return {"todo": "none"}.get(APP_LOOKS[state], APP_LOOKS[state])


@register.filter
def target_look(state: str) -> str:
    return TARGET_LOOKS[state]


@register.filter
def promotion_look(state: str) -> str:
    return PROMOTION_LOOKS[state]


@register.filter
def promotion_words(state: str) -> str:
    return str(Promotion.State(state).label)


@register.simple_tag
def gates_passed(gates: list[GateResult]) -> str:
    return _("%(passed)d of %(all)d passed") % {"passed": sum(gate.passed for gate in gates), "all": len(gates)}


@register.filter
def moment(text: str) -> datetime | None:
    """A stored RFC 3339 text as a time."""
    return parse_datetime(text)


@register.inclusion_tag("partials/object_verdict.html")
def object_verdict(row: FluxObject, is_live: bool) -> dict[str, Any]:
    """An object's verdict: never green when it is suspended, nobody's, or not seen lately."""
    if row.gone_at:
        return {"look": "none", "text": _("gone")}
    if row.control == Control.SUSPENDED:
        was = _("suspended, was failing") if row.settled_health in BROKEN else _("suspended")
        return {"look": "held", "text": was}
    if row.control == Control.ORPHANED or row.heartbeat != Freshness.LIVE or not is_live:
        return {"look": "unseen", "text": _("%(health)s, not seen lately") % {"health": row.health}}
    return {"look": HEALTH_LOOKS[row.health], "text": row.health}


@register.inclusion_tag("partials/copyable.html")
def copyable(text: str) -> dict[str, Any]:
    """A text with a button that copies it."""
    return {"text": text, "id": f"copy-{hashlib.sha256(text.encode()).hexdigest()[:10]}"}


@register.filter
def cells_and_gaps(matrix: AppMatrix, row: AppRow) -> list[tuple[Any, Any, Any]]:
    """(environment, cell, the gap before it) for each environment; the first has no gap."""
    return list(zip(matrix.environments, row.cells, (None, *row.gaps), strict=True))


@register.simple_tag
def app_cell_text(cell: Cell) -> str:
    """In words where a version is live."""
    if failing := cell.failing:
        return _("failing on %(clusters)s") % {"clusters": ", ".join(pip.cluster for pip in failing)}
    if not cell.pips:
        return _("no cluster registered")
    if len(cell.pips) == 1:
        return _("live") if cell.is_live else str(AppOnCluster.State(cell.pips[0].state).label)
    if cell.is_live:
        return _("live on %(all)d") % {"all": len(cell.pips)}
    return _("live on %(live)d of %(all)d") % {"live": cell.live, "all": len(cell.pips)}


@register.filter
def keys(path: list[Any]) -> str:
    """A path of keys as people read it; a list item by what finds it."""
    parts = []
    for step in path:
        if isinstance(step, dict):
            parts.append("[" + ", ".join(f"{key}={value}" if key else str(value) for key, value in step.items()) + "]")
        else:
            parts.append(str(step) or '""')
    return " → ".join(parts)


@register.filter
def changed_lines(plan: dict[str, Any]) -> int:
    """Lines of the difference that are new or gone, whichever are more: one changed value is one line."""
    marks = [mark for each in plan.get("diff", []) for mark, _text in each["lines"]]
    return max(marks.count("+"), marks.count("-"))


@register.filter
def target_chain(target: PromotionTarget) -> tuple[str, str, str, str]:
    """A target on the rail: merged, fetched, applied, live."""
    states = PromotionTarget.State
    reached = {states.MERGED: 1, states.FETCHED: 2, states.APPLIED: 3, states.VERIFIED: 4, states.FAILING: 3}
    if target.state not in reached:
        return ("unknown",) * 4
    steps = ["done" if index < reached[states(target.state)] else "todo" for index in range(4)]
    if target.state == states.FAILING:
        steps[3] = "stop"
    return (steps[0], steps[1], steps[2], steps[3])


@register.filter
def state_line(promotion: Promotion, targets: Iterable[PromotionTarget]) -> list[dict[str, Any]]:
    """The promotion's line of states: what is done, where it is, what is to come."""
    return promotion_steps(promotion, list(targets))


@register.filter
def operation_title(operation: Operation) -> str:
    return OPERATION_WORDS[operation.kind] % {"subject": operation.subject}


@register.filter
def own_problem(operation: Operation) -> str:
    """What went wrong, unless a failed step says it already."""
    return "" if any(step["state"] == "failed" for step in operation.steps) else operation.problem


@register.filter
def inventory_entry(identity: str) -> str:
    """An entry of a Kustomization's inventory (`namespace_name_group_Kind`) as `Kind/namespace/name`."""
    try:
        return str(InventoryEntry.parse(identity).ref)
    except ValueError:
        return identity
