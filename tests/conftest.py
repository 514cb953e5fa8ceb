"""What holds for every test: the testbed's servers, and how much properties try."""

import os

from hypothesis import settings

pytest_plugins = ["tests.testbed.fixtures"]

# No deadlines: a busy machine is no defect. `make test` tries more than the edit loop can wait for.
settings.register_profile("quick", max_examples=40, deadline=None)
settings.register_profile("full", max_examples=400, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
