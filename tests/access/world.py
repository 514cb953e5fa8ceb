"""A small world with two teams: `a-dev` and `a-prod` are the own environments, `b-prod` is the foreign one.

One repository that both follow, one that only the foreign team follows, and one that is empty; in each environment a
cluster with an object, apps read from a real mirror, promotions and reviews into both sides.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client, override_settings
from django.utils import timezone
from pytest_django.plugin import DjangoDbBlocker

from clusters_app.git.commits import Author, Message
from clusters_app.git.mirror import Mirror
from clusters_app.models import (
    APIToken,
    App,
    Cluster,
    ClusterStatus,
    Environment,
    FluxObject,
    LocalPullRequest,
    Membership,
    ObjectDetail,
    Operation,
    Promotion,
    Release,
    Repository,
)
from clusters_app.queries import VERBS
from clusters_app.repo.model import model_from
from clusters_app.repo.scaffold import plan_scaffold
from clusters_app.repo.tree import MemoryTree
from clusters_app.sealed import generate_key_file
from clusters_app.services import accounts, credentials, outside
from clusters_app.services.audit import Actor
from clusters_app.services.reading import read_commit

OWN, FOREIGN = ("a-dev", "a-prod"), ("b-prod",)
ANSWERS: dict[str, Any] = {
    "environments": [{"name": name} for name in (*OWN, *FOREIGN)],
    "clusters": [{"name": name, "environment": name} for name in (*OWN, *FOREIGN)],
    "apps": [{"name": "web", "version": "1.0.0", "image": {"name": "registry.example/web"}}],
}
WHEN = datetime(2026, 11, 1, tzinfo=UTC)
FLEET, FOREIGN_FLEET, EMPTY = 1, 2, 3
#: A short certificate authority is not needed: a public host is checked against the well-known ones.
SERVER = "https://api.cluster.example:6443"


@dataclass
class World:
    environments: dict[str, Environment]
    repository: Repository
    foreign_repository: Repository
    empty: Repository
    clusters: dict[str, Cluster]
    objects: dict[str, FluxObject]
    promotions: dict[str, Promotion]
    operation: Operation
    people: dict[str, User] = field(default_factory=dict)

    def person(self, name: str, role: str = "", *environments: str) -> User:
        """Somebody with this role in these environments; everywhere when none is named."""
        user, is_new = User.objects.get_or_create(username=name)
        if is_new and role:
            for environment in environments or (None,):
                row = self.environments[environment] if environment else None
                Membership.objects.create(user=user, role=role, environment=row)
        self.people[name] = user
        return user

    def token(self, user: User, *scopes: str, expires_at: datetime | None = None) -> str:
        _row, value = accounts.create_token(
            user=user, name="test", scopes=list(scopes or VERBS), expires_at=expires_at, actor=Actor("test")
        )
        return value

    def script(self, user: User, *scopes: str) -> Client:
        """A client of the API with a token; all scopes when none is named."""
        return Client(headers={"Authorization": f"Bearer {self.token(user, *scopes)}"})

    def browser(self, user: User | None) -> Client:
        client = Client()
        if user is not None:
            client.force_login(user)
        return client


def commit_fleet(mirrors: Path) -> str:
    """The scaffolded tree, and a newer version of the app in a-dev on top of it."""
    model = model_from({**ANSWERS, "repository": {"url": "https://git.example/fleet.git", "branch": "main"}})
    files = dict(plan_scaffold(MemoryTree({}), model).files)
    mirror = Mirror.open(mirrors / f"{FLEET}.git", allow_file=True)
    first = mirror.commit(None, files, Message("Scaffold", Author("Anna", "anna@example.com"), WHEN))
    path = "clusters/a-dev/apps/web/version.yaml"
    newer = files[path].replace(b"1.0.0", b"1.1.0")
    assert newer != files[path]
    return mirror.commit(first, {path: newer}, Message("Release", Author("Anna", "anna@example.com"), WHEN))


def build(head: str) -> World:
    environments = {
        name: Environment.objects.create(name=name, position=position, is_production=name.endswith("prod"))
        for position, name in enumerate((*OWN, *FOREIGN), start=1)
    }
    repository, foreign_repository, empty = (
        Repository.objects.create(
            pk=pk,
            name=name,
            url=f"https://git.example/{name}.git",
            canonical_url=f"git.example/{name}",
            forge="local",
            head=commit,
        )
        for pk, name, commit in ((FLEET, "fleet", head), (FOREIGN_FLEET, "foreign-fleet", ""), (EMPTY, "empty", ""))
    )
    clusters = {name: _cluster(name, environments[name], repository) for name in (*OWN, *FOREIGN)}
    _cluster("b-alone", environments["b-prod"], foreign_repository)
    _cluster("a-alone", environments["a-dev"], empty)
    read_commit(repository=repository, mirror=Mirror.open(_mirrors() / f"{FLEET}.git", allow_file=True), commit=head)
    repository.refresh_from_db()
    world = World(
        environments=environments,
        repository=repository,
        foreign_repository=foreign_repository,
        empty=empty,
        clusters=clusters,
        objects={name: _object(cluster) for name, cluster in clusters.items()},
        promotions={},
        operation=Operation.objects.create(kind="repository.scaffold", subject="fleet"),
    )
    for number, target in enumerate(("a-prod", "b-prod"), start=1):
        world.promotions[target] = _promotion(world, target, number)
        _review(repository, number)
    _review(repository, 3)
    return world


def _mirrors() -> Path:
    from django.conf import settings

    return Path(settings.FLOTILLA_MIRRORS_DIR)


def _cluster(name: str, environment: Environment, repository: Repository) -> Cluster:
    cluster = Cluster.objects.create(
        name=name, environment=environment, repository=repository, sync_path=f"clusters/{name}", server=SERVER
    )
    now = timezone.now()
    ClusterStatus.objects.create(
        cluster=cluster, connection="Connected", observed_at=now, attempted_at=now, counts={"failing": 1, "total": 1}
    )
    return cluster


def _object(cluster: Cluster) -> FluxObject:
    row = FluxObject.objects.create(
        cluster=cluster,
        kind="Kustomization",
        namespace="flux-system",
        name=f"apps-{cluster.name}",
        health="Failing",
        control="Active",
        heartbeat="Live",
        changed_at=timezone.now(),
        digest="0",
        notices=[{"code": "green-though-broken", "text": "It looks well."}],
    )
    ObjectDetail.objects.create(object=row, document={"kind": "Kustomization"}, inventory=["a_b__ConfigMap"])
    return row


def _promotion(world: World, target: str, number: int) -> Promotion:
    release = Release.objects.filter(environment__name="a-dev").first()
    assert release is not None
    promotion = Promotion.objects.create(
        repository=world.repository,
        release=release,
        source=world.environments["a-dev"],
        target=world.environments[target],
        slot="earlier",
        state=Promotion.State.OPEN,
        plan_hash="0",
        branch=f"flotilla/{target}.earlier",
        pull_request_key=f"key-{number}",
        pull_request_number=number,
    )
    promotion.apps.set(App.objects.filter(name="web"))
    return promotion


def _review(repository: Repository, number: int) -> None:
    LocalPullRequest.objects.create(
        repository=repository,
        number=number,
        title=f"Change {number}",
        base_branch="main",
        head_branch=f"flotilla/{number}",
        head="0" * 40,
    )


@pytest.fixture(scope="session")
def fleet_on_disk(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    mirrors = tmp_path_factory.mktemp("mirrors")
    return mirrors, commit_fleet(mirrors)


@pytest.fixture
def sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fleet_on_disk: tuple[Path, str]
) -> Iterator[list[tuple[Any, ...]]]:
    """Keys, mirrors, and no broker: the nudges that would have been sent."""
    key_file = tmp_path / "credentials.key"
    public_file = tmp_path / "credentials.key.pub"
    public_file.write_text(str(generate_key_file(key_file)), encoding="ascii")
    monkeypatch.setattr("django.conf.settings.FLOTILLA_KEY_FILE", key_file)
    monkeypatch.setattr("django.conf.settings.FLOTILLA_PUBLIC_KEY_FILE", public_file)
    monkeypatch.setattr("django.conf.settings.FLOTILLA_MIRRORS_DIR", fleet_on_disk[0])
    monkeypatch.setattr("django.conf.settings.FLOTILLA_DEMO", True)
    caches = (credentials._public_key, credentials._key_ring, outside.policy)
    for cached in caches:
        cached.cache_clear()
    found: list[tuple[Any, ...]] = []

    class NoBroker:
        def send_task(self, *arguments: Any, **_options: Any) -> None:
            found.append(arguments)

    monkeypatch.setattr("clusters_app.services.nudges.current_app", NoBroker())
    yield found
    for cached in caches:
        cached.cache_clear()


@pytest.fixture(scope="module")
def pristine(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, fleet_on_disk: tuple[Path, str]
) -> Iterator[World]:
    """Built once a module, in a transaction around those of its tests: none sees what another one changed."""
    mirrors, head = fleet_on_disk
    with django_db_blocker.unblock(), override_settings(FLOTILLA_MIRRORS_DIR=mirrors), transaction.atomic():
        built = build(head)
        yield built
        transaction.set_rollback(True)


@pytest.fixture
def world(pristine: World, db: None, sent: list[tuple[Any, ...]]) -> World:
    """As if it were built and observed right now."""
    now = timezone.now()
    ClusterStatus.objects.update(observed_at=now, attempted_at=now)
    return deepcopy(pristine)


def problem_of(response: Any) -> dict[str, Any]:
    """The body of a refusal, which is a problem."""
    assert response["Content-Type"] == "application/problem+json", (response.status_code, response.content[:200])
    body: dict[str, Any] = response.json()
    assert body["status"] == response.status_code
    assert body["code"]
    assert body["detail"]
    return body


def hour(count: int) -> datetime:
    return timezone.now() + timedelta(hours=count)


def tokens_of(user: User) -> list[APIToken]:
    return list(APIToken.objects.filter(user=user))
