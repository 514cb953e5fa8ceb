"""Register clusters, list, show and remove them; print the manifest of the read role.

Adding checks the connection line by line, with a remedy for what is wrong, and registers only what passed. The token
comes from stdin or a file, never from the command line, which every process of the machine can read.
"""

import argparse
from typing import TYPE_CHECKING, TextIO

from clusters_app.commands.output import Row, Value, add_format, print_document, print_rows
from clusters_app.commands.status import label
from clusters_app.commands.verbs import add_verb, add_verbs

if TYPE_CHECKING:
    from clusters_app.services.clusters import Registration

EXAMPLE = "flotilla cluster manifest | kubectl apply -f -"

_ADD = (
    "kubectl create token flotilla-reader -n flotilla-system --duration 8760h |\n"
    "    flotilla cluster add prod-a --environment prod --repository fleet --sync-path clusters/prod-a \\\n"
    "      --server https://prod-a.example.com:6443 --ca ca.crt"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = add_verbs(parser)
    _add_add(add_verb(verbs, "add", "Check a cluster line by line and register it", _ADD))
    listing = add_verb(verbs, "list", "List the clusters", "flotilla cluster list --environment prod -o json")
    listing.add_argument("--environment", default="", help="only this one")
    listing.add_argument("--label", action="append", default=[], type=label, metavar="KEY=VALUE", help="repeatable")
    listing.add_argument("-q", dest="text", default="", metavar="TEXT", help="part of a name or sync path")
    add_format(listing)
    show = add_verb(verbs, "show", "Show how a cluster stands", "flotilla cluster show prod-a")
    show.add_argument("name")
    add_format(show)
    remove = add_verb(verbs, "remove", "Forget a cluster and its credential", "flotilla cluster remove prod-a")
    remove.add_argument("name")
    remove.add_argument("--yes", action="store_true", help="do not ask for the name again")
    manifest = add_verb(verbs, "manifest", "Print the read role, to be applied on a cluster", EXAMPLE)
    manifest.add_argument("--token-secret", action="store_true", help="with a Secret whose token does not expire")


def _add_add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name")
    parser.add_argument("--environment", required=True)
    parser.add_argument("--repository", required=True, help="what the cluster follows")
    parser.add_argument("--sync-path", required=True, metavar="PATH", help="directory that Flux starts from there")
    parser.add_argument("--label", action="append", default=[], type=label, metavar="KEY=VALUE", help="repeatable")
    parser.add_argument("--server", default="", metavar="URL", help="address of the API server")
    parser.add_argument("--ca", metavar="FILE", help="the certificate authority of the API server, PEM")
    parser.add_argument("--tls-server-name", default="", metavar="NAME", help="the name in its certificate")
    parser.add_argument("--token-file", default="-", metavar="FILE", help="the token; default: stdin")
    parser.add_argument("--kubeconfig", metavar="FILE", help="instead of server, CA and token; - for stdin")
    parser.add_argument("--context", default="", metavar="NAME", help="the context of the kubeconfig")
    parser.add_argument(
        "--accept-reason", default="", metavar="TEXT", help="why a token may do too much; a badge says it"
    )
    add_format(parser)


def loads_django(arguments: argparse.Namespace) -> bool:
    return bool(arguments.verb != "manifest")


def run(arguments: argparse.Namespace, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """0 done, 1 refused."""
    verbs = {"add": _run_add, "list": _run_list, "show": _run_show, "remove": _run_remove, "manifest": _run_manifest}
    return verbs[arguments.verb](arguments, stdin, stdout, stderr)


def _run_manifest(arguments: argparse.Namespace, _stdin: TextIO, stdout: TextIO, _stderr: TextIO) -> int:
    from clusters_app.kube.manifest import read_role_manifest

    stdout.write(read_role_manifest(has_token_secret=arguments.token_secret))
    return 0


def _run_add(arguments: argparse.Namespace, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    from clusters_app.commands.on_server import actor, do_here
    from clusters_app.models import Operation
    from clusters_app.services.clusters import register_cluster

    registration = _registration(arguments, stdin, stderr)
    operation = do_here(register_cluster(registration=registration, actor=actor()), stderr)
    if operation.state != Operation.State.DONE:
        return 1
    stderr.write(f"{arguments.name} is registered.\n")
    return _show(arguments.name, arguments.output, stdout)


def _registration(arguments: argparse.Namespace, stdin: TextIO, stderr: TextIO) -> "Registration":
    from clusters_app.commands.on_server import environment_named, named, read_secret, read_text
    from clusters_app.queries import HOST, repositories_visible_to
    from clusters_app.services.clusters import Registration

    environment = environment_named(arguments.environment)
    repository = named(repositories_visible_to(HOST), arguments.repository)
    kubeconfig = read_text(arguments.kubeconfig, stdin) if arguments.kubeconfig else ""
    return Registration(
        name=arguments.name,
        environment=environment,
        repository=repository,
        sync_path=arguments.sync_path,
        server=arguments.server,
        ca_pem=read_text(arguments.ca, stdin) if arguments.ca else "",
        tls_server_name=arguments.tls_server_name,
        token=read_secret(arguments.token_file, stdin, stderr) if not kubeconfig else None,
        kubeconfig=kubeconfig,
        context=arguments.context,
        labels=dict(arguments.label),
        accept_reason=arguments.accept_reason,
    )


def _run_list(arguments: argparse.Namespace, _stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    from django.utils import timezone

    from clusters_app.commands.documents import cluster_document
    from clusters_app.commands.on_server import environment_named
    from clusters_app.queries import HOST
    from clusters_app.queries.fleet import Filters, fleet_board

    if arguments.environment:
        environment_named(arguments.environment)
    filters = Filters(environment=arguments.environment, text=arguments.text, labels=dict(arguments.label))
    board = fleet_board(HOST, timezone.now(), filters)
    rows = [cluster_document(row) for group in board.groups for row in group.rows]
    if arguments.output != "table":
        print_document(rows, arguments.output, stdout)
    elif rows:
        columns = ("environment", "name", "repository", "sync_path", "labels", "server")
        print_rows([{**row, "labels": _words(row["labels"])} for row in rows], columns, "table", stdout)
    else:
        stderr.write("No cluster.\n")
    return 0


def _words(labels: Value) -> list[str]:
    return [f"{key}={value}" for key, value in sorted(labels.items())] if isinstance(labels, dict) else []


def _run_show(arguments: argparse.Namespace, _stdin: TextIO, stdout: TextIO, _stderr: TextIO) -> int:
    return _show(arguments.name, arguments.output, stdout)


def _show(name: str, output: str, stdout: TextIO) -> int:
    from django.utils import timezone

    from clusters_app.commands.documents import cluster_document
    from clusters_app.commands.on_server import named
    from clusters_app.queries import HOST, clusters_visible_to
    from clusters_app.queries.fleet import cluster_row

    document = cluster_document(cluster_row(named(clusters_visible_to(HOST), name), timezone.now()))
    if output == "table":
        print_rows(list(_lines(document)), ("field", "value"), "table", stdout)
    else:
        print_document(document, output, stdout)
    return 0


def _lines(document: dict[str, Value]) -> list[Row]:
    """What is known, a line each; the status among the rest."""
    status = document["status"]
    flat = {**document, **(status if isinstance(status, dict) else {})}
    del flat["status"]
    shown: dict[str, Value] = {
        name: _words(value) if isinstance(value, dict) else value for name, value in flat.items()
    }
    return [{"field": name, "value": value} for name, value in shown.items() if value not in (None, "", [])]


def _run_remove(arguments: argparse.Namespace, stdin: TextIO, _stdout: TextIO, stderr: TextIO) -> int:
    from clusters_app.commands.on_server import actor, named
    from clusters_app.queries import HOST, clusters_visible_to
    from clusters_app.services.clusters import remove_cluster

    cluster = named(clusters_visible_to(HOST), arguments.name)
    if not arguments.yes:
        stderr.write(
            f"Its credential and history are forgotten, the cluster is left alone. Type {cluster} to remove it: "
        )
        stderr.flush()
        if stdin.readline().strip() != cluster.name:
            stderr.write("Nothing was removed.\n")
            return 1
    remove_cluster(cluster=cluster, actor=actor())
    stderr.write(f"{arguments.name} is removed.\n")
    return 0
