"""People with their browsers, and a fleet of rows to look at."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.utils import timezone
from pytest_django.plugin import DjangoDbBlocker

from clusters_app.models import Environment, Membership
from clusters_app.sealed import generate_key_file
from clusters_app.services import credentials, outside

from . import fleet_rows

type ClientOf = Callable[..., Client]


@pytest.fixture(autouse=True)
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keys, mirrors and local repositories of one test; workers are told nothing, there are none."""
    key_file = tmp_path / "credentials.key"
    public_file = tmp_path / "credentials.key.pub"
    public_file.write_text(str(generate_key_file(key_file)), encoding="ascii")
    monkeypatch.setattr("django.conf.settings.FLOTILLA_KEY_FILE", key_file)
    monkeypatch.setattr("django.conf.settings.FLOTILLA_PUBLIC_KEY_FILE", public_file)
    monkeypatch.setattr("django.conf.settings.FLOTILLA_MIRRORS_DIR", tmp_path / "mirrors")
    monkeypatch.setattr("django.conf.settings.FLOTILLA_DEMO", True)
    monkeypatch.setattr("django.conf.settings.PASSWORD_HASHERS", ["django.contrib.auth.hashers.MD5PasswordHasher"])
    monkeypatch.setattr("clusters_app.services.nudges.current_app.send_task", lambda *_args, **_options: None)
    cached = (credentials._public_key, credentials._key_ring, outside.policy)
    for each in cached:
        each.cache_clear()
    yield
    for each in cached:
        each.cache_clear()


@pytest.fixture
def client_of(db: None) -> ClientOf:
    """`client_of(role, environment=None)`: somebody who is signed in with that role."""

    def signed_in(role: str, environment: str = "", *, name: str = "") -> Client:
        user = User.objects.create(username=name or f"{role}-{environment or 'everywhere'}")
        where = Environment.objects.get(name=environment) if environment else None
        Membership.objects.create(user=user, role=role, environment=where)
        client = Client()
        client.force_login(user)
        return client

    return signed_in


@dataclass(frozen=True)
class RowsOfAFleet:
    """The administrator of the fleet, and the moment at which all of its ages are told."""

    person: User
    now: datetime


@pytest.fixture(scope="module")
def fleet_of_rows(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[RowsOfAFleet]:
    """Filled once a module, in a transaction around those of its tests: none sees what another one changed."""
    with django_db_blocker.unblock(), transaction.atomic():
        now = timezone.now()
        yield RowsOfAFleet(fleet_rows.fill(now), now)
        transaction.set_rollback(True)


@pytest.fixture
def maria(fleet_of_rows: RowsOfAFleet, db: None, monkeypatch: pytest.MonkeyPatch) -> Client:
    """The administrator of a fleet with a cluster in every standing. The clock stands still."""
    monkeypatch.setattr(timezone, "now", lambda: fleet_of_rows.now)
    client = Client()
    client.force_login(fleet_of_rows.person)
    return client
