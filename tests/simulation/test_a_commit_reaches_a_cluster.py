"""How a simulated cluster goes from one commit to the next, as a cluster with Flux would."""

from datetime import datetime, timedelta
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from clusters_app.repo.tree import MemoryTree
from clusters_app.simulation.cluster import SOURCE_INTERVAL, SimulatedCluster
from clusters_app.simulation.desired import DesiredCluster, desired_fleet
from clusters_app.simulation.documents import documents_of
from clusters_app.simulation.faults import Suspended, Untrusted

from .conftest import BORN, NOON, Fleet, make_fleet

ROOT, APPS = "Kustomization/flux-system/flux-system", "Kustomization/flux-system/apps"
CONTROLLERS = "Kustomization/flux-system/infra-controllers"
VERSION = "clusters/{}/apps/{}/version.yaml"
LONG = timedelta(minutes=1)


def applied(cluster: SimulatedCluster) -> dict[str, str]:
    return {ref: applier.applied for ref, applier in cluster.appliers.items()}


def moments(since: datetime, seconds: int = 30) -> list[datetime]:
    return [since + timedelta(milliseconds=250) * step for step in range(seconds * 4)]


def test_a_cluster_settles_on_its_first_commit(fleet: Fleet) -> None:
    for cluster in fleet.clusters.values():
        assert set(applied(cluster).values()) == {fleet.head}
        assert len(cluster.appliers) == 4
        assert cluster.releases["HelmRelease/shop/shop"].deployed == "0.3.0"


def test_a_push_is_fetched_within_the_source_interval(fleet: Fleet) -> None:
    commit = fleet.push(NOON)
    fleet.advance(NOON)
    assert {cluster.fetched.commit for cluster in fleet.clusters.values() if cluster.fetched} == {fleet.commits[0]}
    fleet.advance(NOON + SOURCE_INTERVAL + timedelta(milliseconds=250))
    assert {cluster.fetched.commit for cluster in fleet.clusters.values() if cluster.fetched} == {commit}


def test_nothing_is_applied_before_what_it_depends_on(fleet: Fleet) -> None:
    commit = fleet.replace(NOON, VERSION.format("dev", "web"), "1.0.0", "1.1.0")
    cluster = fleet.clusters["dev"]
    order: list[str] = []
    for now in moments(NOON):
        cluster.advance(now)
        order += [ref for ref, of in applied(cluster).items() if of == commit and ref not in order]
    assert [ref for ref in order if ref != ROOT][-2:] == ["Kustomization/flux-system/infra-configs", APPS]
    assert set(applied(cluster).values()) == {commit}


def test_a_new_image_takes_longer_than_a_commit_that_changes_nothing_here(fleet: Fleet) -> None:
    commit = fleet.replace(NOON, VERSION.format("dev", "web"), "1.0.0", "1.1.0")
    took = {}
    for name in ("dev", "prod-a"):
        for now in moments(NOON):
            fleet.clusters[name].advance(now)
            if name not in took and applied(fleet.clusters[name])[APPS] == commit:
                began = fleet.clusters[name].fetched_at
                took[name] = (now - began).total_seconds()
    assert took["dev"] > took["prod-a"] + 2


def test_a_chart_is_pulled_then_upgraded_and_its_history_grows(fleet: Fleet) -> None:
    fleet.replace(NOON, VERSION.format("dev", "shop"), "0.3.0", "0.4.0")
    cluster = fleet.clusters["dev"]
    release = cluster.releases["HelmRelease/shop/shop"]
    seen = []
    for now in moments(NOON):
        cluster.advance(now)
        if (state := (release.pulled, release.deployed, release.is_ready)) not in seen:
            seen.append(state)
    assert seen == [
        ("0.3.0", "0.3.0", True),
        ("0.3.0", "0.3.0", False),
        ("0.4.0", "0.3.0", False),
        ("0.4.0", "0.4.0", True),
    ]
    assert [snapshot.version for snapshot in release.snapshots] == ["0.4.0", "0.3.0"]
    assert cluster.appliers[APPS].applied == fleet.head


def test_a_broken_image_fails_the_health_check_and_names_the_deployment(fleet: Fleet) -> None:
    before = fleet.head
    fleet.replace(NOON, VERSION.format("dev", "web"), "1.0.0", "1.1.0-broken")
    fleet.advance(NOON + LONG)
    apps = fleet.clusters["dev"].appliers[APPS]
    assert (apps.applied, apps.attempted, apps.reason) == (before, fleet.head, "HealthCheckFailed")
    assert "failed early due to stalled resources: [Deployment/web/web status: 'Failed']" in apps.failure
    assert fleet.clusters["prod-a"].appliers[APPS].is_ready


