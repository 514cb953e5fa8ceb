"""Lay out a repository for a fleet: environments, clusters, apps, from the answers in a file.

The answers have the form of `.flotilla/fleet.yaml`; a directory that has one needs no --answers. Files that are there
already stay as they are, and a second run writes nothing.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from clusters_app.commands.output import add_format, print_document, print_rows

if TYPE_CHECKING:
    from clusters_app.repo.model import FleetModel
    from clusters_app.repo.scaffold import ScaffoldPlan

EXAMPLE = "flotilla scaffold fleet/ --answers answers.yaml --dry-run"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "directory", type=Path, metavar="DIR", help="a directory that holds (or will hold) the repository"
    )
    parser.add_argument("--answers", type=Path, metavar="FILE", help="YAML or JSON; - reads standard input")
    parser.add_argument("--dry-run", action="store_true", help="say what would be written, write nothing")
    add_format(parser)


def run(arguments: argparse.Namespace, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """0 when all is in place, 1 when a file was changed by hand and stays, 2 for answers that cannot be used."""
    from clusters_app.repo.model import ModelError
    from clusters_app.repo.scaffold import plan_scaffold
    from clusters_app.repo.tree import DirectoryTree, MemoryTree, TreeError

    tree = DirectoryTree(arguments.directory) if arguments.directory.is_dir() else MemoryTree({})
    try:
        model = _answers(arguments, stdin)
        plan = plan_scaffold(tree, model)
        if not arguments.dry_run:
            _write(arguments.directory, plan.files)
    except (ModelError, TreeError, OSError) as error:
        stderr.write(f"{error}\n")
        return 2
    _report(arguments, model, plan, stdout)
    return 1 if plan.conflicts else 0


def _answers(arguments: argparse.Namespace, stdin: TextIO) -> "FleetModel":
    from clusters_app.repo.model import MODEL_PATH, parse_model

    if arguments.answers is None:
        return parse_model((arguments.directory / MODEL_PATH).read_bytes())
    return parse_model(stdin.read().encode() if str(arguments.answers) == "-" else arguments.answers.read_bytes())


def _write(directory: Path, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def _report(arguments: argparse.Namespace, model: "FleetModel", plan: "ScaffoldPlan", stdout: TextIO) -> None:
    from clusters_app.repo.scaffold import bootstrap_commands

    rows = [{"file": path, "action": "write"} for path in plan.files]
    rows += [{"file": path, "action": "changed by hand: kept"} for path in plan.conflicts]
    commands = bootstrap_commands(model)
    if arguments.output != "table":
        print_document({"files": rows, "bootstrap": commands}, arguments.output, stdout)
        return
    if rows:
        print_rows(rows, ["action", "file"], "table", stdout)
    else:
        stdout.write("Nothing to write.\n")
    stdout.writelines(f"\n# bootstrap {name}\n{command}\n" for name, command in commands.items())
