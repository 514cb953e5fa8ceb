"""Causes: every red or waiting object points at its root, through whatever stands in between."""

from clusters_app.flux.identity import ObjectRef
from clusters_app.flux.rollup import member_of, problems, roll_up
from clusters_app.flux.status import Health, Memory

from .documents import (
    condition,
    document,
    failing,
    git_repository,
    helm_release,
    judged,
    kustomization,
    ready,
    running,
    verdict_of,
)


def depends(name: str, on: str, message: str = "", **more: object) -> dict[str, object]:
    said = failing("DependencyNotReady", message or f"dependency 'flux-system/{on}' is not ready")
    return kustomization(name, said, spec={"dependsOn": [{"name": on}], **more})


def ks(name: str) -> ObjectRef:
    return ObjectRef("Kustomization", "flux-system", name)


def test_it_waits_while_its_dependency_is_on_its_way() -> None:
    verdict = verdict_of(depends("apps", "infra"), kustomization("infra", running()), git_repository())
    assert (verdict.health, verdict.caused_by, verdict.explanation.id) == (
        Health.WAITING,
        ks("infra"),
        "dependency-not-ready",
    )


def test_it_fails_when_its_dependency_has_failed() -> None:
    verdict = verdict_of(
        depends("apps", "infra"), kustomization("infra", failing("BuildFailed", "no")), git_repository()
    )
    assert (verdict.health, verdict.caused_by, verdict.explanation.id) == (
        Health.FAILING,
        ks("infra"),
        "dependency-failing",
    )


def test_a_dependency_that_tries_again_is_judged_by_its_settled_health() -> None:
    memory = {ks("infra"): Memory(settled_health=Health.FAILING)}
    verdict = verdict_of(depends("apps", "infra"), kustomization("infra", running()), git_repository(), memory=memory)
    assert (verdict.health, verdict.explanation.id) == (Health.FAILING, "dependency-failing")


def test_the_root_is_at_the_end_of_a_chain_of_any_length() -> None:
    chain = [depends(f"n{number}", f"n{number + 1}") for number in range(2_000)]
    verdicts = judged(*chain, kustomization("n2000", failing("BuildFailed", "no")), git_repository())
    first = verdicts["Kustomization/flux-system/n0"]
    assert (first.caused_by, first.blocked_by) == (ks("n2000"), ks("n1"))
    assert len(problems({verdict.ref: verdict for verdict in verdicts.values()})) == 1


def test_a_dependency_that_does_not_exist_is_the_root() -> None:
    for message in (
        "dependency 'flux-system/nowhere' not found",
        "unable to get 'flux-system/nowhere' dependency: not found",
    ):
        verdict = verdict_of(depends("apps", "nowhere", message), git_repository())
        assert (verdict.health, verdict.caused_by, verdict.explanation.id) == (
            Health.FAILING,
            ks("nowhere"),
            "dependency-missing",
        )


def test_a_kind_that_could_not_be_read_is_not_missing() -> None:
    chart = failing("SourceNotReady", "HelmChart 'flux-system/flux-system-web' is not ready: no artifact available")
    verdict = verdict_of(helm_release("web", chart), unread=frozenset({"HelmChart"}))
    assert (verdict.health, verdict.explanation.id) == (Health.WAITING, "source-not-ready")


def test_a_circle_is_found_by_following_the_references() -> None:
    verdicts = judged(
        depends("a", "b"), depends("b", "c"), depends("c", "a"), depends("outside", "a"), git_repository()
    )
    assert verdicts["Kustomization/flux-system/a"].explanation.id == "dependency-cycle"
    assert verdicts["Kustomization/flux-system/a"].caused_by == ks("b")
    assert verdicts["Kustomization/flux-system/a"].cycle == (ks("a"), ks("b"), ks("c"))
    assert verdicts["Kustomization/flux-system/outside"].explanation.id == "dependency-failing"
    rows = problems({verdict.ref: verdict for verdict in verdicts.values()})
    assert [row.root for row in rows] == [ks("a")]


