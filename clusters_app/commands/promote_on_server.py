"""`promote-env` without --dir: the promotion that the server opens, follows and proves. Django is loaded here."""

import argparse
from typing import TextIO


def run(arguments: argparse.Namespace, stdout: TextIO, stderr: TextIO) -> int:
    del arguments, stdout
    stderr.write("this installation plans promotions on a local clone: give --dir PATH\n")
    return 2
