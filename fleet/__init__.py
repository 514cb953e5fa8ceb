"""The project: settings and wiring, nothing else.

The Celery application is imported here so that `shared_task` finds its broker in every process that loads Django.
"""

from fleet.celery import app as celery_app

__all__ = ["celery_app"]
