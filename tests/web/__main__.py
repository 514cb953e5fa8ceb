"""`python -m tests.web MORE_CLUSTERS`: fill the database that the environment names, and print a session key for it."""

import os
import sys

import django


def main(more_clusters: int) -> str:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fleet.settings")
    django.setup()
    from django.core.management import call_command
    from django.test import Client
    from django.utils import timezone

    from tests.web.fleet_rows import fill

    call_command("migrate", verbosity=0)
    client = Client()
    client.force_login(fill(timezone.now(), more_clusters=more_clusters))
    return client.cookies["sessionid"].value


if __name__ == "__main__":
    print(main(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
