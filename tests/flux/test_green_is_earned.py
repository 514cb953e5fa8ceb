"""No sequence of observations shows green without live evidence about the generation that stands now."""

from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from clusters_app.flux.freshness import freshness_of_round, older
from clusters_app.flux.identity import ObjectRef
from clusters_app.flux.leases import LeaseSeen, remember_leases
from clusters_app.flux.resources import decode_object
from clusters_app.flux.rollup import Member, word_of
from clusters_app.flux.status import Control, Freshness, Health, Memory, Verdict, judge, remember
from clusters_app.flux.structs import Lease

from .documents import NOW, condition, document, git_repository, lease

KINDS = (
    "Kustomization",
    "HelmRelease",
    "GitRepository",
    "OCIRepository",
    "HelmChart",
    "ImageRepository",
    "ImagePolicy",
    "Receiver",
)
CONTROLLERS = {
    "Kustomization": "kustomize-controller",
    "HelmRelease": "helm-controller",
    "ImageRepository": "image-reflector-controller",
    "ImagePolicy": "image-reflector-controller",
    "Receiver": "notification-controller",
}
REASONS = (
    "",
    "ReconciliationSucceeded",
    "ArtifactFailed",
    "DependencyNotReady",
    "HealthCheckFailed",
    "SourceNotReady",
    "Progressing",
)

conditions = st.builds(
    condition,
    st.sampled_from(
        ["Ready", "Ready", "Ready", "Stalled", "Reconciling", "Healthy", "Drifted", "TestSuccess", "FetchFailed", None]
    ),
    st.sampled_from(["True", "False", "Unknown", "", None]),
    st.sampled_from(REASONS),
    st.sampled_from(["", "Source artifact not found", "dependency 'flux-system/x' is not ready", "done"]),
    generation=st.sampled_from([0, 1, 2, 3]),
    since=st.integers(-10_000, 100_000),
)
objects = st.fixed_dictionaries(
    {
        "conditions": st.lists(conditions, max_size=4),
        "generation": st.integers(1, 3),
        "spec": st.fixed_dictionaries({}, optional={"suspend": st.booleans(), "dependsOn": st.just([{"name": "x"}])}),
        "deleted": st.booleans(),
        "observed": st.sampled_from([None, -1, 1, 2, 3]),
    }
)
observations = st.fixed_dictionaries(
    {
        "object": objects,
        "pause": st.integers(1, 4_000),
        "is_alive": st.booleans(),
        "missed": st.integers(0, 4),
        "skew": st.sampled_from([-7_200, 0, 7_200]),
    }
)


def built(kind: str, drawn: dict[str, Any]) -> dict[str, Any]:
    deletion = {"deletionTimestamp": "2026-11-30T16:59:00Z", "finalizers": ["finalizers.fluxcd.io"]}
    more: dict[str, Any] = deletion if drawn["deleted"] else {}
    status = {"observedGeneration": drawn["observed"]} if drawn["observed"] is not None else {}
    generation, spec = drawn["generation"], drawn["spec"]
    return document(kind, "thing", *drawn["conditions"], generation=generation, spec=spec, status=status, **more)


def is_proven(item: dict[str, Any]) -> bool:
    """Read from the document alone, and by other means than the product's."""
    found = {entry["type"]: entry for entry in item["status"].get("conditions") or []}
    entry = found.get("Ready")
    if not entry or entry["status"] != "True" or "deletionTimestamp" in item["metadata"]:
        return False
    observed = entry["observedGeneration"] or item["status"].get("observedGeneration") or 0
    return bool(observed >= item["metadata"]["generation"])


@given(kind=st.sampled_from(KINDS), seen=st.lists(observations, min_size=1, max_size=5))
def test_no_sequence_of_observations_earns_green_without_evidence(kind: str, seen: list[dict[str, Any]]) -> None:
    memory: dict[ObjectRef, Memory] = {}
    leases_seen: dict[str, LeaseSeen] = {}
    now, beats = NOW, 0
    for observation in seen:
        now += timedelta(seconds=observation["pause"])
        beats += observation["is_alive"]
        drawn = built(kind, observation["object"])
        holder = lease(CONTROLLERS.get(kind, "source-controller"), renewed=-beats)
        leases = [entry for entry in [decode_object(holder)] if isinstance(entry, Lease)]
        items, skew = [decode_object(drawn), decode_object(git_repository())], timedelta(seconds=observation["skew"])
        verdicts = judge(items, leases, memory, now, leases_seen=leases_seen, skew=skew)
        verdict = verdicts[items[0].ref]
        check(
            verdict,
            drawn,
            is_lease_moving=observation["is_alive"] or observation["pause"] < 60,
            missed=observation["missed"],
        )
        memory = remember(items, verdicts, memory, now)
        leases_seen = remember_leases(leases, leases_seen, now, skew=skew)


def check(verdict: Verdict, drawn: dict[str, Any], *, is_lease_moving: bool, missed: int) -> None:
    if verdict.health is Health.READY:
        assert is_proven(drawn) or drawn["spec"].get("suspend")
    if not verdict.is_green:
        return
    assert is_proven(drawn)
    assert not drawn["spec"].get("suspend")
    shown = older(verdict.freshness, freshness_of_round(NOW, NOW, missed_rounds=missed))
    member = Member(verdict.health, verdict.settled_health, verdict.control, shown)
    assert word_of(member) != "ok" or (shown is Freshness.LIVE and verdict.control is Control.ACTIVE)
    assert member.is_green is (missed < 2)
    assert is_lease_moving or verdict.control is Control.ACTIVE


@given(pause=st.integers(61, 100_000), generation=st.integers(1, 3))
def test_a_controller_that_stands_still_earns_no_green(pause: int, generation: int) -> None:
    item = decode_object(
        document("Kustomization", "apps", condition("Ready", "True", generation=generation), generation=generation)
    )
    leases = [entry for entry in [decode_object(lease("kustomize-controller"))] if isinstance(entry, Lease)]
    seen = remember_leases(leases, {}, NOW)
    verdicts = judge([item], leases, {}, NOW + timedelta(seconds=pause), leases_seen=seen)
    assert not verdicts[item.ref].is_green
