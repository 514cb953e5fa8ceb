"""From an empty remote to a promotion that is live on every cluster, service by service, on the `local` forge.

The remote is a real bare repository, the clusters are fake ones whose Kustomizations are set to the commit that Flux
would have applied; everything between is the product.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import pygit2
import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from clusters_app.models import App, AppOnCluster, AppStage, Cluster, Environment, Operation, Promotion, Repository
from clusters_app.services import following, operations, scaffolding, syncing
from clusters_app.services.audit import Actor, first_broken_link
from clusters_app.services.observing import observe_clusters
from clusters_app.services.promotions import advancing, requesting
from clusters_app.services.remotes import forge_of, mirror_of
from clusters_app.services.work import do_work
from tests.testbed.fake_api import FakeApi, FakeCluster
from tests.testbed.fake_api.objects import flux_object

pytestmark = pytest.mark.django_db(transaction=True)

ANSWERS = {
    "environments": [{"name": "dev"}, {"name": "staging"}, {"name": "prod"}],
    "clusters": [
        {"name": "dev", "environment": "dev"},
        {"name": "staging", "environment": "staging"},
        {"name": "prod-a", "environment": "prod"},
        {"name": "prod-b", "environment": "prod"},
    ],
    "apps": [{"name": "web", "version": "1.0.0", "image": {"name": "registry.example/web"}}],
}
VERSION = "clusters/{}/apps/web/version.yaml"


class Fleet:
    """A scaffolded repository with four registered clusters, and what Flux would do."""

    def __init__(self, remote: Path, repository: Repository, fakes: dict[str, FakeCluster]) -> None:
        self.remote = pygit2.Repository(str(remote))
        self.repository = repository
        self.fakes = fakes
        self.actor = Actor("maria", User.objects.create(username="maria"))

    @property
    def head(self) -> str:
        return str(self.remote.references["refs/heads/main"].target)

    def sync(self) -> None:
        Repository.objects.update(due_at=timezone.now())
        syncing.sync_repository(repository_id=self.repository.pk)
        self.repository.refresh_from_db()
        assert not self.repository.problem

    def reconcile(self, *names: str, ready: bool = True) -> None:
        """Flux on these clusters applies the branch head, and Flotilla observes it."""
        for name in names:
            for kustomization in ("flux-system", "infrastructure-controllers", "infrastructure-configs", "apps"):
                document = flux_object("Kustomization", "flux-system", kustomization, revision=f"main@sha1:{self.head}")
                if not ready and kustomization == "apps":
                    fail(document)
                self.fakes[name].put("Kustomization", document)
            source = flux_object("GitRepository", "flux-system", "flux-system", revision=f"main@sha1:{self.head}")
            self.fakes[name].put("GitRepository", source)
        ids = list(Cluster.objects.filter(name__in=names).values_list("pk", flat=True))
        observe_clusters(cluster_ids=ids)
        following.follow_clusters(cluster_ids=ids)

    def commit(self, changes: Mapping[str, bytes | None], message: str) -> str:
        """Somebody pushes to main."""
        from clusters_app.git.commits import Author, Message

        mirror = mirror_of(self.repository)
        made = mirror.commit(self.head, changes, Message(message, Author("Anna", "anna@example.com"), timezone.now()))
        from clusters_app.services.outside import policy
        from clusters_app.services.remotes import remote_of

        mirror.push(remote_of(self.repository), policy(), "main", made, self.head)
        return made

    def read(self, path: str) -> str:
        blob = self.remote.revparse_single(f"main:{path}")
        assert isinstance(blob, pygit2.Blob)
        return blob.data.decode()

    def advance(self, promotion: Promotion) -> Promotion:
        Promotion.objects.filter(pk=promotion.pk).update(due_at=timezone.now())
        advancing.advance_promotion(promotion_id=promotion.pk)
        promotion.refresh_from_db()
        assert not promotion.problem
        return promotion

    def promote(self, source: str, target: str) -> Promotion | None:
        found, _planned = requesting.request_promotion(
            apps=[App.objects.get(name="web")],
            source=Environment.objects.get(name=source),
            target=Environment.objects.get(name=target),
            actor=self.actor,
        )
        return found

    def merge(self, promotion: Promotion) -> None:
        assert promotion.pull_request_number is not None
        with forge_of(self.repository) as forge:
            forge.merge(promotion.pull_request_number, head=promotion.head, title="Merge", message="")


def fail(document: dict) -> None:  # type: ignore[type-arg]
    """The health check of a Deployment failed after the new objects were applied."""
    revision = document["status"]["lastAppliedRevision"]
    document["status"]["lastAttemptedRevision"] = revision
    document["status"]["lastAppliedRevision"] = "main@sha1:" + "0" * 40
    for condition in document["status"]["conditions"]:
        if condition["type"] == "Ready":
            condition |= {
                "status": "False",
                "reason": "HealthCheckFailed",
                "message": "health check failed after 5s: failed early due to stalled resources: "
                "[Deployment/web/web status: 'Failed']",
            }


@pytest.fixture
def fleet(tmp_path: Path, api: FakeApi, db: None, register_at: Callable[..., Cluster]) -> Fleet:
    remote = tmp_path / "fleet.git"
    pygit2.init_repository(str(remote), bare=True, initial_head="main")
    for position, name in enumerate(("dev", "staging", "prod"), start=1):
        Environment.objects.create(name=name, position=position)
    url = f"file://{remote}"
    repository = Repository.objects.create(name="fleet", url=url, canonical_url=url, forge="local")
    actor = Actor("maria")
    operation = scaffolding.scaffold_repository(repository=repository, answers=ANSWERS, actor=actor)  # type: ignore[arg-type]
    operations.run_operation(operation_id=operation.pk, work=do_work)
    operation.refresh_from_db()
    assert operation.state == Operation.State.DONE, operation.problem
    with forge_of(repository) as forge:
        opened = forge.read(operation.result["pull_request"])
        forge.merge(opened.number, head=opened.head_sha, title="Scaffold", message="")
    fakes = {}
    for name, path in operation.result["paths"].items():
        environment = Environment.objects.get(name=name.partition("-")[0])
        fakes[name] = FakeCluster(name)
        register_at(fakes[name], environment, repository, path)
    made = Fleet(remote, repository, fakes)
    made.sync()
    made.reconcile(*fakes)
    return made


def test_a_scaffolded_fleet_is_live_once_every_cluster_applied_it(fleet: Fleet) -> None:
    stages = {stage.environment.name: stage for stage in AppStage.objects.select_related("environment")}
    assert {name: stage.version for name, stage in stages.items()} == dict.fromkeys(("dev", "staging", "prod"), "1.0.0")
    placed = AppOnCluster.objects.values_list("cluster__name", "state")
    assert dict(placed) == dict.fromkeys(("dev", "staging", "prod-a", "prod-b"), "live")
    for cluster in Cluster.objects.select_related("status"):
        assert (cluster.status.commits_behind, cluster.status.healthy) == (0, fleet.head)


def test_one_version_travels_from_dev_to_prod(fleet: Fleet) -> None:
    path = VERSION.format("dev")
    fleet.commit({path: fleet.read(path).replace("1.0.0", "1.1.0").encode()}, "Web 1.1.0")
    fleet.sync()
    assert AppStage.objects.get(environment__name="dev").version == "1.1.0"
    fleet.reconcile("dev")

    promotion = fleet.promote("dev", "staging")
    assert promotion is not None
    before = fleet.read(VERSION.format("staging"))
    assert fleet.advance(promotion).state == "Open"
    assert fleet.advance(promotion).state == "Open"
    assert fleet.promote("dev", "staging") == promotion
    assert [result.passed for result in promotion.gate_results.all()] == [True]
    fleet.merge(promotion)
    after = fleet.read(VERSION.format("staging"))
    changed = [pair for pair in zip(before.splitlines(), after.splitlines(), strict=True) if pair[0] != pair[1]]
    assert [(old.replace("1.0.0", "1.1.0")) for old, _new in changed] == [new for _old, new in changed]
    assert len(changed) == 1

    assert fleet.advance(promotion).state == "Merged"
    assert fleet.advance(promotion).state == "RollingOut"
    fleet.sync()
    fleet.reconcile("staging")
    assert fleet.advance(promotion).state == "Verified"
    assert promotion.targets.get().revision == fleet.head
    assert fleet.promote("dev", "staging") is None

    to_prod = fleet.promote("staging", "prod")
    assert to_prod is not None
    fleet.advance(to_prod)
    fleet.merge(to_prod)
    fleet.advance(to_prod)
    fleet.sync()
    fleet.reconcile("prod-a")
    assert fleet.advance(to_prod).state == "RollingOut"
    fleet.reconcile("prod-b")
    assert fleet.advance(to_prod).state == "Verified"
    assert first_broken_link() is None


def test_a_failing_rollout_is_failed_and_a_repair_overtakes_it(fleet: Fleet) -> None:
    path = VERSION.format("dev")
    fleet.commit({path: fleet.read(path).replace("1.0.0", "broken").encode()}, "Break it")
    fleet.sync()
    promotion = fleet.promote("dev", "staging")
    assert promotion is not None
    fleet.advance(promotion)
    fleet.merge(promotion)
    fleet.advance(promotion)
    fleet.sync()
    fleet.reconcile("staging", ready=False)
    fleet.reconcile("staging", ready=False)
    assert fleet.advance(promotion).state == "Failed"
    told = promotion.events.last()
    assert told is not None
    assert "Deployment/web/web" in told.why
    target = VERSION.format("staging")
    fleet.commit({target: fleet.read(target).replace("broken", "1.2.0").encode()}, "Repair it")
    fleet.sync()
    fleet.reconcile("staging")
    assert fleet.advance(promotion).state == "Overtaken"


def test_a_closed_pull_request_is_a_rejection(fleet: Fleet) -> None:
    path = VERSION.format("dev")
    fleet.commit({path: fleet.read(path).replace("1.0.0", "1.1.0").encode()}, "Web 1.1.0")
    fleet.sync()
    promotion = fleet.promote("dev", "staging")
    assert promotion is not None
    fleet.advance(promotion)
    assert promotion.pull_request_number is not None
    with forge_of(fleet.repository) as forge:
        forge.close(promotion.pull_request_number)
    assert fleet.advance(promotion).state == "Closed"


def test_a_newer_release_takes_over_the_open_pull_request(fleet: Fleet) -> None:
    path = VERSION.format("dev")
    fleet.commit({path: fleet.read(path).replace("1.0.0", "1.1.0").encode()}, "Web 1.1.0")
    fleet.sync()
    older = fleet.promote("dev", "staging")
    assert older is not None
    fleet.advance(older)
    fleet.commit({path: fleet.read(path).replace("1.1.0", "1.2.0").encode()}, "Web 1.2.0")
    fleet.sync()
    newer = fleet.promote("dev", "staging")
    assert newer is not None
    fleet.advance(newer)
    older.refresh_from_db()
    assert (older.state, older.superseded_by) == ("Superseded", newer)
    assert newer.pull_request_number == older.pull_request_number
    fleet.merge(newer)
    assert "1.2.0" in fleet.read(VERSION.format("staging"))


def test_an_edit_without_effect_is_refused_before_anything_is_pushed(fleet: Fleet) -> None:
    """Something later in the target's build sets the image again: the worker's build sees it."""
    listing = fleet.read("clusters/staging/apps/kustomization.yaml")
    pinned = listing + "images:\n  - name: registry.example/web\n    newTag: 0.9.0\n"
    path = VERSION.format("dev")
    changes = {
        "clusters/staging/apps/kustomization.yaml": pinned.encode(),
        path: fleet.read(path).replace("1.0.0", "1.1.0").encode(),
    }
    fleet.commit(changes, "Pin staging")
    fleet.sync()
    before = set(fleet.remote.references)
    found, _planned = requesting.request_promotion(
        apps=[App.objects.get(name="web")],
        source=Environment.objects.get(name="dev"),
        target=Environment.objects.get(name="staging"),
        actor=fleet.actor,
    )
    assert found is not None
    advancing.advance_promotion(promotion_id=found.pk)
    found.refresh_from_db()
    assert (found.state, bool(found.problem)) == ("Planned", True)
    assert set(fleet.remote.references) == before
