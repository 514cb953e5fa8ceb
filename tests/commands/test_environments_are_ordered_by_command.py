"""`flotilla environment`: the same services as the settings page and the API."""

import getpass

import pytest

from clusters_app.models import AuditRecord

from .conftest import Flotilla

pytestmark = pytest.mark.django_db


def test_environments_are_added_listed_and_ordered(flotilla: Flotilla) -> None:
    for name in ("prod", "dev", "qa"):
        assert flotilla("environment", "add", name).code == 0
    assert flotilla("environment", "order", "dev", "qa", "prod").err == "dev → qa → prod\n"
    assert flotilla("environment", "list", "-o", "json").document == [
        {"name": "dev", "position": 1, "is_production": False},
        {"name": "qa", "position": 2, "is_production": False},
        {"name": "prod", "position": 3, "is_production": True},
    ]
    assert flotilla("environment", "list").out.splitlines()[1].split() == ["1", "dev", "no"]


def test_the_record_names_the_user_of_the_machine(flotilla: Flotilla) -> None:
    flotilla("environment", "add", "dev", "--production")
    found = AuditRecord.objects.get()
    assert (found.actor, found.verb) == (f"command:{getpass.getuser()}", "environment.create")


def test_an_order_that_forgets_one_is_refused(flotilla: Flotilla) -> None:
    flotilla("environment", "add", "dev")
    flotilla("environment", "add", "prod")
    told = flotilla("environment", "order", "prod")
    assert (told.code, told.out) == (1, "")
    assert "dev, prod" in told.err


def test_a_name_that_cannot_be_one_is_refused(flotilla: Flotilla) -> None:
    assert flotilla("environment", "add", "Not A Name").code == 1


def test_an_empty_installation_says_the_next_step(flotilla: Flotilla) -> None:
    told = flotilla("environment", "list")
    assert (told.code, told.out) == (0, "")
    assert "environment add" in told.err
    assert flotilla("environment", "list", "-o", "json").document == []


@pytest.mark.parametrize("words", [(), ("paint",), ("add",), ("list", "extra"), ("list", "-o", "xml")])
def test_wrong_usage_is_told_apart(flotilla: Flotilla, words: tuple[str, ...]) -> None:
    assert flotilla("environment", *words).code == 2


def test_each_verb_explains_itself_with_an_example(flotilla: Flotilla) -> None:
    told = flotilla("environment", "order", "--help")
    assert told.code == 0
    assert "example:\n  flotilla environment order" in told.out
