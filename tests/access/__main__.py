"""`python -m tests.access` writes `matrix.txt` anew, to be reviewed and committed."""

import sys

import pytest

if __name__ == "__main__":
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "tests/access/write_matrix.py"]))
