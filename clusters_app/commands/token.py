"""Make a token for the API. Its value goes to stdout, once: it is not stored."""

import argparse
from typing import TYPE_CHECKING, TextIO

from clusters_app.commands.output import add_format, print_document
from clusters_app.commands.verbs import add_verb, add_verbs

if TYPE_CHECKING:
    from django.contrib.auth.models import User

EXAMPLE = "flotilla token create --user olga --name pipeline --scope view --scope promote > token.txt"

_LONGEST_DAYS = 730


def add_arguments(parser: argparse.ArgumentParser) -> None:
    create = add_verb(add_verbs(parser), "create", "Make a token and print its value", EXAMPLE)
    create.add_argument("--user", required=True, help="whose rights it has, as far as its scopes go")
    create.add_argument("--name", required=True, help="what it is for")
    create.add_argument(
        "--scope", action="append", required=True, dest="scopes", help="a verb such as view; repeatable"
    )
    create.add_argument("--days", type=_days, default=90, help="how long it is valid; default: 90")
    add_format(create)


def _days(text: str) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= _LONGEST_DAYS):
        raise argparse.ArgumentTypeError(f"give 1 to {_LONGEST_DAYS} days")
    return int(text)


def loads_django(_arguments: argparse.Namespace) -> bool:
    return True


def run(arguments: argparse.Namespace, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """0 made, 1 refused."""
    del stdin
    from datetime import timedelta

    from django.utils import timezone

    from clusters_app.commands.on_server import actor, instant
    from clusters_app.services.accounts import create_token

    made, value = create_token(
        user=_person(arguments.user),
        name=arguments.name,
        scopes=list(dict.fromkeys(arguments.scopes)),
        expires_at=timezone.now() + timedelta(days=arguments.days),
        actor=actor(),
    )
    if arguments.output == "table":
        stdout.write(f"{value}\n")
        stderr.write(
            f"{made.name} may {', '.join(made.scopes)} for {arguments.days} days. Its value is not shown again.\n"
        )
        return 0
    shown = {"id": made.pk, "name": made.name, "prefix": made.prefix, "scopes": made.scopes}
    times = {"created_at": instant(made.created_at), "expires_at": instant(made.expires_at), "last_used_at": None}
    print_document({**shown, **times, "token": value}, arguments.output, stdout)
    return 0


def _person(name: str) -> "User":
    from django.contrib.auth.models import User

    from clusters_app.services.errors import ServiceError

    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        raise ServiceError("not-found", f"There is no {name}.", remedy="Let them sign in first: flotilla signin-link")
    return user
