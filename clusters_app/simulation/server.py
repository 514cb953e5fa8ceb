"""Serves simulated clusters over TLS: many API servers on one port, told apart by `/k8s/clusters/<name>`."""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from threading import Thread
from typing import Self

from aiohttp import web

from clusters_app.simulation.api import ClusterApi
from clusters_app.simulation.authority import HOST

PREFIX = "/k8s/clusters"


class Server:
    """A context manager that serves from a thread of its own. `port` 0 takes a free one; `clock` is the clusters'."""

    def __init__(
        self,
        clusters: Mapping[str, ClusterApi],
        tls: ssl.SSLContext,
        port: int = 0,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.port = port
        self._clock = clock
        self._clusters = clusters
        self._tls = tls
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="simulation", daemon=True)

    def url(self, cluster: str) -> str:
        return f"https://{HOST}:{self.port}{PREFIX}/{cluster}"

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        except BaseException:
            self._end_thread()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._end_thread()

    def call(self, function: Callable[[], None]) -> None:
        """Run something between two requests, so that no answer sees half of it. Waits for its end."""

        async def between() -> None:
            function()

        asyncio.run_coroutine_threadsafe(between(), self._loop).result(60)

    async def _start(self) -> None:
        app = web.Application(client_max_size=2**20)
        app.router.add_route("*", PREFIX + "/{cluster}{path:/.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, keepalive_timeout=120)
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, self.port, ssl_context=self._tls).start()
        self.port = self._runner.addresses[0][1]

    async def _stop(self) -> None:
        for protocol in self._runner.server.connections if self._runner.server else ():
            if protocol.transport is not None:
                protocol.transport.abort()
        await self._runner.cleanup()
        # Handshakes that a client gave up are closed by the loop itself, a few turns later.
        await asyncio.sleep(0.02)

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _answer(self, request: web.Request) -> web.Response:
        cluster = self._clusters.get(request.match_info["cluster"])
        if cluster is None:
            return web.Response(text="404 page not found\n", status=404)
        body = await request.read()
        shown = request.headers.get("Authorization", "")
        answer = cluster.answer(request.method, request.match_info["path"], shown, body, self._clock())
        if cluster.is_silent() and request.transport is not None:
            request.transport.abort()
        return web.Response(body=answer.body, status=answer.status, content_type="application/json")
