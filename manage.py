#!/usr/bin/env python
"""The same commands as the console script `flotilla`, from a checkout."""

import sys

from clusters_app.cli import main

if __name__ == "__main__":
    sys.exit(main(program="manage.py"))
