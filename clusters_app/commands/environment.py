"""Add environments, list them, set their promotion order: a release travels from the first one to the last."""

import argparse
from typing import TextIO

from clusters_app.commands.output import add_format, print_document, print_rows
from clusters_app.commands.verbs import add_verb, add_verbs

EXAMPLE = "flotilla environment order dev staging prod"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = add_verbs(parser)
    add = add_verb(verbs, "add", "Add an environment at the end of the order", "flotilla environment add prod")
    add.add_argument("name")
    add.add_argument(
        "--production",
        dest="is_production",
        action=argparse.BooleanOptionalAction,
        help="whether it is one; judged by the name when left out",
    )
    add_format(add_verb(verbs, "list", "List the environments in promotion order", "flotilla environment list"))
    order = add_verb(verbs, "order", "Set the promotion order", EXAMPLE)
    order.add_argument("names", nargs="+", metavar="NAME", help="all of them, first to receive first")


def loads_django(_arguments: argparse.Namespace) -> bool:
    return True


def run(arguments: argparse.Namespace, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """0 done, 1 refused."""
    del stdin
    from clusters_app.commands.on_server import actor
    from clusters_app.services.environments import create_environment, order_environments

    if arguments.verb == "list":
        return _list(arguments, stdout, stderr)
    if arguments.verb == "add":
        made = create_environment(name=arguments.name, is_production=arguments.is_production, actor=actor())
        stderr.write(f"{made} is number {made.position} in the order.\n")
    else:
        order_environments(names=arguments.names, actor=actor())
        stderr.write(f"{' → '.join(arguments.names)}\n")
    return 0


def _list(arguments: argparse.Namespace, stdout: TextIO, stderr: TextIO) -> int:
    from clusters_app.commands.documents import environment_document
    from clusters_app.queries import HOST, environments_visible_to

    rows = [environment_document(each) for each in environments_visible_to(HOST)]
    if arguments.output != "table":
        print_document(rows, arguments.output, stdout)
    elif rows:
        print_rows(rows, ("position", "name", "is_production"), "table", stdout)
    else:
        stderr.write("There is no environment yet: flotilla environment add --help\n")
    return 0
