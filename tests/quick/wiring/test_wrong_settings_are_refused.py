"""System checks: each wrong combination has an id and a remedy, and a sound production has none."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from clusters_app.commands.create_secrets import create_key_pair
from fleet import checks

SOUND = {
    "FLOTILLA_PUBLIC_URL": "https://flotilla.example.com",
    "FLOTILLA_PRODUCTION": True,
    "FLOTILLA_HTTPS": True,
    "FLOTILLA_TRUSTED_PROXY_HEADER": "X-Forwarded-For",
    "DEBUG": False,
    "SECRET_KEY": "k3y-" * 5 + "0123456789abcdefghijklmnopqrstuvwxyz",
    "SECRET_KEY_FALLBACKS": [],
    "ALLOWED_HOSTS": ["flotilla.example.com", "127.0.0.1"],
    "REDIS_URL": "redis://:pa55word@redis:6379/0",
    "DATABASES": {"default": {"ENGINE": "django.db.backends.postgresql"}},
    "FLOTILLA_KEY_FILE": Path("/nonexistent/credentials.key"),
}


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SimpleNamespace:
    """A sound production, for the checks alone: the tests' own Django keeps its settings."""
    (tmp_path / "staticfiles.json").write_text("{}")
    sound = SimpleNamespace(**SOUND, STATIC_ROOT=str(tmp_path))
    monkeypatch.setattr(checks, "settings", sound)
    return sound


def found() -> list[str]:
    findings = checks.check_settings()
    assert all(finding.hint for finding in findings), "a finding without its remedy"
    return [str(finding.id).removeprefix("fleet.") for finding in findings]


def test_a_sound_production_has_no_finding() -> None:
    assert found() == []


@pytest.mark.parametrize(
    ("name", "value", "finding"),
    [
        ("FLOTILLA_PUBLIC_URL", "flotilla.example.com", "E001"),
        ("FLOTILLA_PUBLIC_URL", "ftp://flotilla.example.com", "E001"),
        ("FLOTILLA_PUBLIC_URL", "https://flotilla.example.com/fleet", "E002"),
        ("FLOTILLA_PUBLIC_URL", "http://flotilla.example.com", "E003"),
        ("DEBUG", True, "E010"),
        ("SECRET_KEY", "", "E011"),
        ("SECRET_KEY", "short", "E011"),
        ("SECRET_KEY", "a" * 100, "E011"),
        ("SECRET_KEY_FALLBACKS", ["old"], "E011"),
        ("ALLOWED_HOSTS", ["*"], "E012"),
        ("ALLOWED_HOSTS", [".example.com"], "E012"),
        ("ALLOWED_HOSTS", ["other.example.com"], "E013"),
        ("REDIS_URL", "redis://redis:6379/0", "E014"),
        ("DATABASES", {"default": {"ENGINE": "django.db.backends.sqlite3"}}, "E015"),
        ("FLOTILLA_TRUSTED_PROXY_HEADER", "", "W016"),
        ("STATIC_ROOT", None, "W017"),
    ],
)
def test_a_production_is_told_what_is_wrong(settings: SimpleNamespace, name: str, value: object, finding: str) -> None:
    setattr(settings, name, value)
    assert finding in found()


def test_one_machine_may_use_sqlite_and_a_broker_without_a_password(settings: SimpleNamespace) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:6379/0"
    settings.DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3"}}
    assert found() == []


def test_a_checkout_on_loopback_may_do_what_a_production_may_not(settings: SimpleNamespace) -> None:
    settings.FLOTILLA_PUBLIC_URL, settings.FLOTILLA_PRODUCTION = "http://127.0.0.1:8000", False
    settings.DEBUG, settings.SECRET_KEY = True, "short"
    assert found() == []


def test_a_key_file_that_others_can_read_is_refused(settings: SimpleNamespace, tmp_path: Path) -> None:
    settings.FLOTILLA_KEY_FILE = tmp_path / "credentials.key"
    settings.FLOTILLA_KEY_FILE.write_text("key")
    settings.FLOTILLA_KEY_FILE.chmod(0o640)
    assert found() == ["E021"]


def test_a_key_file_that_is_no_file_is_refused(settings: SimpleNamespace, tmp_path: Path) -> None:
    settings.FLOTILLA_KEY_FILE = tmp_path
    assert found() == ["E020"]


def manage(arguments: list[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-W", "error", "-m", "clusters_app.cli", *arguments]
    clean = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    return subprocess.run(words, env=clean | dict(environment), capture_output=True, text=True, check=False)


def test_check_deploy_is_clean_in_a_production(tmp_path: Path) -> None:
    create_key_pair(tmp_path / "credentials.key", tmp_path / "credentials.key.pub")
    (tmp_path / "secret-key").write_text("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    environment = {
        "FLOTILLA_PUBLIC_URL": "https://flotilla.example.com",
        "FLOTILLA_TRUSTED_PROXY_HEADER": "X-Forwarded-For",
        "FLOTILLA_DATA_DIR": str(tmp_path / "data"),
        "FLOTILLA_KEY_FILE": str(tmp_path / "credentials.key"),
        "FLOTILLA_STATIC_ROOT": str(tmp_path / "static"),
        "SECRET_KEY_FILE": str(tmp_path / "secret-key"),
        "DATABASE_URL": "postgres://flotilla:pw@postgres:5432/flotilla",
        "REDIS_URL": "redis://:pa55word@redis:6379/0",
    }
    collected = manage(["collectstatic", "--noinput"], environment)
    assert collected.returncode == 0, collected.stderr
    checked = manage(["check", "--deploy", "--fail-level", "WARNING"], environment)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_a_setting_that_cannot_be_read_is_wrong_usage_and_named() -> None:
    refused = manage(["check"], {"DEBUG": "perhaps"})
    assert refused.returncode == 2
    assert "DEBUG is 'perhaps': write 1 or 0" in refused.stderr
