"""The four helpers and DATABASE_URL."""

from pathlib import Path

import pytest

from fleet.database import database_from_url
from fleet.env import SettingError, env_bool, env_int, env_list, env_secret

FILE = Path("/data/flotilla.sqlite3")


@pytest.mark.parametrize(("text", "value"), [("1", True), ("YES", True), ("off", False), ("0", False), ("", True)])
def test_a_switch_is_read_in_the_usual_spellings(monkeypatch: pytest.MonkeyPatch, text: str, value: bool) -> None:
    monkeypatch.setenv("SWITCH", text)
    assert env_bool("SWITCH", default=True) is value


def test_a_misspelt_switch_is_refused_rather_than_taken_for_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWITCH", "ture")
    with pytest.raises(SettingError, match=r"SWITCH is 'ture'"):
        env_bool("SWITCH", default=True)


def test_a_number_with_letters_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBER", "12s")
    with pytest.raises(SettingError, match="NUMBER"):
        env_int("NUMBER", 1)


def test_absent_and_empty_numbers_are_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBER", raising=False)
    assert env_int("NUMBER", 7) == 7
    monkeypatch.setenv("NUMBER", " ")
    assert env_int("NUMBER", 7) == 7


def test_a_list_loses_space_and_empty_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORDS", " a, ,b,")
    assert env_list("WORDS") == ["a", "b"]


def test_a_secret_comes_from_the_file_that_name_file_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret\n")
    monkeypatch.setenv("KEY_FILE", str(tmp_path / "secret"))
    assert env_secret("KEY") == "s3cret"


def test_a_secret_given_twice_is_refused_without_showing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "s3cret")
    monkeypatch.setenv("KEY_FILE", "/run/secrets/key")
    with pytest.raises(SettingError, match="both set") as refusal:
        env_secret("KEY")
    assert "s3cret" not in str(refusal.value)


def test_a_missing_secret_file_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KEY_FILE", str(tmp_path / "absent"))
    with pytest.raises(SettingError, match="absent"):
        env_secret("KEY")


def test_without_a_url_the_database_is_a_file_that_takes_write_locks_early() -> None:
    database = database_from_url("", FILE)
    assert database["NAME"] == str(FILE)
    assert database["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert database["OPTIONS"]["timeout"] == 20


def test_sqlite_takes_an_absolute_path_after_four_slashes() -> None:
    assert database_from_url("sqlite:////tmp/x.sqlite3", FILE)["NAME"] == "/tmp/x.sqlite3"


def test_a_postgresql_url_may_hold_odd_characters_and_options() -> None:
    database = database_from_url("postgres://us%40er:p%3Aw%2F@db.lab:6432/fleet?sslmode=require", FILE)
    assert (database["USER"], database["PASSWORD"]) == ("us@er", "p:w/")
    assert (database["HOST"], database["PORT"], database["NAME"]) == ("db.lab", "6432", "fleet")
    assert database["OPTIONS"] == {"sslmode": "require"}


def test_postgresql_behind_a_socket_is_named_by_its_directory() -> None:
    database = database_from_url("postgresql://postgres@/fleet?host=/run/postgresql", FILE)
    assert (database["HOST"], database["PORT"], database["OPTIONS"]) == ("/run/postgresql", "", {})


@pytest.mark.parametrize("url", ["mysql://u:s3cret@h/d", "postgres://u:s3cret@h/", "postgres://u:s3cret@h:x/d"])
def test_a_database_url_that_cannot_be_used_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(SettingError, match="DATABASE_URL") as refusal:
        database_from_url(url, FILE)
    assert "s3cret" not in str(refusal.value)
