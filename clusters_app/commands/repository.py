"""Add repositories, list them, look at one again.

Adding checks URL, forge and token line by line, with a remedy for what is wrong, and adds only what passed. The token
comes from stdin or a file, never from the command line, which every process of the machine can read.
"""

import argparse
from typing import TextIO

from clusters_app.commands.output import add_format, print_document, print_rows
from clusters_app.commands.verbs import add_verb, add_verbs

EXAMPLE = "flotilla repository add fleet https://git.example.com/team/fleet.git --token-file token.txt"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = add_verbs(parser)
    add = add_verb(verbs, "add", "Check a repository line by line and add it", EXAMPLE)
    add.add_argument("name")
    add.add_argument("url")
    add.add_argument("--branch", default="main", help="what the clusters follow; default: main")
    add.add_argument("--username", default="", help="whose token it is, for forges that want to know")
    add.add_argument("--token-file", metavar="FILE", help="the token; - for stdin")
    add.add_argument("--ca", metavar="FILE", help="the certificate authority of the forge, PEM")
    add_format(add)
    add_format(add_verb(verbs, "list", "List the repositories", "flotilla repository list"))
    refresh = add_verb(verbs, "refresh", "Look at the remote again, soon", "flotilla repository refresh fleet")
    refresh.add_argument("name")


def loads_django(_arguments: argparse.Namespace) -> bool:
    return True


def run(arguments: argparse.Namespace, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """0 done, 1 refused."""
    if arguments.verb == "add":
        return _add(arguments, stdin, stdout, stderr)
    if arguments.verb == "refresh":
        return _refresh(arguments, stderr)
    return _list(arguments, stdout, stderr)


def _add(arguments: argparse.Namespace, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    from clusters_app.commands.documents import repository_document
    from clusters_app.commands.on_server import actor, do_here, read_secret, read_text
    from clusters_app.models import Operation, Repository
    from clusters_app.services.repositories import add_repository

    operation = add_repository(
        name=arguments.name,
        url=arguments.url,
        branch=arguments.branch,
        username=arguments.username,
        token=read_secret(arguments.token_file, stdin, stderr) if arguments.token_file else None,
        ca_pem=read_text(arguments.ca, stdin) if arguments.ca else "",
        actor=actor(),
    )
    if do_here(operation, stderr).state != Operation.State.DONE:
        return 1
    stderr.write(f"{arguments.name} is added.\n")
    if arguments.output != "table":
        print_document(repository_document(Repository.objects.get(name=arguments.name)), arguments.output, stdout)
    return 0


def _list(arguments: argparse.Namespace, stdout: TextIO, stderr: TextIO) -> int:
    from clusters_app.commands.documents import repository_document
    from clusters_app.queries import HOST, repositories_visible_to

    rows = [repository_document(each) for each in repositories_visible_to(HOST)]
    if arguments.output != "table":
        print_document(rows, arguments.output, stdout)
    elif rows:
        shown = [{**row, "head": str(row["head"])[:7]} for row in rows]
        print_rows(shown, ("name", "forge", "branch", "head", "url", "problem"), "table", stdout)
    else:
        stderr.write("No repository is added yet: flotilla repository add --help\n")
    return 0


def _refresh(arguments: argparse.Namespace, stderr: TextIO) -> int:
    from clusters_app.commands.on_server import actor, named
    from clusters_app.queries import HOST, repositories_visible_to
    from clusters_app.services.repositories import refresh_repository

    refresh_repository(repository=named(repositories_visible_to(HOST), arguments.name), actor=actor())
    stderr.write(f"A worker looks at {arguments.name} as soon as it is free.\n")
    return 0