def test_a_repair_makes_it_ready_again(fleet: Fleet) -> None:
    path = VERSION.format("dev", "web")
    fleet.replace(NOON, path, "1.0.0", "1.1.0-broken")
    fleet.replace(NOON + LONG, path, "1.1.0-broken", "1.1.1")
    fleet.advance(NOON + 2 * LONG)
    assert fleet.clusters["dev"].appliers[APPS].is_ready


def test_a_broken_chart_fails_its_kustomization_too(fleet: Fleet) -> None:
    fleet.replace(NOON, VERSION.format("dev", "shop"), "0.3.0", "0.4.0-broken")
    fleet.advance(NOON + LONG)
    cluster = fleet.clusters["dev"]
    assert cluster.releases["HelmRelease/shop/shop"].deployed == "0.3.0"
    assert "timeout waiting for: [HelmRelease/shop/shop status: 'InProgress']" in cluster.appliers[APPS].failure


def test_what_is_suspended_stays_where_it_was() -> None:
    fleet = make_fleet({"dev": (Suspended(APPS, NOON - LONG),)})
    first = fleet.head
    fleet.replace(NOON, VERSION.format("dev", "web"), "1.0.0", "1.1.0")
    fleet.advance(NOON + LONG)
    apps = fleet.clusters["dev"].appliers[APPS]
    assert (apps.applied, apps.attempted) == (first, first)
    document = next(each for kind, each in documents_of(fleet.clusters["dev"]) if each["metadata"]["name"] == "apps")  # type: ignore[index]
    assert document["spec"]["suspend"] is True  # type: ignore[index]
    assert fleet.clusters["dev"].appliers[ROOT].applied == fleet.head


def test_a_chart_from_a_host_that_nobody_trusts_never_comes() -> None:
    fleet = make_fleet({"prod-a": (Untrusted("HelmRepository/board/board", BORN),)})
    fleet.advance(NOON)
    release = fleet.clusters["prod-a"].releases["HelmRelease/board/board"]
    assert (release.deployed, release.is_ready) == ("", False)
    assert "HelmRelease/board/board" in fleet.clusters["prod-a"].appliers[APPS].failure
    assert fleet.clusters["prod-b"].appliers[APPS].is_ready


def test_a_dependency_that_does_not_exist_is_named(fleet: Fleet) -> None:
    fleet.replace(NOON, "clusters/dev/apps.yaml", "name: infra-configs", "name: cert-manager")
    fleet.advance(NOON + LONG)
    apps = fleet.clusters["dev"].appliers[APPS]
    assert not apps.is_ready
    assert 'kustomizations.kustomize.toolkit.fluxcd.io "cert-manager" not found' in apps.waits


def test_what_git_no_longer_has_is_removed(fleet: Fleet) -> None:
    text = fleet.files["clusters/dev/apps/kustomization.yaml"].decode()
    fleet.push(NOON, {"clusters/dev/apps/kustomization.yaml": text.replace("  - shop\n", "").encode()})
    home = "clusters/prod/prod-a"
    text = fleet.files[f"{home}/kustomization.yaml"].decode()
    listed = text.replace("  - apps.yaml\n", "").encode()
    fleet.push(NOON, {f"{home}/kustomization.yaml": listed, f"{home}/apps.yaml": None})
    fleet.advance(NOON + LONG)
    assert "HelmRelease/shop/shop" not in fleet.clusters["dev"].releases
    assert APPS not in fleet.clusters["prod-a"].appliers


@cache
def three_pushes() -> tuple[tuple[datetime, DesiredCluster], ...]:
    """What dev is to be like since when."""
    files = make_fleet().files
    found = [(BORN, desired_fleet(MemoryTree(dict(files)))["dev"])]
    for milliseconds, app, old, new in (
        (1_000, "web", "1.0.0", "1.1.0"),
        (6_000, "shop", "0.3.0", "0.4.0"),
        (9_000, "web", "1.1.0", "1.2.0-broken"),
    ):
        path = VERSION.format("dev", app)
        files[path] = files[path].replace(old.encode(), new.encode())
        at = NOON + timedelta(milliseconds=milliseconds)
        found.append((at, desired_fleet(MemoryTree(dict(files)))["dev"]))
    return tuple(found)


def follower() -> SimulatedCluster:
    cluster = SimulatedCluster("dev", BORN)
    for number, (at, desired) in enumerate(three_pushes()):
        cluster.follow(f"{number}" * 40, at, desired)
    return cluster


@settings(max_examples=60)
@given(st.lists(st.integers(0, 40_000), max_size=12))
def test_how_often_one_looks_changes_nothing(offsets: list[int]) -> None:
    often, once = follower(), follower()
    for offset in sorted(offsets):
        often.advance(NOON + timedelta(milliseconds=offset))
    for cluster in (often, once):
        cluster.advance(NOON + timedelta(milliseconds=40_000))
    assert list(documents_of(often)) == list(documents_of(once))
    assert once.appliers[APPS].reason == "HealthCheckFailed"
