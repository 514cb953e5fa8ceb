"""Commands."""

import os
import sys


def main(arguments: list[str] | None = None, program: str = "flotilla") -> int:
    """Run one command; the exit code."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fleet.settings")
    from django.core.management import execute_from_command_line

    words = sys.argv[1:] if arguments is None else arguments
    execute_from_command_line([program, *words])
    return 0
