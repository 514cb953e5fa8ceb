"""The Celery application; it is configured in the settings, and works in `clusters_app/tasks.py`."""

import os
from importlib.util import find_spec
from typing import Any

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fleet.settings")

app = Celery("flotilla")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["clusters_app"])


@app.on_after_finalize.connect
def schedule_ticks(sender: Any, **_: object) -> None:
    """What beat sends, and how often. A tick that finds its predecessor waiting expires rather than pile up."""
    if not find_spec("clusters_app.tasks"):
        return
    from clusters_app.tasks import SCHEDULE

    sender.conf.beat_schedule = {
        name: {"task": name, "schedule": seconds, "options": {"expires": seconds}} for name, seconds in SCHEDULE.items()
    }
