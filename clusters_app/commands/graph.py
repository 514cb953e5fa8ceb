"""Say what a Flux repository describes: environments, clusters, apps, and which cluster reaches which file.

The graph is found by walking from every cluster's sync path; directory names are hints only. Needs no server.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from clusters_app.commands.output import Row, Value, add_format, print_document, print_rows

if TYPE_CHECKING:
    from clusters_app.repo.graph import FleetGraph

EXAMPLE = "flotilla graph . -o json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, metavar="DIR", help="a directory that holds the repository")
    add_format(parser)


def run(arguments: argparse.Namespace, _stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """0 when the graph was printed, 2 when there is no such directory."""
    from clusters_app.repo.graph import build_graph
    from clusters_app.repo.tree import DirectoryTree

    if not arguments.directory.is_dir():
        stderr.write(f"{arguments.directory}: no such directory\n")
        return 2
    document = graph_document(build_graph(DirectoryTree(arguments.directory)))
    if arguments.output == "table":
        _print_tables(document, stdout)
    else:
        print_document(document, arguments.output, stdout)
    return 0


def graph_document(graph: "FleetGraph") -> dict[str, Value]:
    """The contract for scripts; `docs/schemas/graph.json` describes it."""
    return {
        "environments": [{"name": each.name, "order_certain": each.order_certain} for each in graph.environments],
        "clusters": [
            {"name": each.name, "environment": each.environment, "path": each.path or ".", "evidence": each.evidence}
            for each in graph.clusters
        ],
        "apps": [
            {"name": app.name, "environments": {name: places[0].path for name, places in app.environments.items()}}
            for app in graph.apps
        ],
        "files": {
            path: {"environments": reach.environments, "clusters": reach.clusters}
            for path, reach in graph.files.items()
        },
        "counterparts": graph.counterparts,
        "unreferenced": graph.unreferenced,
        "unknown": [
            {"what": each.what, "why": each.why, "file": each.file, "line": each.line} for each in graph.unknown
        ],
    }


def _print_tables(document: dict[str, Value], stdout: TextIO) -> None:
    print_rows(_rows(document["clusters"]), ["environment", "name", "path", "evidence"], "table", stdout)
    stdout.write("\n")
    apps = [{"name": row["name"], **_mapping(row["environments"])} for row in _rows(document["apps"])]
    order = [str(row["name"]) for row in _rows(document["environments"])]
    print_rows(apps, ["name", *order], "table", stdout)
    unknown = _rows(document["unknown"])
    if unknown:
        stdout.write("\n")
        print_rows(unknown, ["what", "why", "file", "line"], "table", stdout)


def _rows(found: Value) -> list[Row]:
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def _mapping(found: Value) -> dict[str, Value]:
    return dict(found) if isinstance(found, dict) else {}
