"""The one event loop of a worker process: connections to clusters stay open in it from task to task.

A loop per task would throw them away, and a cold connection costs as much as reading a whole cluster.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def run[T](work: Coroutine[object, object, T], *, timeout_seconds: float) -> T:
    """Run `work` in the process' loop and wait for it; call it from any thread but the loop's own.

    Raises `TimeoutError` after `timeout_seconds`. Whatever ends the wait, the work is cancelled and gone.
    """
    future = asyncio.run_coroutine_threadsafe(_bounded(work, timeout_seconds), _running_loop())
    try:
        return future.result()
    finally:
        future.cancel()


async def _bounded[T](work: Coroutine[object, object, T], seconds: float) -> T:
    async with asyncio.timeout(seconds):
        return await work


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop  # noqa: PLW0603 - one a process is the point
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="kube-loop", daemon=True).start()
        return _loop


def _forget() -> None:
    """A forked child has the loop's memory but not its thread: it starts its own."""
    global _loop, _lock
    _loop, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget)
