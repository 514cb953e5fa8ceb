"""Run one part of an installation in the foreground: what each container of docker-compose.yml starts.

`web` answers pages and API, `observe` reads clusters, `git` works on repositories and all else, `beat` sends the ticks.
"""

import argparse
import io
import os
import sys
from typing import NoReturn, TextIO

EXAMPLE = "flotilla serve observe --concurrency 4"

PARTS = ("web", "observe", "git", "beat")
QUEUES = {"observe": "observe", "git": "git,default"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--host", default="127.0.0.1", help="web: the address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="web: the port to listen on (default: 8000)")
    parser.add_argument(
        "--concurrency", type=int, default=2, help="processes of a worker, or of the web server (default: 2)"
    )


def loads_django(_arguments: argparse.Namespace) -> bool:
    return True


def run(arguments: argparse.Namespace, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    del stdin
    if not settings_are_sound(stderr):
        return 1
    stdout.flush()
    return _become(part_words(arguments.part, arguments.host, arguments.port, arguments.concurrency))


def _become(words: list[str]) -> NoReturn:
    """The program takes this process' place, so that signals reach it."""
    os.execv(words[0], words)  # noqa: S606


def part_words(part: str, host: str, port: int, concurrency: int) -> list[str]:
    """The command line of one part."""
    if part == "web":
        return [*_module("granian"), *_web_options(host, port, concurrency), "fleet.wsgi:application"]
    celery = [*_module("celery"), "--app", "fleet", "--quiet"]
    if part == "beat":
        return [*celery, "beat", "--loglevel", "WARNING", "--enable-remote-control", "--hostname", "beat@%h"]
    # Workers need not know each other: no gossip, no heartbeats, and a start without asking around.
    return [
        *celery,
        *("worker", "--queues", QUEUES[part], "--hostname", f"{part}@%h", "--concurrency", str(concurrency)),
        *("--loglevel", "WARNING", "--without-gossip", "--without-mingle", "--without-heartbeat"),
    ]


def settings_are_sound(stderr: TextIO) -> bool:
    """The self-test at start: an error of a system check, with its remedy, ends it here."""
    from django.conf import settings
    from django.core.management import CommandError, call_command

    try:
        call_command(
            "check", deploy=settings.FLOTILLA_PRODUCTION, fail_level="ERROR", stdout=io.StringIO(), stderr=stderr
        )
    except CommandError as error:
        stderr.write(f"{error}\n")
        return False
    return True


def _web_options(host: str, port: int, workers: int) -> list[str]:
    return [
        *("--interface", "wsgi", "--host", host, "--port", str(port), "--no-ws", "--log-level", "warning"),
        *("--workers", str(workers), "--blocking-threads", "4", "--backpressure", "64", "--respawn-failed-workers"),
    ]


def _module(name: str) -> list[str]:
    return [sys.executable, "-m", name]
