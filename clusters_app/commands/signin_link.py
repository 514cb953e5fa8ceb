"""Print a link that signs a person in, once, within a day.

Without a name it is for the first administrator, and refused once there is one.
"""

import argparse
from typing import TextIO

EXAMPLE = "flotilla signin-link olga"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("username", nargs="?", help="whom the link lets in (made when unknown, without any role)")


def loads_django(_arguments: argparse.Namespace) -> bool:
    return True


def run(arguments: argparse.Namespace, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    del stdin
    from clusters_app.commands.on_server import actor
    from clusters_app.services.accounts import first_run_link, sign_in_url

    name: str | None = arguments.username
    link = sign_in_url(username=name, actor=actor()) if name else first_run_link(actor=actor())
    if link is None:
        stderr.write("An administrator exists: name the person whom the link is for, flotilla signin-link NAME\n")
        return 1
    stdout.write(f"{link}\n")
    return 0
