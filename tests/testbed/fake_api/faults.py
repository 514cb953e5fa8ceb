"""Faults of an API server, or of what stands between it and us, on the level of HTTP; `network.py` has those below."""

import asyncio
import gzip

from aiohttp import web

from .cluster import FakeCluster, FaultAnswer

_PAGE = "<!DOCTYPE html><html><body><h1>Sign in to the corporate proxy</h1></body></html>"


def refusal(code: int, reason: str, *, retry_after: str = "", status: int = 0) -> FaultAnswer:
    """A `Status` document; `status` lets HTTP say something else than the document."""

    async def answer(_: web.Request, cluster: FakeCluster) -> web.Response:
        return cluster.refusal(code, reason, {"Retry-After": retry_after} if retry_after else None, status)

    return answer


def unauthorized() -> FaultAnswer:
    return refusal(401, "Unauthorized")


def forbidden() -> FaultAnswer:
    return refusal(403, "Forbidden")


def rate_limited(retry_after: str = "7") -> FaultAnswer:
    return refusal(429, "TooManyRequests", retry_after=retry_after)


def status_with_200(code: int = 500) -> FaultAnswer:
    return refusal(code, "InternalError", status=200)


def server_errors(times: int) -> FaultAnswer:
    """500 to the first `times` requests, then nothing is wrong."""
    left = times

    async def answer(_: web.Request, cluster: FakeCluster) -> web.Response | None:
        nonlocal left
        left -= 1
        return cluster.refusal(500, "InternalError") if left >= 0 else None

    return answer


def expired_pages(times: int) -> FaultAnswer:
    """410 to the first `times` requests for a later page, as when the token of a list has been compacted away."""
    left = times

    async def answer(request: web.Request, cluster: FakeCluster) -> web.Response | None:
        nonlocal left
        if "continue" not in request.query or left <= 0:
            return None
        left -= 1
        return cluster.refusal(410, "Expired")

    return answer


def web_page(status: int = 200) -> FaultAnswer:
    async def answer(_: web.Request, __: FakeCluster) -> web.Response:
        return web.Response(text=_PAGE, status=status, content_type="text/html")

    return answer


def redirect(to: str) -> FaultAnswer:
    async def answer(_: web.Request, __: FakeCluster) -> web.Response:
        return web.Response(status=302, headers={"Location": to})

    return answer


def body(data: bytes) -> FaultAnswer:
    """Any bytes as JSON with 200: truncated, of another kind, with a huge object in it."""

    async def answer(_: web.Request, __: FakeCluster) -> web.Response:
        return web.Response(body=data, content_type="application/json")

    return answer


def gzip_bomb(megabytes: int) -> FaultAnswer:
    """A small body that unpacks into `megabytes` of spaces."""
    packed = gzip.compress(b" " * (megabytes * 2**20), compresslevel=9, mtime=0)

    async def answer(_: web.Request, __: FakeCluster) -> web.Response:
        headers = {"Content-Encoding": "gzip"}
        return web.Response(body=packed, content_type="application/json", headers=headers)

    return answer


def damaged_gzip() -> FaultAnswer:
    async def answer(_: web.Request, __: FakeCluster) -> web.Response:
        headers = {"Content-Encoding": "gzip"}
        return web.Response(body=b"\x1f\x8b\x08 not gzip", content_type="application/json", headers=headers)

    return answer


def endless(chunk: bytes, pause_seconds: float) -> FaultAnswer:
    """An answer without an end: a drip with a pause, a flood without one."""

    async def answer(request: web.Request, __: FakeCluster) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        try:
            while True:
                await response.write(chunk)
                await asyncio.sleep(pause_seconds)
        except ConnectionError:
            return response

    return answer


def announced(size: int) -> FaultAnswer:
    """A body whose length is announced and never sent."""

    async def answer(request: web.Request, __: FakeCluster) -> web.StreamResponse:
        headers = {"Content-Type": "application/json", "Content-Length": str(size)}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        await asyncio.sleep(60)
        return response

    return answer


def hang_up() -> FaultAnswer:
    """Half an answer, then the connection is gone."""

    async def answer(request: web.Request, __: FakeCluster) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b'{"apiVersion":')
        if request.transport is not None:
            request.transport.abort()
        return response

    return answer
