"""Say by the exit code whether a part of the installation answers on this host: the health check of a container."""

import argparse
import socket
from typing import TextIO

from clusters_app.commands.serve import PARTS

EXAMPLE = "flotilla healthy observe"

SECONDS = 5.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--port", type=int, default=8000, help="web: the port that it listens on (default: 8000)")


def loads_django(arguments: argparse.Namespace) -> bool:
    """A web process is asked over its port; the others over the broker, whose address is a setting."""
    return bool(arguments.part != "web")


def run(arguments: argparse.Namespace, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    del stdin
    is_healthy = web_answers(arguments.port) if arguments.part == "web" else _answers_over_broker(arguments.part)
    if not is_healthy:
        stderr.write(f"{arguments.part} does not answer\n")
        return 1
    stdout.write(f"{arguments.part} answers\n")
    return 0


def web_answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
            connection.sendall(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
            return b" 200 " in connection.recv(64)
    except OSError:
        return False


def _answers_over_broker(part: str) -> bool:
    from celery import current_app
    from kombu.exceptions import OperationalError

    node = f"{part}@{socket.gethostname()}"
    try:
        return bool(current_app.control.ping(destination=[node], timeout=SECONDS, limit=1))
    except OperationalError:
        return False
