"""What holds for every test: the testbed's servers, how much is tried, and which worker runs what."""

import os

import pytest
from hypothesis import settings

pytest_plugins = ["tests.testbed.fixtures"]

# No deadlines: a busy machine is no defect. `make test` tries more than the edit loop can wait for.
settings.register_profile("quick", max_examples=40, deadline=None)
settings.register_profile("full", max_examples=400, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on real servers share these servers and both cores: one worker runs them all, one after the other."""
    for item in items:
        if item.get_closest_marker("testbed"):
            item.add_marker(pytest.mark.xdist_group("testbed"))
