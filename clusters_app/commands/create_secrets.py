"""Write the secret files that docker-compose.yml hands to the containers: passwords, keys and the URLs that hold them.

Files that exist are left as they are. Compose shows each file to a container with the owner that it has here, so they
must belong to the user of the image: --owner 10001, for which this must run as root.
"""

import argparse
import os
import secrets
from pathlib import Path
from typing import TextIO

from clusters_app.commands.broker import write_private

EXAMPLE = "flotilla create-secrets deploy/secrets --owner 10001"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, help="made when missing, for its owner alone")
    parser.add_argument("--owner", type=int, metavar="UID", help="the user whom directory and files shall belong to")


def run(arguments: argparse.Namespace, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    del stdin, stderr
    directory: Path = arguments.directory
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    postgres = _kept(directory / "postgres-password")
    redis = _kept(directory / "redis-password")
    _kept(directory / "secret-key", secrets.token_urlsafe(64))
    _kept(directory / "database-url", f"postgres://flotilla:{postgres}@postgres:5432/flotilla")
    _kept(directory / "redis-url", f"redis://:{redis}@redis:6379/0")
    if not (directory / "credentials.key").exists():
        create_key_pair(directory / "credentials.key", directory / "credentials.key.pub")
    if arguments.owner is not None:
        for path in (directory, *directory.iterdir()):
            os.chown(path, arguments.owner, arguments.owner)
    stdout.write("".join(f"{file}\n" for file in sorted(directory.iterdir())))
    return 0


def create_key_pair(private: Path, public: Path) -> None:
    """The key that opens credentials, for workers alone, and the one that seals them, for the web process."""
    from clusters_app.sealed import generate_key_file

    public.write_text(f"{generate_key_file(private)}\n", encoding="ascii")


def _kept(file: Path, value: str = "") -> str:
    """What the file says; it is written with this value, or a random one, when it is missing."""
    if not file.exists():
        write_private(file, value or secrets.token_urlsafe(32))
    return file.read_text(encoding="ascii").strip()
