"""The rules for everything that leaves this installation, built once from the settings."""

from functools import cache

from django.conf import settings

from clusters_app.egress import Policy


@cache
def policy() -> Policy:
    """Which addresses may be reached; PolicyError (also a system check) when the settings are wrong."""
    return Policy.from_settings(settings.FLOTILLA_EGRESS)
