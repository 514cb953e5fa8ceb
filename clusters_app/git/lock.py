"""One git program at a time in a mirror, over all processes of a machine, and no queue of fetches behind a fetch."""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from .errors import TEXTS, GitError, GitPermanent, GitTransient

_POLL_SECONDS = 0.05


@contextmanager
def alone(mirror: Path, *, wait_seconds: float) -> Iterator[int]:
    """Hold the mirror's lock; yields its descriptor. A process that dies gives it back. GitTransient `git.busy`."""
    descriptor = os.open(mirror / "flotilla.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _take(descriptor, wait_seconds)
        yield descriptor
    finally:
        os.close(descriptor)


def _take(descriptor: int, wait_seconds: float) -> None:
    until = time.monotonic() + wait_seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise GitTransient("git.busy", seconds=int(wait_seconds)) from None
            time.sleep(_POLL_SECONDS)
        else:
            return


@dataclass(frozen=True, slots=True)
class LastFetch:
    """The newest fetch of a mirror. `started` and `ended` are seconds since the epoch; `code` is set when it failed."""

    started: float
    ended: float
    url: str
    code: str = ""
    transient: bool = True
    parameters: dict[str, str | int] | None = None

    def serves(self, url: str, asked: float) -> bool:
        """Whether somebody who asked at that time needs no fetch of his own: this one *started* after it."""
        return self.url == url and self.started >= asked

    def failure(self) -> GitError | None:
        """The error that this fetch ended with, for everybody whom it served."""
        if self.code not in TEXTS:
            return None
        kind = GitTransient if self.transient else GitPermanent
        return kind(self.code, **(self.parameters or {}))


def read_last_fetch(mirror: Path) -> LastFetch | None:
    """None when there was none, or its record is unreadable."""
    try:
        return LastFetch(**json.loads((mirror / "flotilla.fetch").read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def write_last_fetch(mirror: Path, fetch: LastFetch) -> None:
    """Written beside and moved, so that a reader never sees a half."""
    new = mirror / "flotilla.fetch.new"
    new.write_text(json.dumps(asdict(fetch)))
    new.replace(mirror / "flotilla.fetch")