def test_whoever_follows_the_source_of_a_circle_is_late_and_is_told_so() -> None:
    status = {"lastAppliedRevision": "main@sha1:" + "0" * 40, "inventory": {"entries": [{"id": "a_b__ConfigMap"}]}}
    verdict = verdict_of(
        kustomization("settings", ready(), status=status), depends("a", "b"), depends("b", "a"), git_repository()
    )
    assert (verdict.health, [notice.code for notice in verdict.notices]) == (Health.READY, ["cycle-elsewhere"])


def test_a_suspended_dependency_that_is_ready_is_fine_until_the_source_moves() -> None:
    suspended = kustomization("infra", ready(), spec={"suspend": True})
    fine = verdict_of(
        kustomization("apps", ready(), spec={"dependsOn": [{"name": "infra"}]}), suspended, git_repository()
    )
    behind = depends("apps", "infra", "dependency 'flux-system/infra' revision is not up to date")
    blocked = verdict_of(behind, suspended, git_repository())
    assert fine.health is Health.READY
    assert (blocked.health, blocked.caused_by, blocked.explanation.id) == (
        Health.FAILING,
        ks("infra"),
        "dependency-suspended",
    )
    assert blocked.explanation.command == "flux resume kustomization infra -n flux-system"


def test_a_suspended_dependency_that_was_failing_blocks_for_ever() -> None:
    suspended = kustomization("infra", failing("BuildFailed", "no"), spec={"suspend": True})
    assert verdict_of(depends("apps", "infra"), suspended, git_repository()).explanation.id == "dependency-suspended"


def test_an_expression_that_cannot_be_evaluated_is_its_own_failure() -> None:
    message = "failed to evaluate the CEL expression 'dep.metadata.labels[\"wave\"]': no such key: labels"
    verdict = verdict_of(depends("apps", "infra", message), kustomization("infra", ready()), git_repository())
    assert (verdict.health, verdict.caused_by) == (Health.FAILING, None)


def test_artifact_failed_is_its_own_failure_when_the_source_has_an_artifact() -> None:
    message = "kustomization path not found: stat /tmp/kustomization-1/apps: no such file or directory"
    verdict = verdict_of(kustomization("apps", failing("ArtifactFailed", message)), git_repository())
    assert (verdict.caused_by, verdict.explanation.id) == (None, "path-not-found")


def test_a_source_without_artifact_blocks_what_it_feeds() -> None:
    source = git_repository("fleet", failing("GitOperationFailed", "authentication required"), revision="")
    verdict = verdict_of(
        kustomization("apps", failing("ArtifactFailed", "Source artifact not found, retrying in 30s")), source
    )
    assert (verdict.health, str(verdict.caused_by)) == (Health.FAILING, "GitRepository/flux-system/fleet")


def test_an_artifact_that_changed_meanwhile_is_fetched_again() -> None:
    changed = failing("ArtifactFailed", "Source is not ready, artifact digest changed, retrying in 5s")
    assert verdict_of(kustomization("apps", changed), git_repository()).health is Health.PROGRESSING


def test_an_artifact_that_is_gone_from_storage_is_said_so() -> None:
    gone = failing("ArtifactFailed", "Source is not ready, artifact not found, retrying in 5s")
    assert verdict_of(kustomization("apps", gone), git_repository()).explanation.id == "artifact-lost"
    chart = document("OCIRepository", "web", ready(), status={"artifact": {"revision": "1.0.0@sha256:" + "a" * 64}})
    release = helm_release(
        "web",
        failing("ArtifactFailed", "Source not ready: artifact not found. Retrying in 30s"),
        spec={"chart": None, "chartRef": {"kind": "OCIRepository", "name": "web"}},
    )
    assert verdict_of(release, chart).explanation.id == "artifact-lost"


def test_a_source_that_is_being_deleted_blocks_what_it_feeds() -> None:
    source = git_repository(deletionTimestamp="2026-11-30T16:59:50Z", finalizers=["finalizers.fluxcd.io"])
    verdict = verdict_of(kustomization("apps", failing("ArtifactFailed", "Source artifact not found")), source)
    assert (verdict.health, verdict.explanation.id) == (Health.FAILING, "source-terminating")


