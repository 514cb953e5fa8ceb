"""One budget for each credential: when a forge says "too many", all calls of that credential rest, not only one."""

import random
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

FIRST_REST_SECONDS = 30.0
LONGEST_REST_SECONDS = 300.0
PROBE_SECONDS = 60.0
"""For so long the first call after a rest is alone, unless it comes back earlier."""


class Pace:
    """Admits calls, or says for how long none is. Shared by the threads of one process."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, jitter: Callable[[], float] = random.random
    ) -> None:
        self._clock = clock
        self._jitter = jitter
        self._lock = threading.Lock()
        self._refusals = 0
        self._rests_until = 0.0
        self._is_probing = False

    def seconds_to_wait(self) -> float:
        """0 admits one call. After a rest only one is admitted, to probe; the others wait for what it learns."""
        with self._lock:
            now = self._clock()
            if now < self._rests_until:
                return self._rests_until - now
            if self._refusals:
                self._rests_until = now + PROBE_SECONDS
                self._is_probing = True
            return 0.0

    def refused(self, retry_after_seconds: float | None) -> float:
        """The forge limits the rate: rest as long as it says, else longer each time. Answers the seconds to rest."""
        with self._lock:
            now = self._clock()
            if now < self._rests_until and not self._is_probing:
                # The answer to a call from before the rest: it is known already.
                return self._rests_until - now
            growing = min(FIRST_REST_SECONDS * 2**self._refusals, LONGEST_REST_SECONDS) * (1 + 0.2 * self._jitter())
            rest = growing if retry_after_seconds is None else max(1.0, retry_after_seconds)
            self._refusals += 1
            self._rests_until = now + rest
            self._is_probing = False
            return rest

    def answered(self) -> None:
        """The forge answered as usual: the rest is over, if this was the probe."""
        with self._lock:
            if self._is_probing:
                self._refusals = 0
                self._rests_until = 0.0
                self._is_probing = False


def retry_after_seconds(value: str | None, now: datetime) -> float | None:
    """`Retry-After` in seconds from now: a number or a date (RFC 9110, 10.2.3). None when absent or unreadable."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return min(float(value), 86_400.0)
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - now).total_seconds())
