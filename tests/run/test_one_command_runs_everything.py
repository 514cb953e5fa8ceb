"""`flotilla run`, as `make run` starts it: without the tools of development everything comes up, and nothing stays."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.testbed

ROOT = Path(__file__).parents[2]


class Running:
    """One `flotilla run` with a directory and a port of its own."""

    def __init__(self, python: Path, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.url = f"http://127.0.0.1:{probe.getsockname()[1]}"
        self.python, self.folder, self.output = python, folder, folder / "output"
        self.mark = f"FLOTILLA_DATA_DIR={folder / 'data'}"
        taken = ("REDIS_URL", "DATABASE_URL", "FLOTILLA_PUBLIC_URL")
        rest = {name: value for name, value in os.environ.items() if name not in taken}
        self.environment = {**rest, "FLOTILLA_DATA_DIR": str(folder / "data")}
        with self.output.open("w") as stream:
            self.process = subprocess.Popen(
                [python, "-m", "clusters_app.cli", "run", "--no-demo", "--port", self.url.rpartition(":")[2]],
                env=self.environment,
                stdout=stream,
                stderr=subprocess.STDOUT,
            )

    def wait_until_it_greets(self) -> str:
        deadline = time.monotonic() + 90
        while "ctrl-C" not in (said := self.output.read_text()):
            assert self.process.poll() is None, said
            assert time.monotonic() < deadline, said
            time.sleep(0.1)
        return said

    def wait_until_it_answers(self, part: str) -> None:
        command: list[str | Path] = [self.python, "-m", "clusters_app.cli", "healthy", part]
        deadline = time.monotonic() + 90
        while subprocess.run(command, env=self.environment, capture_output=True, check=False).returncode:
            assert self.process.poll() is None, self.output.read_text()
            assert time.monotonic() < deadline, f"{part} does not answer"

    def programs(self) -> list[str]:
        """Whatever was started with our data directory, also by children and after their parents died.

        Valkey writes its title over its environment; it works in the data directory instead.
        """
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                is_marked = self.mark.encode() in (folder / "environ").read_bytes().split(b"\0")
                if is_marked or (folder / "cwd").readlink().is_relative_to(self.folder):
                    found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:  # it ended while we looked
                continue
        return found

    def wait_until_nothing_is_left(self) -> None:
        deadline = time.monotonic() + 20
        while left := self.programs():
            assert time.monotonic() < deadline, left
            time.sleep(0.1)


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with what the product asks for, and nothing of what its developers use."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    subprocess.run(
        [ROOT / ".ci" / "uv", "sync", "--quiet", "--locked", "--no-dev"],
        env={**os.environ, "UV_PROJECT_ENVIRONMENT": str(folder), "UV_PYTHON": sys.executable},
        check=True,
    )
    return folder / "bin" / "python"


@pytest.fixture
def running(python: Path, tmp_path: Path) -> Iterator[Running]:
    running = Running(python, tmp_path)
    yield running
    if running.process.poll() is None:
        running.process.terminate()
        running.process.wait(30)


def test_it_serves_pages_and_workers_until_ctrl_c(running: Running) -> None:
    greeting = running.wait_until_it_greets()
    assert f"Flotilla runs at {running.url}/" in greeting
    link = re.search(r"Sign in, once, by (\S+)", greeting)
    assert link
    with urllib.request.urlopen(link[1], timeout=60) as page:
        assert page.status == 200
    started = " ".join(running.programs())
    for part in ("valkey-server", "granian", "--queues observe", "--queues git,default", "beat"):
        assert part in started
    for part in ("observe", "git", "beat"):
        running.wait_until_it_answers(part)

    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(30) == 0
    assert running.programs() == []
    assert not (running.folder / "data" / "redis-url").exists()


def test_nothing_outlives_it_when_it_is_killed(running: Running) -> None:
    running.wait_until_it_greets()
    running.process.kill()
    running.process.wait()
    running.wait_until_nothing_is_left()
