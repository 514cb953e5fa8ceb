"""A Git server for each test, and a mirror that knows how to reach it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import ip_network
from pathlib import Path

import pytest

from clusters_app.egress import Policy
from clusters_app.git.commits import Author, Message
from clusters_app.git.credentials import Remote, TokenCredential
from clusters_app.git.mirror import Mirror
from clusters_app.git.runner import Limits
from clusters_app.secret import Secret

from .certificates import make_authority
from .server import GitServer, running

ADA = Author("Ada", "ada@example.org")
NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def message(text: str = "Change a file") -> Message:
    return Message(text, ADA, NOON)


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    return make_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def server(tmp_path: Path, authority: tuple[Path, str]) -> Iterator[GitServer]:
    certificate, ca_pem = authority
    with running(tmp_path / "served", certificate, ca_pem) as server:
        server.create()
        yield server


@pytest.fixture
def policy() -> Policy:
    return Policy(allow_networks=(ip_network("127.0.0.0/8"), ip_network("::1/128")))


@pytest.fixture
def remote(server: GitServer) -> Remote:
    return Remote(server.url(), TokenCredential(Secret("writer-token")), server.ca_pem)


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    return Mirror.open(tmp_path / "mirror.git", limits=Limits(seconds=20, slow_seconds=5))


@pytest.fixture
def first(mirror: Mirror, server: GitServer) -> str:
    """The commit of `main` on the server; the mirror holds it too, because the same input is the same commit."""
    files = {"README.md": b"# Fleet\n", "apps/a/version.yaml": b"tag: 1.0.0\n"}
    sha = mirror.commit(None, files, message("Begin"))
    assert server.commit(files, message("Begin")) == sha
    return sha
