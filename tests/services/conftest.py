"""A fleet of fake clusters, registered as a person would have registered them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.utils import timezone

from clusters_app.models import Cluster, ClusterStatus, Credential, Environment, Repository
from clusters_app.sealed import generate_key_file
from clusters_app.services import credentials, outside
from clusters_app.services.nudges import QUEUES
from tests.testbed.fake_api import FakeApi, FakeCluster

from .fleet import fleet

__all__ = ["fleet"]


@pytest.fixture(autouse=True)
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, tuple[object, ...]]]]:
    """Keys, mirrors and loopback for one test; the nudges that services sent, in order."""
    key_file = tmp_path / "credentials.key"
    public = generate_key_file(key_file)
    public_file = tmp_path / "credentials.key.pub"
    public_file.write_text(str(public), encoding="ascii")
    monkeypatch.setattr("django.conf.settings.FLOTILLA_KEY_FILE", key_file)
    monkeypatch.setattr("django.conf.settings.FLOTILLA_PUBLIC_KEY_FILE", public_file)
    monkeypatch.setattr("django.conf.settings.FLOTILLA_MIRRORS_DIR", tmp_path / "mirrors")
    monkeypatch.setattr("django.conf.settings.FLOTILLA_DEMO", True)
    monkeypatch.setattr(
        "django.conf.settings.FLOTILLA_EGRESS",
        {"EGRESS_ALLOW_NETWORKS": "127.0.0.0/8", "EGRESS_ALLOW_HTTP_HOSTS": "127.0.0.1"},
    )
    for cached in (credentials._public_key, credentials._key_ring, outside.policy):
        cached.cache_clear()
    sent: list[tuple[str, tuple[object, ...]]] = []

    def note(task: str, *arguments: object, seconds: float = 0) -> None:
        assert task in QUEUES
        sent.append((task, arguments))

    for module in ("clusters", "operations", "observing", "repositories", "syncing", "following"):
        monkeypatch.setattr(f"clusters_app.services.{module}.nudge", note)
    monkeypatch.setattr("clusters_app.services.promotions.requesting.nudge", note)
    monkeypatch.setattr("clusters_app.services.promotions.opening.nudge", note)
    monkeypatch.setattr("clusters_app.services.scaffolding.nudge", note)
    yield sent
    for cached in (credentials._public_key, credentials._key_ring, outside.policy):
        cached.cache_clear()


@pytest.fixture
def environment(db: None) -> Environment:
    return Environment.objects.create(name="dev", position=1)


@pytest.fixture
def repository(db: None) -> Repository:
    return Repository.objects.create(
        name="fleet", url="https://git.example/team/fleet.git", canonical_url="git.example/team/fleet", forge="local"
    )


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi() as served:
        yield served


@pytest.fixture
def register_at(api: FakeApi, db: None) -> Callable[..., Cluster]:
    """Register a fake cluster without the check, which has tests of its own."""

    def registered(fake: FakeCluster, environment: Environment, repository: Repository, sync_path: str) -> Cluster:
        connection = api.connection(api.add(fake))
        cluster = Cluster.objects.create(
            name=fake.name,
            environment=environment,
            repository=repository,
            sync_path=sync_path,
            server=connection.server,
            ca_pem=connection.ca_pem or "",
        )
        ClusterStatus.objects.create(cluster=cluster, due_at=timezone.now())
        assert connection.token is not None
        credentials.store_credential(
            owner_kind=Credential.Owner.CLUSTER,
            owner_id=cluster.pk,
            field="token",
            host=connection.identity,
            value=connection.token,
        )
        return cluster

    return registered


@pytest.fixture
def register(
    register_at: Callable[..., Cluster], environment: Environment, repository: Repository
) -> Callable[[FakeCluster], Cluster]:
    return lambda fake: register_at(fake, environment, repository, f"clusters/{fake.name}")
