"""Flotilla's own review keeps the contract over a real Git server that knows nothing of pull requests."""

from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import ip_network
from pathlib import Path

import pygit2
import pytest

from clusters_app.egress import Policy
from clusters_app.forges.local import LocalForge
from clusters_app.forges.memory import MemoryStore
from clusters_app.git.commits import Author, Message
from clusters_app.git.credentials import Remote, TokenCredential
from clusters_app.git.mirror import Mirror
from clusters_app.git.review import RemoteRepository
from clusters_app.git.trailers import trailer
from clusters_app.secret import Secret
from tests.git.certificates import make_authority
from tests.git.server import GitServer, running

from .contract import ForgeContract, Stage

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
ADA = Author("Ada", "ada@example.org")
POLICY = Policy(allow_networks=(ip_network("127.0.0.0/8"), ip_network("::1/128")))


class Person:
    """Somebody whose commits arrive in the served repository by some way that is not Flotilla's."""

    def __init__(self, served: Path) -> None:
        self._mirror = Mirror.open(served)
        self._repository = pygit2.Repository(str(served))

    def commit(self, branch: str, files: dict[str, str], *, base: str = "main") -> str:
        heads = self.heads()
        changes = {path: text.encode() for path, text in files.items()}
        sha = self._mirror.commit(heads.get(branch) or heads.get(base), changes, Message("Change", ADA, NOON))
        self._repository.references.create(f"refs/heads/{branch}", sha, force=True)
        return sha

    def heads(self) -> dict[str, str]:
        return self._mirror.branches()

    def contains(self, sha: str, head: str) -> bool:
        return self._mirror.is_ancestor(head, sha)

    def message(self, sha: str) -> str:
        return self._mirror.describe(sha).message


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    return make_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def server(tmp_path: Path, authority: tuple[Path, str]) -> Iterator[GitServer]:
    with running(tmp_path / "served", *authority) as server:
        server.create()
        yield server


@pytest.fixture
def remote(server: GitServer) -> Remote:
    return Remote(server.url(), TokenCredential(Secret("writer-token")), server.ca_pem)


@pytest.fixture
def person(server: GitServer) -> Person:
    person = Person(server.root / "acme/fleet.git")
    person.commit("main", {"README.md": "# Fleet\n"})
    return person


def local_forge(mirror: Path, remote: Remote) -> LocalForge:
    git = RemoteRepository(
        Mirror.open(mirror, allow_file=True), remote, POLICY, Author("Flotilla", "flotilla@example.org"), NOON
    )
    return LocalForge(MemoryStore(), git, full_name=remote.url, clone_url=remote.url, actor="flotilla")


@pytest.fixture
def over_https(person: Person, remote: Remote, tmp_path: Path) -> Stage:
    return Stage(local_forge(tmp_path / "mirror.git", remote), person)


class TestLocal(ForgeContract):
    @pytest.fixture
    def stage(self, tmp_path: Path) -> Stage:
        """A directory as the remote, as in the demo: the same git, ten times faster than over HTTPS."""
        served = tmp_path / "served.git"
        person = Person(served)
        person.commit("main", {"README.md": "# Fleet\n"})
        return Stage(local_forge(tmp_path / "mirror.git", Remote(f"file://{served}")), person)


def test_the_merge_commit_carries_title_message_and_trailers(over_https: Stage, person: Person) -> None:
    head = person.commit("flotilla/prod.app", {"a.yaml": "1\n"})
    number = over_https.open()
    merged = over_https.forge.merge(number, head=head, title="Promote", message="Why.\n\nFlotilla-Promotion: 7")
    assert person.message(merged).startswith("Promote\n\nWhy.")
    assert trailer(person.message(merged), "Flotilla-Promotion") == "7"


def test_a_reader_s_token_lacks_the_right_to_push(
    over_https: Stage, remote: Remote, person: Person, tmp_path: Path
) -> None:
    reader = Remote(remote.url, TokenCredential(Secret("reader-token")), remote.ca_pem)
    forge = local_forge(tmp_path / "reader.git", reader)
    assert [missing.code for missing in forge.rights().missing] == ["right.push"]
    before = person.heads()
    assert over_https.forge.rights().missing == ()
    assert person.heads() == before


def test_an_empty_remote_is_described_as_empty(server: GitServer, tmp_path: Path) -> None:
    server.create("acme/new.git")
    new = Remote(server.url("acme/new.git"), TokenCredential(Secret("writer-token")), server.ca_pem)
    forge = local_forge(tmp_path / "new-mirror.git", new)
    assert forge.repository().is_empty
    assert forge.rights().missing == ()
