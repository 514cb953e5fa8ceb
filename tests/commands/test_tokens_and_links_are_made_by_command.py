"""`flotilla token create` and `flotilla signin-link`: values that are shown once."""

import getpass

import pytest
from django.contrib.auth.models import User

from clusters_app.models import APIToken, AuditRecord
from clusters_app.services.accounts import redeem_sign_in_link, token_of

from .conftest import Flotilla

pytestmark = pytest.mark.django_db

CREATE = ("token", "create", "--user", "olga", "--name", "pipeline")


@pytest.fixture
def olga(db: None) -> User:
    return User.objects.create(username="olga")


def test_the_value_alone_is_on_stdout_and_works(flotilla: Flotilla, olga: User) -> None:
    told = flotilla(*CREATE, "--scope", "view", "--scope", "promote")
    assert told.code == 0
    found = token_of(value=told.out.strip(), address="127.0.0.1")
    assert (found.user, found.scopes) == (olga, ["view", "promote"])
    assert told.out.strip() not in told.err
    assert AuditRecord.objects.get().actor == f"command:{getpass.getuser()}"


def test_a_script_reads_it_as_json(flotilla: Flotilla, olga: User) -> None:
    document = flotilla(*CREATE, "--scope", "view", "-o", "json").document
    assert sorted(document) == ["created_at", "expires_at", "id", "last_used_at", "name", "prefix", "scopes", "token"]
    assert document["token"].startswith(document["prefix"])


def test_unknown_people_and_scopes_are_refused(flotilla: Flotilla, olga: User) -> None:
    assert "There is no pavel." in flotilla("token", "create", "--user", "pavel", "--name", "x", "--scope", "view").err
    told = flotilla(*CREATE, "--scope", "everything")
    assert told.code == 1
    assert "administer" in told.err
    assert not APIToken.objects.exists()


@pytest.mark.parametrize("words", [CREATE, (*CREATE, "--scope", "view", "--days", "0"), ("token",)])
def test_wrong_usage_is_told_apart(flotilla: Flotilla, words: tuple[str, ...]) -> None:
    assert flotilla(*words).code == 2


def test_a_link_lets_its_person_in_once(flotilla: Flotilla) -> None:
    told = flotilla("signin-link")
    assert told.code == 0
    value = told.out.strip().rstrip("/").rpartition("/")[2]
    assert redeem_sign_in_link(value=value, address="127.0.0.1").username == "admin"
    assert AuditRecord.objects.get(verb="sign-in-link.create").actor == f"command:{getpass.getuser()}"
    assert flotilla("signin-link").code == 1
    assert flotilla("signin-link", "olga").code == 0
