"""Commands that have verbs of their own, such as `cluster add` and `cluster list`."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    type Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add_verbs(parser: argparse.ArgumentParser) -> "Verbs":
    """The verbs of a command; the chosen one is read back as `arguments.verb`."""
    return parser.add_subparsers(dest="verb", metavar="VERB", required=True, title="verbs")


def add_verb(verbs: "Verbs", name: str, summary: str, example: str) -> argparse.ArgumentParser:
    """One verb with its own `--help`, which ends with an example."""
    return verbs.add_parser(
        name,
        help=summary,
        description=f"{summary}.",
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,  # --token is not --token-file
    )
