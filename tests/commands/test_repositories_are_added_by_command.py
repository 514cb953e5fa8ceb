"""`flotilla repository`: the check in this process, the list, and asking for another look."""

from pathlib import Path

import pygit2
import pytest

from clusters_app.api.repositories import RepositoryShape
from clusters_app.models import AuditRecord, Repository

from .conftest import Flotilla

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def url(tmp_path: Path) -> str:
    pygit2.init_repository(str(tmp_path / "remote.git"), bare=True, initial_head="main")
    return f"file://{tmp_path / 'remote.git'}"


def test_a_repository_is_checked_and_added(flotilla: Flotilla, url: str) -> None:
    told = flotilla("repository", "add", "fleet", url, "-o", "json")
    assert told.code == 0, told.err
    assert [line.split()[0] for line in told.err.splitlines()] == ["ok", "ok", "fleet"]
    assert told.document == RepositoryShape(Repository.objects.get()).data
    assert flotilla("repository", "list", "-o", "json").document == [told.document]
    assert flotilla("repository", "list").out.splitlines()[1].split()[:3] == ["fleet", "local", "main"]


def test_a_repository_that_does_not_answer_is_refused(flotilla: Flotilla, url: str) -> None:
    told = flotilla("repository", "add", "fleet", f"{url}.nowhere")
    assert told.code == 1
    assert told.err.splitlines()[1].startswith("failed")
    assert not Repository.objects.exists()


def test_what_is_no_address_is_refused_at_once(flotilla: Flotilla) -> None:
    assert flotilla("repository", "add", "fleet", "nonsense").code == 1
    assert flotilla("repository", "add", "fleet").code == 2


def test_another_look_is_asked_for(
    flotilla: Flotilla, repository: Repository, installation: list[tuple[str, tuple[object, ...]]]
) -> None:
    assert flotilla("repository", "refresh", "fleet").code == 0
    assert ("sync_repository", (repository.pk,)) in installation
    assert AuditRecord.objects.get().verb == "repository.refresh"
    assert flotilla("repository", "refresh", "other").err == "There is no other.\n"


def test_an_empty_installation_says_the_next_step(flotilla: Flotilla) -> None:
    assert "repository add" in flotilla("repository", "list").err
