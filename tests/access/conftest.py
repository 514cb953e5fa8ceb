"""The world is a fixture, and refusals by the thousand are not worth a line of the log each."""

import logging

import pytest

from tests.access.world import fleet_on_disk, pristine, sent, world

__all__ = ["fleet_on_disk", "pristine", "sent", "world"]


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "django.request")


@pytest.fixture
def unrendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Views run to their end, templates do not: what a page looks like is not asked here, two thousand times."""
    monkeypatch.setattr("django.template.backends.django.Template.render", lambda *_arguments, **_more: "")