def test_a_young_source_is_a_start_and_no_failure() -> None:
    source = git_repository("fleet", running("building artifact"), revision="", created=20)
    verdict = verdict_of(
        kustomization("apps", failing("ArtifactFailed", "Source artifact not found, retrying in 30s")), source
    )
    assert (verdict.health, verdict.explanation.id) == (Health.PROGRESSING, "source-not-ready")


def test_a_source_that_does_not_exist_is_named() -> None:
    message = "Source 'GitRepository/flux-system/fleet' not found"
    verdict = verdict_of(kustomization("apps", failing("ArtifactFailed", message)))
    assert (verdict.health, verdict.explanation.id) == (Health.FAILING, "source-missing")


def test_the_reference_of_a_namespace_defaults_to_the_referrers_own() -> None:
    """C056: `apps` of flux-system is meant, not the one that team-a has too."""
    web = kustomization(
        "web",
        failing("ArtifactFailed", "Source artifact not found"),
        namespace="team-a",
        spec={"sourceRef": {"kind": "GitRepository", "name": "apps", "namespace": "flux-system"}},
    )
    broken = git_repository("apps", failing("GitOperationFailed", "no"), revision="")
    own = git_repository("apps", namespace="team-a")
    assert str(verdict_of(web, broken, own).caused_by) == "GitRepository/flux-system/apps"


def test_a_release_is_caused_by_the_repository_behind_its_chart() -> None:
    chart = document(
        "HelmChart",
        "flux-system-web",
        failing("NoSourceArtifact", "no artifact available for HelmRepository source 'charts'"),
        spec={"sourceRef": {"kind": "HelmRepository", "name": "charts"}},
    )
    repository = document("HelmRepository", "charts", failing("Failed", "404 Not Found"))
    message = (
        "HelmChart 'flux-system/flux-system-web' is not ready: no artifact available for HelmRepository source 'charts'"
    )
    verdict = verdict_of(helm_release("web", failing("SourceNotReady", message)), chart, repository)
    assert str(verdict.caused_by) == "HelmRepository/flux-system/charts"
    assert str(verdict.blocked_by) == "HelmChart/flux-system/flux-system-web"


def failed_shop() -> dict[str, object]:
    stalled = condition("Stalled", "True", "RetriesExceeded", "Failed to upgrade after 1 attempt(s)")
    return helm_release("shop", failing("UpgradeFailed", "retries exhausted"), stalled, namespace="shop")


def test_a_parent_that_checks_a_failed_child_waits_for_it_at_once() -> None:
    """C034: one problem, the child; the parent is blocked, and not healthy from before."""
    checking = condition(
        "Reconciling", "True", "Progressing", "Running health checks for revision main@sha1:1", since=120
    )
    apps = kustomization(
        "apps",
        running(since=120),
        checking,
        spec={"timeout": "15m", "wait": True},
        status={"inventory": {"entries": [{"id": "shop_shop_helm.toolkit.fluxcd.io_HelmRelease", "v": "v2"}]}},
    )
    verdicts = judged(apps, failed_shop(), git_repository(), memory={ks("apps"): Memory(settled_health=Health.READY)})
    parent = verdicts["Kustomization/flux-system/apps"]
    assert (parent.health, str(parent.caused_by), parent.is_blocked) == (Health.WAITING, "HelmRelease/shop/shop", True)
    assert parent.settled_health is not Health.READY
    rows = problems({verdict.ref: verdict for verdict in verdicts.values()})
    assert [(str(row.root), list(map(str, row.blocked))) for row in rows] == [
        ("HelmRelease/shop/shop", ["Kustomization/flux-system/apps"])
    ]
    assert roll_up(map(member_of, verdicts.values())).counts == {"ok": 1, "failing": 1, "blocked": 1}


