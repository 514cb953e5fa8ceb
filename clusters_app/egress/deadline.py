"""A total deadline, enforced from outside the HTTP library.

Time-outs of sockets and of HTTP libraries begin again with every byte: a server that sends one byte a second holds a
worker for ever. So a second thread shuts the connection down when time is up, and whatever waits on it wakes at once.
"""

import contextlib
import socket
import threading
import time
from typing import Self


class Deadline:
    """The end of one exchange. `phase` says what it was doing, for the error text."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.phase = "sending the request"
        self._ends_at = time.monotonic() + seconds
        self._held: socket.socket | None = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._let_go()

    @property
    def left(self) -> float:
        """Seconds, never less than a millisecond: zero means "no time-out" to some and "do not block" to others."""
        return max(self._ends_at - time.monotonic(), 0.001)

    @property
    def has_passed(self) -> bool:
        return time.monotonic() >= self._ends_at

    def check(self) -> None:
        """Raises TimeoutError when time is up."""
        if self.has_passed:
            raise TimeoutError

    def finish(self) -> None:
        """Nothing is cut any more, so that the connection can serve others.

        Raises TimeoutError when time was up: an answer that ended with the cut must not count as complete.
        """
        with self._lock:
            self._let_go()
        self.check()

    def guard(self, connection: socket.socket) -> None:
        """From now on this connection is the one to cut.

        Holds a duplicate of the file descriptor: the library may close its own at any moment, and by then the number
        could belong to somebody else.
        """
        with self._lock:
            self._let_go()
            self._held = socket.fromfd(connection.fileno(), connection.family, connection.type)
        self.check()

    def _cut(self) -> None:
        with self._lock, contextlib.suppress(OSError):
            if self._held is not None:
                self._held.shutdown(socket.SHUT_RDWR)

    def _let_go(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None
