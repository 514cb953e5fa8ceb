"""What no document tells and is remembered: the last verdict, since when it fails, what was deployed."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from clusters_app.flux.identity import ObjectRef
from clusters_app.flux.resources import decode_object
from clusters_app.flux.status import Health, Memory, Verdict, judge, remember

from .documents import NOW, condition, failing, helm_release, kustomization, ready, running


def rounds(*states: dict[str, Any], every: float = 5) -> Iterator[Verdict]:
    """The verdict of each state of one object, observed one after the other."""
    memory: dict[ObjectRef, Memory] = {}
    for number, state in enumerate(states):
        now, items = NOW + timedelta(seconds=number * every), [decode_object(state)]
        verdicts = judge(items, [], memory, now, is_whole_cluster=False)
        memory = remember(items, verdicts, memory, now)
        yield from verdicts.values()


def test_progress_shows_the_verdict_before_it() -> None:
    healths = [verdict.settled_health for verdict in rounds(kustomization("a", ready()), kustomization("a", running()))]
    assert healths == [Health.READY, Health.READY]
    broken = rounds(kustomization("a", failing("BuildFailed", "no")), kustomization("a", running()))
    assert [verdict.settled_health for verdict in broken] == [Health.FAILING, Health.FAILING]


def test_without_a_verdict_before_it_progress_is_all_that_is_known() -> None:
    (verdict,) = rounds(kustomization("a", running()))
    assert verdict.settled_health is Health.PROGRESSING


def test_a_failure_counts_once_it_was_seen_twice() -> None:
    broken = kustomization("a", failing("BuildFailed", "no", since=0))
    first, second = rounds(broken, broken)
    assert (first.health, first.is_confirmed, second.is_confirmed) == (Health.FAILING, False, True)


def test_a_failure_that_is_ten_seconds_old_counts_at_once() -> None:
    (verdict,) = rounds(kustomization("a", failing("BuildFailed", "no", since=10)))
    assert verdict.is_confirmed


def test_failing_since_does_not_move_with_every_retry() -> None:
    states = [kustomization("a", failing("BuildFailed", "no", since=60 - retry * 5)) for retry in range(5)]
    seen = {verdict.failing_since for verdict in rounds(kustomization("a", ready()), *states)}
    assert seen == {None, NOW + timedelta(seconds=5)}


def test_attempts_are_those_that_the_kind_counts() -> None:
    history = [{"lastReconciledStatus": "HealthCheckFailed", "totalReconciliations": 4}]
    (first,) = rounds(kustomization("a", failing("HealthCheckFailed", "no"), status={"history": history}))
    (second,) = rounds(helm_release("a", failing("UpgradeFailed", "no"), status={"failures": 27}))
    (fine,) = rounds(kustomization("a", ready(), status={"history": history}))
    assert (first.attempts, second.attempts, fine.attempts) == (4, 27, None)


def test_a_failure_goes_on_through_its_retries() -> None:
    broken, retry = kustomization("a", failing("BuildFailed", "no")), kustomization("a", running())
    assert len({verdict.failing_since for verdict in rounds(broken, retry, broken)}) == 1


def test_the_deployed_version_is_kept_when_the_history_has_none_left() -> None:
    deployed = helm_release("web", ready(), status={"history": [{"chartVersion": "1.0.0", "status": "deployed"}]})
    failed = helm_release("web", running(), status={"history": [{"chartVersion": "1.1.0", "status": "failed"}] * 5})
    assert [verdict.deployed for verdict in rounds(deployed, failed, failed)] == ["1.0.0"] * 3


def test_a_generation_that_waits_from_before_our_time_stays_late() -> None:
    """The first look must not start its clock again."""
    newborn = kustomization("a", created=3_600)
    assert {verdict.explanation.id for verdict in rounds(newborn, newborn, newborn)} == {"not-picked-up"}


def test_a_new_generation_starts_its_clock() -> None:
    ready_before, changed = kustomization("a", ready()), kustomization("a", ready(), generation=2)
    found = [verdict.explanation.id for verdict in rounds(ready_before, changed, changed, changed, every=200)]
    assert found == ["ok", "not-observed-yet", "not-observed-yet", "not-picked-up"]


def test_the_document_still_tells_of_a_failure_before_we_came() -> None:
    failed = {"history": [{"lastReconciledStatus": "HealthCheckFailed"}]}
    released = condition("Released", "False", "UpgradeFailed", "no")
    (first,), (second,) = (
        rounds(kustomization("a", running(), status=failed)),
        rounds(helm_release("a", running(), released)),
    )
    assert (first.settled_health, second.settled_health) == (Health.FAILING, Health.FAILING)


def test_a_success_in_the_history_proves_nothing() -> None:
    """Failures before the apply step never enter it."""
    succeeded = {"history": [{"lastReconciledStatus": "ReconciliationSucceeded"}]}
    (verdict,) = rounds(kustomization("a", running(), status=succeeded))
    assert verdict.settled_health is Health.PROGRESSING


def test_fetching_again_what_never_succeeded_is_a_failure_before_we_came() -> None:
    """The failure never reached the history, but the attempt that is named is not the one that runs."""
    fetching = condition("Reconciling", "True", "Progressing", "Fetching manifests for revision main@sha1:2")
    status = {"lastAppliedRevision": "main@sha1:1", "lastAttemptedRevision": "main@sha1:2", "history": [{}]}
    (verdict,) = rounds(kustomization("a", running(), fetching, status=status))
    assert verdict.settled_health is Health.FAILING


def test_the_health_at_the_moment_of_suspending_is_kept() -> None:
    memory: dict[ObjectRef, Memory] = {}
    for state in (
        kustomization("a", failing("BuildFailed", "no")),
        kustomization("a", failing("BuildFailed", "no"), spec={"suspend": True}),
    ):
        items = [decode_object(state)]
        memory = remember(items, judge(items, [], memory, NOW, is_whole_cluster=False), memory, NOW)
    assert next(iter(memory.values())).health_at_suspension is Health.FAILING


def test_objects_that_are_gone_are_forgotten() -> None:
    items = [decode_object(kustomization("a", ready()))]
    memory = remember(
        items, judge(items, [], {}, NOW), {ObjectRef("Kustomization", "flux-system", "gone"): Memory()}, NOW
    )
    assert [ref.name for ref in memory] == ["a"]
