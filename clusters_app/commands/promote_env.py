"""Carry a release of one or several apps from one environment to another.

On the server it opens a pull request and, with --wait, follows it until the release is live. With --dir it plans on a
local clone, without server or database, and edits its files: exactly the lines that carry the release; nothing is
committed. Several apps go together or not at all. What is open or live already is not opened again.
"""

import argparse
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from clusters_app.commands.output import add_format, print_document
from clusters_app.commands.plan_text import plan_text

if TYPE_CHECKING:
    from clusters_app.repo.flux_build import Render
    from clusters_app.repo.plan_model import Plan

EXAMPLE = "flotilla promote-env --app shop --from staging --to prod --wait"

REFUSED, USAGE = 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dir", type=Path, help="a local clone to plan on and to edit; without it the server is asked")
    parser.add_argument("--app", action="append", required=True, dest="apps", help="the app; may be repeated")
    parser.add_argument("--from", required=True, dest="source", metavar="ENVIRONMENT", help="where the release is")
    parser.add_argument("--to", required=True, dest="target", metavar="ENVIRONMENT", help="where it goes")
    parser.add_argument(
        "--answer", action="append", default=[], dest="answers", metavar="ID", help="carry what this asks"
    )
    parser.add_argument(
        "--repository", default="", metavar="NAME", help="of the app, where several have one of its name"
    )
    parser.add_argument("--wait", action="store_true", help="follow it until it is live; exit 1 when it ends otherwise")
    parser.add_argument("--dry-run", action="store_true", help="say the plan and change nothing")
    add_format(parser)


def loads_django(arguments: argparse.Namespace) -> bool:
    return arguments.dir is None


def run(arguments: argparse.Namespace, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """0 planned (and written) or nothing to do, 1 refused, 2 not a directory to plan on."""
    del stdin
    if arguments.dir is None:
        from clusters_app.commands import promote_on_server

        return promote_on_server.run(arguments, stdout, stderr)
    return _offline(arguments, stdout, stderr)


def _offline(arguments: argparse.Namespace, stdout: TextIO, stderr: TextIO) -> int:
    from clusters_app.repo.rules import RulesError

    if arguments.wait or arguments.repository:
        stderr.write("--wait and --repository are for the server; with --dir there is none\n")
        return USAGE
    if not arguments.dir.is_dir():
        stderr.write(f"{arguments.dir} is not a directory\n")
        return USAGE
    try:
        plan = _planned(arguments)
    except RulesError as error:
        stderr.write(f"{error}\n")
        return USAGE
    if not arguments.dry_run:
        write_files(arguments.dir, plan)
    if arguments.output == "table":
        stdout.write(_as_text(plan, stdout, is_dry=arguments.dry_run))
    else:
        print_document({**plan.as_json(), "hash": plan.hash}, arguments.output, stdout)
    return REFUSED if plan.refusals else 0


def _planned(arguments: argparse.Namespace) -> "Plan":
    from clusters_app.git.past import Past
    from clusters_app.repo.graph import build_graph
    from clusters_app.repo.plan import plan_promotion
    from clusters_app.repo.rules import read_rules
    from clusters_app.repo.tree import DirectoryTree

    tree = DirectoryTree(arguments.dir)
    return plan_promotion(
        tree,
        build_graph(tree),
        list(dict.fromkeys(arguments.apps)),
        arguments.source,
        arguments.target,
        rules=read_rules(tree),
        history=Past.of_clone(arguments.dir),
        answers=arguments.answers,
        render=_renderer(),
    )


def _renderer() -> "Render":
    from clusters_app.render import RenderError, render
    from clusters_app.repo.flux_build import RenderFailed
    from clusters_app.repo.tree import Tree

    def build(tree: Tree, path: str) -> str:
        try:
            return render(tree, path).text
        except RenderError as error:
            raise RenderFailed(str(error)) from error

    return build


def write_files(directory: Path, plan: "Plan") -> None:
    """Write what the plan says below a directory. Each file is replaced in one step and keeps its permissions."""
    for path, data in plan.files.items():
        file = directory / path
        if data is None:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            _replace(file, data)


def _replace(file: Path, data: bytes) -> None:
    mode = file.stat().st_mode & 0o777 if file.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".flotilla-")
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(data)
        Path(name).chmod(mode)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _as_text(plan: "Plan", stream: TextIO, *, is_dry: bool) -> str:
    text = plan_text(plan.as_json(), stream)
    if not plan.edits and not plan.refusals:
        return f"{text}nothing to promote\n"
    return f"{text}dry run: nothing was written\n" if is_dry and plan.edits else text
