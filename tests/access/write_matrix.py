"""Not a test of its own: `python -m tests.access` runs it to write `matrix.txt`."""

import pytest

from tests.access import matrix
from tests.access.world import World


@pytest.mark.usefixtures("unrendered")
def test_write(world: World) -> None:
    matrix.FILE.write_text(matrix.written(world), encoding="utf-8")
