"""Gates: conditions with recorded evidence, bound to the release and to the head that they were judged on."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from clusters_app.models import AppOnCluster, AppStage, GateResult, Promotion
from clusters_app.queries import freshness_of


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a gate says now. `evidence` is what it saw."""

    gate: str
    passed: bool
    text: str
    evidence: dict[str, Any] = field(default_factory=dict)


def evaluate_gates(promotion: Promotion, now: datetime) -> list[Verdict]:
    """Judge every gate of the target's policy and record what changed since the last verdict. A few queries."""
    verdicts = [upstream_is_live(promotion, now)]
    for verdict in verdicts:
        last = promotion.gate_results.filter(gate=verdict.gate).order_by("-id").first()
        if last is None or (last.passed, last.head, last.text) != (verdict.passed, promotion.head, verdict.text):
            GateResult.objects.create(
                promotion=promotion,
                gate=verdict.gate,
                passed=verdict.passed,
                head=promotion.head,
                text=verdict.text,
                evidence=verdict.evidence,
                at=now,
            )
    return verdicts


def newest_results(promotion: Promotion) -> list[GateResult]:
    """The last recorded verdict of each gate. One query."""
    return list({result.gate: result for result in promotion.gate_results.order_by("id")}.values())


def upstream_is_live(promotion: Promotion, now: datetime) -> Verdict:
    """The source environment runs *this* release, proven live on each of its clusters; never "is green right now"."""
    stages = list(
        AppStage.objects.filter(app__in=promotion.apps.all(), environment=promotion.source).prefetch_related(
            "on_clusters__cluster__status"
        )
    )
    placed = [each for stage in stages for each in stage.on_clusters.all()]
    evidence = {
        each.cluster.name: {
            "state": each.state,
            "revision": each.revision,
            "freshness": freshness_of(each.cluster.status, now),
        }
        for each in placed
    }
    names = {"source": promotion.source, "version": promotion.version_after}
    if len(stages) == 1 and stages[0].content_hash != promotion.release.content_hash:
        names["newer"] = stages[0].version
        text = _("%(source)s has moved on to %(newer)s before %(version)s was proven live there.") % names
        return Verdict("upstream", passed=False, text=text, evidence=evidence)
    if any(each.state != AppOnCluster.State.LIVE or each.commit != each.stage.commit for each in placed):
        text = _("%(version)s is not live on every cluster of %(source)s yet.") % names
        return Verdict("upstream", passed=False, text=text, evidence=evidence)
    if any(status["freshness"] != "Live" for status in evidence.values()):
        text = _("A cluster of %(source)s was not seen lately.") % names
        return Verdict("upstream", passed=False, text=text, evidence=evidence)
    if not placed:
        text = _("No cluster of %(source)s runs this, so nothing proves it.") % names
        return Verdict("upstream", passed=False, text=text, evidence=evidence)
    text = _("%(version)s is live in %(source)s.") % names
    return Verdict("upstream", passed=True, text=text, evidence=evidence)
