"""What the commands that work on the database share: who acts, looking things up, and long work. Django is loaded."""

import getpass
import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from django.conf import settings
from django.db.models import Model, QuerySet

from clusters_app.commands.output import Tone, cell, paint
from clusters_app.models import App, Environment, Operation
from clusters_app.queries import HOST, apps_visible_to, environments_visible_to
from clusters_app.secret import Secret
from clusters_app.services.audit import Actor
from clusters_app.services.errors import ServiceError
from clusters_app.services.operations import Step, run_operation, told_of_steps
from clusters_app.services.work import do_work

_LOOK_SECONDS = 0.5
_TONES = {"ok": Tone.GOOD, "failed": Tone.BAD, "warning": Tone.WARNING}


def actor() -> Actor:
    """The user of this machine who gives the command, as the audit record names it."""
    try:
        return Actor(f"command:{getpass.getuser()}")
    except (OSError, KeyError):
        # In a container the user may have a number and no name.
        return Actor(f"command:{os.getuid()}")


def named[M: Model](found: QuerySet[M], name: str) -> M:
    """The row of this name; ServiceError when there is none."""
    row = found.filter(name=name).first()
    if row is None:
        raise ServiceError("not-found", f"There is no {name}.")
    return row


def environment_named(name: str) -> Environment:
    """ServiceError names the environments that there are."""
    found = environments_visible_to(HOST)
    row = found.filter(name=name).first()
    if row is None:
        names = ", ".join(found.values_list("name", flat=True))
        raise ServiceError(
            "not-found",
            f"There is no environment {name}.",
            remedy=f"There are: {names}." if names else "Add it: flotilla environment add",
        )
    return row


def apps_named(names: Sequence[str], repository: str = "") -> list[App]:
    """The apps of these names; ServiceError where a name is unknown, or stands in several repositories."""
    rows = apps_visible_to(HOST)
    if repository:
        rows = rows.filter(repository__name=repository)
    found: list[App] = []
    for name in dict.fromkeys(names):
        candidates = list(rows.filter(name=name)[:2])
        if not candidates:
            raise ServiceError("not-found", f"There is no app {name}.")
        if len(candidates) > 1:
            raise ServiceError(
                "app.ambiguous",
                f"Several repositories have an app {name}.",
                remedy="Name the repository.",
            )
        found += candidates
    return found


def instant(at: datetime | None) -> str | None:
    """A time as the API writes it."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z") if at else None


def read_text(path: str, stdin: TextIO) -> str:
    """The text of a file, or of stdin for "-"; ServiceError when it cannot be read."""
    if path == "-":
        return stdin.read()
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ServiceError("file.unreadable", f"{path} cannot be read: {error}") from error


def read_secret(path: str, stdin: TextIO, stderr: TextIO) -> Secret:
    """A secret out of a file or stdin, never out of arguments, which every process of the machine can read."""
    if path == "-" and stdin.isatty():
        stderr.write("Paste the token and end with Ctrl-D on a line of its own.\n")
    return Secret(read_text(path, stdin).strip())


def do_here(operation: Operation, stderr: TextIO) -> Operation:
    """Do long work in this process, its lines on stderr as they come; the finished operation.

    Where this host cannot open credentials, or a worker was faster, that worker's lines are shown when it is through.
    """
    shown: list[str] = []

    def show(step: Step) -> None:
        shown.append(step.code)
        _show(step.state, step.text, step.remedy, stderr)

    with told_of_steps(show):
        while not operation.is_finished:
            if os.access(settings.FLOTILLA_KEY_FILE, os.R_OK):
                run_operation(operation_id=operation.pk, work=do_work)
            operation.refresh_from_db()
            if not operation.is_finished:
                time.sleep(_LOOK_SECONDS)
    for step in operation.steps if not shown else []:
        _show(step["state"], step["text"], step["remedy"], stderr)
    if operation.state == Operation.State.FAILED and not _stands_in(operation.problem, operation):
        stderr.write(f"{operation.problem}\n")
    return operation


def _show(state: str, text: str, remedy: str, stderr: TextIO) -> None:
    stderr.write(f"{paint(f'{state:7}', _TONES.get(state), stderr)}  {cell(text)}\n")
    if remedy and state != "ok":
        stderr.write(f"{'':9}{cell(remedy)}\n")


def _stands_in(problem: str, operation: Operation) -> bool:
    """Whether a line that was shown says the problem already."""
    return any(problem.startswith(step["text"]) for step in operation.steps if step["state"] == "failed")
