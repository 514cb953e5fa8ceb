"""The one place that starts the git program, through GitPython, and the one that ends it.

Everything it starts is in a process group of its own that is killed at the deadline, at too much output, and whenever
the caller is interrupted.
"""

import logging
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from clusters_app.secret import mask

from .environment import Environment
from .errors import GitPermanent, GitTransient
from .operations import Operation

_LAUNCH = Path(__file__).with_name("launch.py")
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one git process may use. `file_bytes` bounds a fetched pack, `output_bytes` what we read of its answer."""

    seconds: int = 120
    slow_seconds: int = 20
    output_bytes: int = 8 * 1024 * 1024
    memory_bytes: int = 2 * 1024 * 1024 * 1024
    file_bytes: int = 8 * 1024 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Result:
    """What git said. `errors` is its standard error, which may quote the server, without secrets."""

    status: int
    output: str
    errors: str


def run(operation: Operation, environment: Environment, limits: Limits, *, held: Sequence[int] = ()) -> Result:
    """Start git and wait for it. Its exit status is the caller's to judge.

    `held` descriptors (the mirror's lock) stay open in git, so that a lock outlives a killed worker as long as its git.
    Raises GitTransient `git.deadline`, GitPermanent `git.too-much-output`.
    """
    command = _command(operation, environment, limits)
    # Imported here, after our own look: without the program GitPython cannot even be imported.
    from git.cmd import Git

    started = time.monotonic()
    # The wrapper ends its process when nobody refers to it any more, so it is kept until the last line.
    kept_alive = Git().execute(
        command,
        as_process=True,
        env=dict(environment.variables),
        shell=False,
        start_new_session=True,
        pass_fds=tuple(held),
    )
    process = cast("subprocess.Popen[bytes]", kept_alive.proc)
    try:
        output, errors = _collect(process, limits)
    except BaseException:
        _kill_group(process)
        raise
    finally:
        _close(process)
    status = process.wait()
    _logger.debug("git %s: status %d after %.2f s", operation.name, status, time.monotonic() - started)
    # Masked here, while the secrets of this run are alive: a server may repeat them in its refusal.
    said = mask(errors.decode(errors="replace"))
    return Result(status, output.decode(errors="replace"), said)


def _command(operation: Operation, environment: Environment, limits: Limits) -> list[str]:
    program = shutil.which("git")
    if program is None:
        raise GitPermanent("git.missing-program")
    bounds = [str(limits.seconds), str(limits.memory_bytes), str(limits.file_bytes)]
    names = ",".join(environment.variables)
    return [sys.executable, "-I", "-S", str(_LAUNCH), names, *bounds, program, *operation.arguments]


def _collect(process: subprocess.Popen[bytes], limits: Limits) -> tuple[bytes, bytes]:
    """Both streams until git ends. Waits for the end itself too, within the same deadline."""
    deadline = time.monotonic() + limits.seconds
    assert process.stdout is not None
    assert process.stderr is not None
    taken: dict[IO[bytes], bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    with selectors.DefaultSelector() as selector:
        for stream in taken:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise GitTransient("git.deadline", seconds=limits.seconds)
            for key, _ in ready:
                stream = cast("IO[bytes]", key.fileobj)
                chunk = os.read(key.fd, 65536)
                if not chunk:
                    selector.unregister(stream)
                taken[stream] += chunk
                if sum(map(len, taken.values())) > limits.output_bytes:
                    raise GitPermanent("git.too-much-output", limit=limits.output_bytes)
    try:
        process.wait(max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        raise GitTransient("git.deadline", seconds=limits.seconds) from error
    return bytes(taken[process.stdout]), bytes(taken[process.stderr])


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """The process is not reaped yet, so its number is still the group's and nobody else's."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _close(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
