"""Start servers as children that cannot outlive the run that started them.

A test run ends in many ways: normally, by ctrl-C, by SIGKILL. The kernel ends our children in each of them,
because every child asks for SIGKILL upon the death of its parent before it becomes the server.
"""

import atexit
import os
import random
import shutil
import signal
import socket
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

# The death signal comes when the *thread* that started the child ends. This one lives as long as the interpreter,
# so that servers may be started from short-lived threads.
_LAUNCHER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="testbed-launcher")

# Below the range that Linux gives to outgoing connections, so that no client takes a port between choice and use.
_PORTS = range(20_000, 32_000)

# $0: pid file, $1: the pid that must still be the parent once the death signal is armed.
_BECOME = 'test "$PPID" = "$1" || exit 1; echo $$ > "$0"; shift; exec "$@"'

# The same in a mount namespace of its own, where the namespace file of a pod exists. $2: the namespace.
_BECOME_POD = """
test "$PPID" = "$1" || exit 1
echo $$ > "$0"
mount -t tmpfs tmpfs /run
mkdir -p /run/secrets/kubernetes.io/serviceaccount
printf %s "$2" > /run/secrets/kubernetes.io/serviceaccount/namespace
shift 2
exec "$@"
"""


class ServerError(Exception):
    """A server ended by itself or did not answer in time; the message carries the end of its log."""


class Server(Protocol):
    """What can be ended."""

    def stop(self) -> None: ...


@contextmanager
def ended_on_failure(server: Server) -> Iterator[None]:
    """End a server whose start fails halfway: nobody gets a handle to end it later."""
    try:
        yield
    except BaseException:
        server.stop()
        raise


class Process:
    """One running server: a process group of its own, its output in a file, its pid in another."""

    def __init__(self, name: str, popen: subprocess.Popen[bytes], log: Path) -> None:
        self.name = name
        self.log = log
        self._popen = popen

    @property
    def pid(self) -> int:
        return self._popen.pid

    def is_running(self) -> bool:
        return self._popen.poll() is None

    def send(self, number: int) -> None:
        """Send a signal to the server's whole group; nothing happens when it has ended already."""
        if self.is_running():
            os.killpg(self.pid, number)

    def stop(self, number: int = signal.SIGTERM, grace_seconds: float = 5.0) -> None:
        """End the server and wait for it; after the grace period by SIGKILL."""
        self.send(number)
        try:
            self._popen.wait(grace_seconds)
        except subprocess.TimeoutExpired:
            self.send(signal.SIGKILL)
            self._popen.wait()

    def log_tail(self, lines: int = 15) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


def start(
    name: str,
    arguments: Sequence[str | Path],
    *,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    pod_namespace: str | None = None,
    unprivileged: bool = False,
) -> Process:
    """Start a server; its log is `folder/name.log` (appended), its pid `folder/name.pid`.

    With `pod_namespace` it finds the namespace file that a pod has. With `unprivileged`, root looks like somebody
    else to it (PostgreSQL refuses to be root) while the files' owner stays the same.
    """
    folder.mkdir(parents=True, exist_ok=True)
    log, pid_file = folder / f"{name}.log", folder / f"{name}.pid"
    script, extra = (_BECOME, []) if pod_namespace is None else (_BECOME_POD, [pod_namespace])
    command = [
        *_namespaces(mounts=pod_namespace is not None, unprivileged=unprivileged),
        *("setpriv", "--pdeathsig", "KILL", "sh", "-c", script, str(pid_file), str(os.getpid()), *extra),
        *map(str, arguments),
    ]
    popen = _LAUNCHER.submit(_spawn, command, log, folder, {**os.environ, **(environment or {})}).result()
    return Process(name, popen, log)


def _namespaces(*, mounts: bool, unprivileged: bool) -> list[str]:
    if mounts:
        return ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    if unprivileged:
        return as_unprivileged()
    return []


def as_unprivileged() -> list[str]:
    """The prefix of a command that refuses to run as root; nothing is needed for other users."""
    return ["unshare", "--map-user=1000", "--map-group=1000"] if os.geteuid() == 0 else []


def _spawn(command: Sequence[str], log: Path, folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def wait_until(answers: Callable[[], bool], what: str, *processes: Process, timeout_seconds: float = 30.0) -> None:
    """Ask until it is true; raise ServerError when time is up or one of `processes` has ended."""
    deadline = time.monotonic() + timeout_seconds
    while not answers():
        for process in processes:
            if not process.is_running():
                raise ServerError(f"{process.name} ended while waiting for {what}:\n{process.log_tail()}")
        if time.monotonic() > deadline:
            tails = "\n".join(f"--- {process.name}\n{process.log_tail()}" for process in processes)
            raise ServerError(f"{what}: not within {timeout_seconds:.0f} s\n{tails}")
        time.sleep(0.05)


def accepts_connections(port: int) -> bool:
    with socket.socket() as client:
        client.settimeout(1)
        return client.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    """A port on the loopback address that nothing listens on now."""
    for port in random.sample(_PORTS, 200):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise ServerError("no free port on 127.0.0.1 between 20000 and 32000")


def temporary_folder(name: str) -> Path:
    """A new folder for a server's state that is removed when the interpreter ends."""
    folder = Path(tempfile.mkdtemp(prefix=f"flotilla-testbed-{name}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def venv_program(name: str) -> Path:
    """A program that a wheel put beside this interpreter, whatever PATH says."""
    return Path(sysconfig.get_path("scripts")) / name
