"""`flotilla create-secrets`: the files that docker-compose.yml asks for."""

import os
from pathlib import Path

import pytest
import yaml

from clusters_app import cli
from clusters_app.sealed import PublicKey, read_key_file

ROOT = Path(__file__).resolve().parents[3]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def create(directory: Path, *more: str) -> int:
    return cli.main(["create-secrets", str(directory), *more])


def test_every_secret_of_the_composition_is_made(tmp_path: Path) -> None:
    assert create(tmp_path / "secrets") == 0
    asked_for = {Path(secret["file"]).name for secret in COMPOSE["secrets"].values()}
    assert {file.name for file in (tmp_path / "secrets").iterdir()} == asked_for


def test_only_their_owner_can_read_them(tmp_path: Path) -> None:
    create(tmp_path / "secrets")
    open_to_others = [file.name for file in (tmp_path / "secrets").iterdir() if file.stat().st_mode & 0o077]
    assert open_to_others == ["credentials.key.pub"]
    assert (tmp_path / "secrets").stat().st_mode & 0o077 == 0


def test_the_key_pair_belongs_together_and_the_urls_hold_the_passwords(tmp_path: Path) -> None:
    create(tmp_path)
    public = PublicKey.parse((tmp_path / "credentials.key.pub").read_text().strip())
    assert read_key_file(tmp_path / "credentials.key").active == public
    assert (tmp_path / "postgres-password").read_text() in (tmp_path / "database-url").read_text()
    assert (tmp_path / "redis-password").read_text() in (tmp_path / "redis-url").read_text()


def test_what_exists_is_never_replaced(tmp_path: Path) -> None:
    create(tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    create(tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_they_can_be_given_to_the_user_of_the_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, tuple[int, int]] = {}
    monkeypatch.setattr(os, "chown", lambda path, user, group: given.update({path.name: (user, group)}))
    create(tmp_path / "secrets", "--owner", "10001")
    assert set(given) == {"secrets", *(file.name for file in (tmp_path / "secrets").iterdir())}
    assert set(given.values()) == {(10001, 10001)}


@pytest.mark.parametrize("service", ["web", "migrate", "beat"])
def test_only_workers_hold_the_key_that_opens_credentials(service: str) -> None:
    assert "credentials.key" not in COMPOSE["services"][service]["secrets"]
    assert "FLOTILLA_KEY_FILE" not in COMPOSE["services"][service]["environment"]