def test_after_its_timeout_the_parent_is_still_caused_by_the_child() -> None:
    message = "health check failed after 15m0s: timeout waiting for: [HelmRelease/shop/shop status: 'InProgress']"
    apps = kustomization("apps", failing("HealthCheckFailed", message))
    verdicts = judged(apps, failed_shop(), git_repository())
    assert str(verdicts["Kustomization/flux-system/apps"].caused_by) == "HelmRelease/shop/shop"
    assert len(problems({verdict.ref: verdict for verdict in verdicts.values()})) == 1


def test_a_failed_workload_is_named_and_is_no_cause() -> None:
    message = "health check failed: failed early due to stalled resources: [Deployment/apps/web status: 'Failed']"
    web = document("Deployment", "web", condition("Available", "False", "MinimumReplicasUnavailable"), namespace="apps")
    verdict = verdict_of(kustomization("apps", failing("HealthCheckFailed", message)), web, git_repository())
    assert (verdict.caused_by, "Deployment/apps/web" in verdict.explanation.cause) == (None, True)


def test_objects_that_wait_for_each_other_in_another_way_end_as_well() -> None:
    """The parent checks the child, the child depends on the parent: nothing turns for ever."""
    checking = condition("Reconciling", "True", "Progressing", "Running health checks")
    parent = kustomization(
        "parent",
        running(),
        checking,
        status={"inventory": {"entries": [{"id": "flux-system_child_kustomize.toolkit.fluxcd.io_Kustomization"}]}},
    )
    verdicts = judged(parent, depends("child", "parent"), git_repository())
    assert {verdict.health for verdict in verdicts.values()} <= {Health.WAITING, Health.PROGRESSING, Health.READY}


def test_out_of_sight_is_not_missing() -> None:
    """A document without its neighbours: only what a message says of them is known."""
    waiting = verdict_of(depends("apps", "infra"), is_whole_cluster=False)
    assert (waiting.health, waiting.caused_by) == (Health.WAITING, ks("infra"))
    own = failing("ArtifactFailed", "kustomization path not found: stat /tmp/k-1/apps: no such file or directory")
    assert verdict_of(kustomization("apps", own), is_whole_cluster=False).explanation.id == "path-not-found"
    message = (
        "HelmChart 'flux-system/flux-system-web' is not ready: latest generation of object has not been reconciled"
    )
    started = verdict_of(helm_release("web", failing("SourceNotReady", message)), is_whole_cluster=False)
    assert started.health is Health.PROGRESSING


def test_an_include_is_caused_by_what_it_includes() -> None:
    include = git_repository(
        "all",
        failing("NoArtifact", "no artifact available for include 'base'"),
        revision="",
        spec={"include": [{"repository": {"name": "base"}}]},
    )
    base = git_repository("base", failing("GitOperationFailed", "no"), revision="")
    verdict = verdict_of(include, base)
    assert (str(verdict.caused_by), verdict.explanation.id) == ("GitRepository/flux-system/base", "include-not-ready")


def test_an_image_policy_waits_for_its_repository() -> None:
    policy = document(
        "ImagePolicy",
        "web",
        failing("DependencyNotReady", "retrying in 2s error: no tags in database"),
        spec={"imageRepositoryRef": {"name": "web"}},
    )
    broken = document("ImageRepository", "web", failing("ReadOperationFailed", "UNAUTHORIZED"))
    scanned = document("ImageRepository", "web", ready(), status={"lastScanResult": {"tagCount": 4}})
    assert verdict_of(policy, broken).explanation.id == "dependency-failing"
    assert (verdict_of(policy, scanned).caused_by, verdict_of(policy, scanned).explanation.id) == (
        None,
        "no-tags-in-database",
    )
    missing = verdict_of(policy)
    assert (str(missing.caused_by), missing.explanation.id) == ("ImageRepository/flux-system/web", "dependency-missing")


def test_an_unreadable_source_does_not_break_its_users() -> None:
    odd = git_repository() | {"status": {"conditions": {}}}
    verdicts = judged(odd, kustomization("apps", failing("ArtifactFailed", "Source artifact not found")))
    assert verdicts["GitRepository/flux-system/fleet"].explanation.id == "unreadable"
    assert verdicts["Kustomization/flux-system/apps"].health is Health.FAILING
