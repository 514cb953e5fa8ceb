"""Processes that live and die with this one: what `flotilla run` starts."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_PR_SET_PDEATHSIG = 1
GRACE_SECONDS = 10.0


@dataclass(frozen=True)
class Child:
    """A process that runs until it is stopped; one that ends by itself has failed, unless it may end with 0."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    may_end: bool

    def has_failed(self) -> bool:
        code = self.process.poll()
        return code is not None and not (self.may_end and code == 0)

    def last_words(self, lines: int = 15) -> str:
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


class Children:
    """Started in order, stopped in the reverse order; a context manager."""

    def __init__(self, log_dir: Path) -> None:
        self.log_dir = log_dir
        self.started: list[Child] = []
        log_dir.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, name: str, words: Sequence[str], environment: Mapping[str, str], *, may_end: bool = False) -> Child:
        """Start a program in a process group of its own: ctrl-C reaches only us, and what it starts ends with it."""
        log = self.log_dir / f"{name}.log"
        with log.open("wb") as stream:
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                env=dict(environment),
                start_new_session=True,
                preexec_fn=_die_with(os.getpid()) if _LIBC else None,  # noqa: PLW1509  we have one thread
            )
        child = Child(name, process, log, may_end)
        self.started.append(child)
        return child

    def failed(self) -> Child | None:
        return next((child for child in self.started if child.has_failed()), None)

    def stop(self) -> None:
        """Ask each to end, and end what has not after GRACE_SECONDS. The first child (the broker) goes last."""
        _end(self.started[:0:-1])
        _end(self.started[:1])
        self.started.clear()


def _end(children: Sequence[Child]) -> None:
    for child in children:
        child.process.terminate()
    deadline = time.monotonic() + GRACE_SECONDS
    for child in children:
        try:
            child.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.process.kill()
        _kill_group(child.process.pid)
        child.process.wait()


def _kill_group(leader: int) -> None:
    """End what a child left behind: a worker's pool outlives a worker that is killed."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return


def _die_with(parent: int) -> Callable[[], None]:
    """What a child does before it becomes its program: ask Linux for SIGTERM when its parent dies, even by SIGKILL."""

    def ask() -> None:
        assert _LIBC is not None
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it died before we asked
            os._exit(1)

    return ask
