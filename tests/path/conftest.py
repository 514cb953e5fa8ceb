"""One world for the whole story, told once on SQLite and once on PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.testbed.gitea import Gitea
from tests.testbed.kubernetes import Cluster
from tests.testbed.postgres import Postgres
from tests.testbed.registry import Registry

from .installation import Installation
from .world import CLUSTERS, CONTROLLERS, World, push_chart


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def world(
    request: pytest.FixtureRequest, gitea: Gitea, registry: Registry, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """Fresh clusters and a fresh product for each telling; the forge and the registry serve all of them.

    "browser", which the story in a browser asks for, is told on SQLite.
    """
    database: str = request.param
    folder = tmp_path_factory.mktemp(f"path-{database}")
    database_url = ""
    if database == "postgresql":
        postgres: Postgres = request.getfixturevalue("postgres")
        database_url = postgres.create_database()
    for version in ("0.1.0", "0.2.0"):
        push_chart(registry, version)
    clusters = {name: Cluster(name, pods=True, flux=CONTROLLERS, folder=folder / name) for name in CLUSTERS}
    person = gitea.create_user(f"maria-{database}")
    try:
        for cluster in clusters.values():
            cluster.start()
        with Installation(folder / "product", database_url=database_url) as product:
            yield World(product, gitea, registry, clusters, person)
            if request.session.testsfailed:
                keep_product_logs(folder / "product", request.config.rootpath / "test-output" / f"path-{database}")
    finally:
        for cluster in clusters.values():
            cluster.stop()


def keep_product_logs(folder: Path, target: Path) -> None:
    from tests.testbed.fixtures import keep_logs

    keep_logs(folder, target)


@pytest.fixture(autouse=True)
def stop_after_a_failed_step(request: pytest.FixtureRequest) -> None:
    """The steps build on each other: after one has failed, the next ones fail at once instead of waiting in vain."""
    module = request.node.parent
    if failed := getattr(module, "_failed_step", {}).get(_database(request)):
        pytest.fail(f"an earlier step failed: {failed}", pytrace=False)


def _database(request: pytest.FixtureRequest) -> str:
    callspec = getattr(request.node, "callspec", None)
    return str(callspec.params.get("world", "")) if callspec else ""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    if call.excinfo is not None and call.when in {"setup", "call"}:
        database = str(item.callspec.params.get("world", "")) if hasattr(item, "callspec") else ""
        failed = getattr(item.parent, "_failed_step", {})
        failed.setdefault(database, item.name)
        item.parent._failed_step = failed  # type: ignore[union-attr]
    return report
