"""Flotilla's own review keeps the contract over a real Git server that knows nothing of pull requests."""

from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import ip_network
from pathlib import Path

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


class PersonsClone:
    """Somebody who pushes with a mirror of her own."""

    def __init__(self, path: Path, remote: Remote) -> None:
        self._mirror = Mirror.open(path)
        self._remote = remote

    def commit(self, branch: str, files: dict[str, str], *, base: str = "main") -> str:
        heads = self.heads()
        parent = heads.get(branch) or heads.get(base)
        changes = {path: text.encode() for path, text in files.items()}
        sha = self._mirror.commit(parent, changes, Message("Change", ADA, NOON))
        self._mirror.push(self._remote, POLICY, branch, sha, heads.get(branch))
        return sha

    def heads(self) -> dict[str, str]:
        return dict(self._mirror.fetch(self._remote, POLICY).branches)

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
def clone(remote: Remote, tmp_path: Path) -> PersonsClone:
    clone = PersonsClone(tmp_path / "clone.git", remote)
    clone.commit("main", {"README.md": "# Fleet\n"})
    return clone


def local_forge(mirror: Path, remote: Remote) -> LocalForge:
    git = RemoteRepository(Mirror.open(mirror), remote, POLICY, Author("Flotilla", "flotilla@example.org"), NOON)
    return LocalForge(MemoryStore(), git, full_name=remote.url, clone_url=remote.url, actor="flotilla")


@pytest.fixture
def stage(clone: PersonsClone, remote: Remote, tmp_path: Path) -> Stage:
    return Stage(local_forge(tmp_path / "mirror.git", remote), clone)


class TestLocal(ForgeContract):
    pass


def test_the_merge_commit_carries_title_message_and_trailers(stage: Stage, clone: PersonsClone) -> None:
    head = clone.commit("flotilla/prod.app", {"a.yaml": "1\n"})
    number = stage.open()
    merged = stage.forge.merge(number, head=head, title="Promote", message="Why.\n\nFlotilla-Promotion: 7")
    clone.heads()
    assert clone.message(merged).startswith("Promote\n\nWhy.")
    assert trailer(clone.message(merged), "Flotilla-Promotion") == "7"


def test_a_reader_s_token_lacks_the_right_to_push(
    stage: Stage, remote: Remote, clone: PersonsClone, tmp_path: Path
) -> None:
    reader = Remote(remote.url, TokenCredential(Secret("reader-token")), remote.ca_pem)
    forge = local_forge(tmp_path / "reader.git", reader)
    assert [missing.code for missing in forge.rights().missing] == ["right.push"]
    before = clone.heads()
    assert stage.forge.rights().missing == ()
    assert clone.heads() == before


def test_an_empty_remote_is_described_as_empty(server: GitServer, tmp_path: Path) -> None:
    server.create("acme/new.git")
    new = Remote(server.url("acme/new.git"), TokenCredential(Secret("writer-token")), server.ca_pem)
    forge = local_forge(tmp_path / "new-mirror.git", new)
    assert forge.repository().is_empty
    assert forge.rights().missing == ()
