"""Serves fake clusters over TLS from a thread of its own."""

import asyncio
import ssl
from collections.abc import Iterable
from threading import Thread
from typing import Self

from aiohttp import web

from clusters_app.kube.connection import Connection
from clusters_app.secret import Secret

from .authority import authority
from .cluster import FakeCluster

_PREFIX = "/k8s/clusters"


class FakeApi:
    """Many clusters on one port, told apart by their path. `tls` is any server context of `authority.py`."""

    def __init__(self, clusters: Iterable[FakeCluster] = (), *, tls: ssl.SSLContext | None = None) -> None:
        self.clusters = {cluster.name: cluster for cluster in clusters}
        self.port = 0
        #: Client addresses seen, one for each connection that was opened.
        self.peers: set[tuple[str, int]] = set()
        self._tls = tls or authority().server_context()
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="fake-api", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def add(self, cluster: FakeCluster) -> FakeCluster:
        self.clusters[cluster.name] = cluster
        return cluster

    def server(self, cluster: FakeCluster) -> str:
        return f"https://127.0.0.1:{self.port}{_PREFIX}/{cluster.name}"

    def connection(self, cluster: FakeCluster, token: str = "") -> Connection:
        """How a person who registered this cluster rightly would have registered it."""
        return Connection(self.server(cluster), ca_pem=authority().pem, token=Secret(token or cluster.token))

    async def _start(self) -> None:
        app = web.Application(client_max_size=2**20)
        app.router.add_route("*", _PREFIX + "/{cluster}{path:/.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=self._tls)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def _stop(self) -> None:
        """Hang up on everybody: a test that ends in the middle of an answer must not leave its transport behind."""
        for protocol in self._runner.server.connections if self._runner.server else ():
            if protocol.transport is not None:
                protocol.transport.abort()
        await self._runner.cleanup()
        # Handshakes that the client gave up are closed by the loop itself, a few turns later.
        await asyncio.sleep(0.02)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if request.transport is not None:
            self.peers.add(request.transport.get_extra_info("peername"))
        cluster = self.clusters.get(request.match_info["cluster"])
        if cluster is None:
            return web.Response(text="404 page not found\n", status=404)
        return await cluster.answer(request, request.match_info["path"])
