"""A fake API server with clusters on it, read through the real client."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from ipaddress import ip_network

import pytest

from clusters_app.egress import Policy
from clusters_app.kube.client import Client, Clients, Limits
from clusters_app.kube.connection import Connection
from clusters_app.kube.observe import Observation, observe
from tests.testbed.fake_api import FakeApi, FakeCluster

#: Short enough for a test that waits for a time-out, long enough for a busy machine.
QUICK = Limits(connect_seconds=0.6, answer_seconds=1.5, answer_bytes=4 * 2**20, round_bytes=16 * 2**20)
LOOPBACK = Policy(allow_networks=(ip_network("127.0.0.0/8"),))

type Read = Callable[..., Awaitable[Observation]]


@pytest.fixture
def policy() -> Policy:
    return LOOPBACK


@pytest.fixture
def limits() -> Limits:
    return QUICK


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi() as served:
        yield served


@pytest.fixture
def cluster(api: FakeApi) -> FakeCluster:
    return api.add(FakeCluster("c-1").fill(count=40))


@pytest.fixture
async def clients(policy: Policy, limits: Limits) -> AsyncIterator[Clients]:
    kept = Clients(policy, limits)
    yield kept
    await kept.close()


@pytest.fixture
async def client(clients: Clients, api: FakeApi, cluster: FakeCluster) -> Client:
    return await clients.client("c-1", api.connection(cluster))


@pytest.fixture
def connection(api: FakeApi, cluster: FakeCluster) -> Connection:
    return api.connection(cluster)


@pytest.fixture
def at_port(connection: Connection) -> Callable[[int], Connection]:
    """The same registration when another port answers."""
    return lambda port: replace(connection, server=f"https://127.0.0.1:{port}")


@pytest.fixture
def read(clients: Clients) -> Read:
    """One round over a connection, as a worker would do it."""

    async def read_once(connection: Connection, *, deadline_seconds: float = 5, **options: object) -> Observation:
        kept = await clients.client(connection.identity, connection)
        now = datetime.now(UTC)
        return await observe(kept, now=now, deadline_seconds=deadline_seconds, **options)  # type: ignore[arg-type]

    return read_once
