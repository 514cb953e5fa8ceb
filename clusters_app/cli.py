"""`flotilla COMMAND` and `manage.py COMMAND`: the commands in COMMANDS, and every management command of Django.

A command of ours is a module of `clusters_app/commands/` and starts without loading Django unless it asks for it, so
that `kubectl … | flotilla explain -` answers at once on a machine that has no installation.
"""

import argparse
import importlib
import os
import pkgutil
import sys
from pathlib import Path
from typing import Protocol, TextIO, cast

COMMANDS = {
    "cluster": "Register clusters, list, show and remove them; print the manifest of the read role",
    "create_secrets": "Write the secret files that docker-compose.yml hands to the containers",
    "demo": "Fill an empty installation with a demo fleet and serve its simulated clusters",
    "environment": "Add environments, list them, set their promotion order",
    "explain": "Say what state the Flux objects of a document are in, why, and what to do",
    "graph": "Say what a Flux repository describes: environments, clusters, apps, reach",
    "healthy": "Say by the exit code whether a part that runs on this host answers",
    "promote_env": "Carry a release from one environment to another, on a local clone or on the server",
    "lint": "Say what is wrong with a Flux repository, with file, line and remedy",
    "promotions": "List promotions, show one, give one up, try one again",
    "repository": "Add repositories, list them, look at one again",
    "run": "Run everything on this machine: web server, workers, beat and an embedded broker",
    "scaffold": "Lay out a repository for a fleet from the answers in a file",
    "serve": "Run one part in the foreground: web, observe, git or beat",
    "signin_link": "Print a link that signs a person in, once",
    "status": "Say how the fleet stands, or one cluster's objects as `flux get all -A` prints them",
    "token": "Make a token for the API",
}

USAGE = 2


class Command(Protocol):
    """What a module of `clusters_app/commands/` defines.

    It may also define `loads_django(arguments) -> bool`; without it Django is not loaded.
    """

    EXAMPLE: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, arguments: argparse.Namespace, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
        """0 when all is well, 1 for findings or failure, 2 for wrong usage."""


def main(words: list[str] | None = None, program: str = "flotilla") -> int:
    """Run one command; its exit code."""
    words = sys.argv[1:] if words is None else words
    try:
        return _dispatch(words, program)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output (`| head`) is gone: that is its right, and Python must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _dispatch(words: list[str], program: str) -> int:
    if words[:1] == ["help"] and len(words) > 1:
        words = [words[1], "--help"]
    if not words or words[0] in {"help", "-h", "--help"}:
        sys.stdout.write(_overview(program))
        return 0 if words else USAGE
    name = words[0].replace("-", "_")
    if name in COMMANDS:
        return run_command(name, words[1:], program)
    return _run_django_command(name, words, program)


def run_command(name: str, words: list[str], program: str = "flotilla") -> int:
    """Run one of COMMANDS with these arguments; its exit code, 2 for arguments that it does not know."""
    module = importlib.import_module(f"clusters_app.commands.{name}")
    command = cast("Command", module)
    parser = argparse.ArgumentParser(
        prog=f"{program} {name.replace('_', '-')}",
        description=(module.__doc__ or "").strip(),
        epilog=f"example:\n  {command.EXAMPLE.strip()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,  # what a script writes must not change its meaning when an option is added
    )
    command.add_arguments(parser)
    try:
        arguments = parser.parse_args(words)
    except SystemExit as exit_:
        return _code(exit_)
    if not getattr(module, "loads_django", lambda _: False)(arguments):
        return command.run(arguments, sys.stdin, sys.stdout, sys.stderr)
    return _run_on_server(command, arguments, program) if _load_django(program) else USAGE


def _run_on_server(command: Command, arguments: argparse.Namespace, program: str) -> int:
    """With Django loaded. What is refused, and a database that is not set up, is told in words and not as a trace."""
    from django.db import OperationalError, ProgrammingError

    from clusters_app.egress import EgressError
    from clusters_app.forges import ForgeError
    from clusters_app.git.errors import GitError
    from clusters_app.repo.rules import RulesError
    from clusters_app.services.errors import ServiceError

    try:
        return command.run(arguments, sys.stdin, sys.stdout, sys.stderr)
    except (ServiceError, RulesError, EgressError, ForgeError, GitError) as error:
        sys.stderr.write(f"{error}\n")
    except (OperationalError, ProgrammingError) as error:
        sys.stderr.write(f"The database cannot be used: {error}. If it is new, run: {program} migrate\n")
    return 1


def _run_django_command(name: str, words: list[str], program: str) -> int:
    if not _load_django(program):
        return USAGE
    from django.core.management import execute_from_command_line, get_commands

    known = get_commands()
    if name not in known and words[0] not in known:
        sys.stderr.write(f"{program}: there is no command {words[0]!r}; `{program} help` lists them\n")
        return USAGE
    try:
        execute_from_command_line([program, name if name in known else words[0], *words[1:]])
    except SystemExit as exit_:
        return _code(exit_)
    return 0


def _load_django(program: str) -> bool:
    """Load the settings and the applications; False when a setting is wrong, which is then on stderr."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fleet.settings")
    import django
    from django.apps import apps
    from django.core.exceptions import ImproperlyConfigured

    try:
        if not apps.ready:
            django.setup()
    except ImproperlyConfigured as error:
        sys.stderr.write(f"{program}: {error}\n")
        return False
    return True


def _code(exit_: SystemExit) -> int:
    if isinstance(exit_.code, int) or exit_.code is None:
        return exit_.code or 0
    sys.stderr.write(f"{exit_.code}\n")
    return 1


def _overview(program: str) -> str:
    management = Path(__file__).parent / "management" / "commands"
    others = [name for _, name, is_package in pkgutil.iter_modules([str(management)]) if not is_package]
    rows = {**dict.fromkeys(others, ""), **COMMANDS}
    width = max(len(name) for name in rows)
    lines = [f"  {name.replace('_', '-'):{width}}  {rows[name]}".rstrip() for name in sorted(rows)]
    return "\n".join(
        [
            f"usage: {program} COMMAND [ARGUMENTS]    ({program} COMMAND --help explains one)",
            "",
            *lines,
            "",
            "Django's own commands work too: check, migrate, shell, …",
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
