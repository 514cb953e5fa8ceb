"""The Celery application; what it does is configured in the settings and written in `clusters_app/tasks.py`."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fleet.settings")

app = Celery("flotilla")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["clusters_app"])
