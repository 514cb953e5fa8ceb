"""A scaffolded fleet for tests: a real bare repository, fake clusters set to what Flux would have applied."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pygit2
import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from clusters_app.models import App, Cluster, Environment, Operation, Promotion, Repository
from clusters_app.services import following, operations, scaffolding, syncing
from clusters_app.services.audit import Actor
from clusters_app.services.observing import observe_clusters
from clusters_app.services.promotions import advancing, requesting
from clusters_app.services.remotes import forge_of, mirror_of
from clusters_app.services.work import do_work
from tests.testbed.fake_api import FakeApi, FakeCluster
from tests.testbed.fake_api.objects import flux_object

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
        self._observe(*names)

    def _observe(self, *names: str) -> None:
        ids = list(Cluster.objects.filter(name__in=names).values_list("pk", flat=True))
        observe_clusters(cluster_ids=ids)
        following.follow_clusters(cluster_ids=ids)

    def retry(self, name: str) -> None:
        """Flux tries what failed on this cluster again; Flotilla observes it in the middle."""
        fake = self.fakes[name]
        document = fake.get("Kustomization", "flux-system", "apps")
        for condition in document["status"]["conditions"]:
            if condition["type"] == "Ready":
                began = timezone.now().strftime("%Y-%m-%dT%H:%M:%SZ")
                condition |= {"status": "Unknown", "reason": "Progressing", "message": "Reconciliation in progress"}
                condition["lastTransitionTime"] = began
        fake.put("Kustomization", document)
        self._observe(name)

    def commit(self, changes: Mapping[str, bytes | None], message: str) -> str:
        """Somebody pushes to main."""
        from clusters_app.git.commits import Author, Message

        mirror = mirror_of(self.repository)
        made = mirror.commit(self.head, changes, Message(message, Author("Anna", "anna@example.com"), timezone.now()))
        from clusters_app.services.outside import policy
        from clusters_app.services.remotes import remote_of

        mirror.push(remote_of(self.repository), policy(), "main", made, self.head)
        return made

    def release(self, version: str, *, environment: str = "dev") -> None:
        """Somebody writes another version of the app `web` on main, and Flotilla reads it."""
        path = VERSION.format(environment)
        text = re.sub(r"(registry\.example/web:)\S+", rf"\g<1>{version}", self.read(path))
        self.commit({path: text.encode()}, f"Web {version}")
        self.sync()

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
