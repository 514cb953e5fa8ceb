"""The world is a fixture, and refusals by the thousand are not worth a line of the log each."""

import logging

import pytest

from tests.access.world import fleet_on_disk, pristine, sent, world

__all__ = ["fleet_on_disk", "pristine", "sent", "world"]


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "django.request")
