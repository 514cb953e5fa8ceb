"""Run everything on this machine until ctrl-C: web server, workers, beat and an embedded broker.

Migrations and keys are made first. While nobody can sign in yet, it prints a link that lets the first person in.
"""

import argparse
import fcntl
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGHUP, SIGINT, SIGTERM, signal
from threading import Event
from typing import TextIO

from clusters_app.commands.broker import forget_broker, prepare_broker
from clusters_app.commands.children import Children
from clusters_app.commands.healthy import web_answers
from clusters_app.commands.serve import part_words, settings_are_sound

EXAMPLE = "flotilla run --port 8001 --no-demo"

HOST = "127.0.0.1"
START_SECONDS = 60.0
# Two for `git`, which also takes the ticks: a long fetch must not keep the rest from being noticed.
_CONCURRENCY = {"web": 1, "observe": 1, "git": 2, "beat": 1}


class CannotRunError(Exception):
    """Why it did not start or had to stop, and what to do about it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=_port, default=8000, help="where the pages are served (default: 8000)")
    parser.add_argument("--no-demo", action="store_true", help="start without the demo fleet")


def _port(text: str) -> int:
    port = int(text)
    if not 0 < port < 65536:
        raise argparse.ArgumentTypeError("a port is a number from 1 to 65535")
    return port


def run(arguments: argparse.Namespace, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    del stdin
    # The settings, and every child, read these from the environment: first of all, therefore.
    os.environ.setdefault("FLOTILLA_PUBLIC_URL", f"http://{HOST}:{arguments.port}")
    os.environ["DEMO"] = "0" if arguments.no_demo else "1"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fleet.settings")
    import django

    stopped = Event()
    for number in (SIGINT, SIGTERM, SIGHUP):
        signal(number, lambda *_: stopped.set())
    try:
        _refuse_busy_port(arguments.port)
        django.setup()
        return _run_all(arguments, stopped, stdout, stderr)
    except CannotRunError as error:
        stderr.write(f"{error}\n")
        return 1


def _run_all(arguments: argparse.Namespace, stopped: Event, stdout: TextIO, stderr: TextIO) -> int:
    from django.conf import settings

    with _alone_in(settings.DATA_DIR), Children(settings.DATA_DIR / "log") as children:
        if not settings_are_sound(stderr):
            return 1
        _prepare_installation()
        try:
            _start(children, arguments)
            _wait_for_pages(children, arguments.port, stopped)
            if not stopped.is_set():
                stdout.write(_greeting(children.log_dir))
                stdout.flush()
            _watch(children, stopped)
        finally:
            forget_broker(settings.DATA_DIR)
        stderr.write("Stopping …\n")
    return 0


def _prepare_installation() -> None:
    from django.conf import settings
    from django.core.management import call_command

    from clusters_app.commands.create_secrets import create_key_pair

    call_command("migrate", interactive=False, verbosity=0)
    if not settings.FLOTILLA_KEY_FILE.exists():
        create_key_pair(settings.FLOTILLA_KEY_FILE, settings.FLOTILLA_PUBLIC_KEY_FILE)


def _start(children: Children, arguments: argparse.Namespace) -> None:
    from django.conf import settings

    environment = dict(os.environ)
    if not environment.get("REDIS_URL") and not environment.get("REDIS_URL_FILE"):
        words, environment["REDIS_URL"] = prepare_broker(settings.DATA_DIR)
        children.start("broker", words, environment)
    for part, concurrency in _CONCURRENCY.items():
        children.start(part, part_words(part, HOST, arguments.port, concurrency), environment)
    if not arguments.no_demo:
        children.start("demo", _demo_words(), environment, may_end=True)


def _demo_words() -> list[str]:
    return [sys.executable, "-m", "clusters_app.cli", "demo"]


def _wait_for_pages(children: Children, port: int, stopped: Event) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not stopped.wait(0.1) and not web_answers(port):
        _refuse_failed(children)
        if time.monotonic() > deadline:
            raise CannotRunError(f"The web server does not answer after {START_SECONDS:.0f} s: see {children.log_dir}")


def _watch(children: Children, stopped: Event) -> None:
    while not stopped.wait(0.5):
        _refuse_failed(children)


def _refuse_failed(children: Children) -> None:
    if child := children.failed():
        code = child.process.returncode
        raise CannotRunError(f"{child.name} ended with code {code}; its last words:\n{child.last_words()}")


def _greeting(log_dir: Path) -> str:
    from django.conf import settings

    from clusters_app.services.accounts import first_run_link

    link = first_run_link()
    lines = [f"Flotilla runs at {settings.FLOTILLA_PUBLIC_URL}/"]
    lines += [
        f"Sign in, once, by {link}"
        if link
        else "Sign in there; a link for who lost the password: flotilla signin-link NAME"
    ]
    return "\n".join([*lines, f"Logs are in {log_dir}; ctrl-C ends everything.", ""])


def _refuse_busy_port(port: int) -> None:
    with socket.socket() as probe:
        # As servers do: a port whose last connections still linger is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            remedy = f"end what listens there, or choose another port: make run PORT={port + 1}"
            raise CannotRunError(f"Port {port} of {HOST} cannot be used ({error.strerror}): {remedy}") from error


@contextmanager
def _alone_in(data_dir: Path) -> Iterator[None]:
    """Two runs on one data directory would share a database file and fight over the broker."""
    with (data_dir / "run.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise CannotRunError(f"Flotilla runs on {data_dir} already: end it, or set FLOTILLA_DATA_DIR") from error
        yield
