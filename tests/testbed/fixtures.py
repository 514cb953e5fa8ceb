"""The testbed as pytest fixtures: servers of a session, started by the first test that asks.

A test folder gets them by `pytest_plugins = ["tests.testbed.fixtures"]` in the top `conftest.py`. When a test
fails, the logs of all servers are copied to `test-output/servers/`.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.testbed.gitea import Gitea
from tests.testbed.kubernetes import Cluster
from tests.testbed.postgres import Postgres
from tests.testbed.registry import Registry
from tests.testbed.valkey import valkey as run_valkey

if TYPE_CHECKING:
    from playwright.sync_api import Browser

OUTPUT = Path("test-output")

StartCluster = Callable[..., Cluster]


@pytest.fixture(scope="session")
def servers_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the servers of this session keep their state and logs."""
    folder = tmp_path_factory.mktemp("servers")
    yield folder
    if request.session.testsfailed:
        keep_logs(folder, request.config.rootpath / OUTPUT / "servers")


def keep_logs(folder: Path, target: Path) -> None:
    """Copy every log below a folder to the same place below another, which is emptied first."""
    shutil.rmtree(target, ignore_errors=True)
    for log in folder.rglob("*.log"):
        copy = target / log.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(log, copy)


@pytest.fixture(scope="session")
def gitea(servers_folder: Path) -> Iterator[Gitea]:
    with Gitea(servers_folder / "gitea") as server:
        yield server


@pytest.fixture(scope="session")
def registry(servers_folder: Path) -> Iterator[Registry]:
    with Registry(servers_folder / "registry") as server:
        yield server


@pytest.fixture(scope="session")
def valkey(servers_folder: Path) -> Iterator[str]:
    """The URL of a running Valkey."""
    with run_valkey(servers_folder / "valkey") as url:
        yield url


@pytest.fixture(scope="session")
def postgres(servers_folder: Path) -> Iterator[Postgres]:
    with Postgres(servers_folder / "postgres") as server:
        yield server


@pytest.fixture
def postgres_url(postgres: Postgres) -> str:
    """The URL of a new empty database."""
    return postgres.create_database()


@pytest.fixture(scope="session")
def clusters(servers_folder: Path) -> Iterator[StartCluster]:
    """`clusters(name, pods=…, flux=…, crds=…)`: the running cluster of that name, started by the first who asks for it.

    Clusters live as long as the session. Whoever breaks one names it as nobody else does, or repairs it.
    """
    running: dict[str, tuple[Cluster, object]] = {}
    with ExitStack() as stack:

        def start(name: str, *, pods: bool = False, flux: Sequence[str] = (), crds: Sequence[str] = ()) -> Cluster:
            wanted = (pods, tuple(flux), tuple(crds))
            if name not in running:
                cluster = Cluster(name, pods=pods, flux=flux, crds=crds, folder=servers_folder / name)
                running[name] = stack.enter_context(cluster), wanted
            cluster, given = running[name]
            if given != wanted:
                raise ValueError(f"cluster {name} runs with other parts {given}: name yours differently")
            return cluster

        yield start


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """A running Chromium for the tests of one module; see `open_browser` for what it does to the thread."""
    from tests.testbed.chromium import open_browser

    with open_browser() as running:
        yield running
