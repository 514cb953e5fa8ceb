"""Say what is wrong with a Flux repository: findings with file, line and remedy. Needs no server and no network.

A comment `# flotilla:ignore ID reason` in the line, or in the one above, suppresses a finding.
"""

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from clusters_app.commands.output import Row, Tone, Value, add_format, print_document, print_rows

if TYPE_CHECKING:
    from clusters_app.repo.lint import Finding

EXAMPLE = "flotilla lint . -o json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, metavar="DIR", help="a directory that holds the repository")
    add_format(parser)


def run(arguments: argparse.Namespace, _stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """0 when nothing is an error, 1 when something is, 2 when there is no such directory."""
    from clusters_app.repo.lint import Severity, lint
    from clusters_app.repo.tree import DirectoryTree

    if not arguments.directory.is_dir():
        stderr.write(f"{arguments.directory}: no such directory\n")
        return 2
    findings = lint(DirectoryTree(arguments.directory))
    rows = [_row(each) for each in findings]
    counts: dict[str, Value] = {str(each): 0 for each in Severity}
    counts.update(Counter(str(each.severity) for each in findings))
    if arguments.output == "table":
        print_rows(rows, ["severity", "id", "file", "line", "message"], "table", stdout, _tone)
    else:
        print_document({"findings": rows, "counts": counts}, arguments.output, stdout)
    return 1 if counts["error"] else 0


def _row(finding: "Finding") -> Row:
    return {
        "id": finding.id,
        "severity": str(finding.severity),
        "file": finding.file,
        "line": finding.line,
        "object": finding.object,
        "message": finding.message,
        "remedy": finding.remedy,
        "link": finding.link,
    }


def _tone(column: str, value: Value) -> Tone | None:
    return {"error": Tone.BAD, "warning": Tone.WARNING}.get(str(value)) if column == "severity" else None
