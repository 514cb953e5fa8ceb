"""Telling a worker that something is due. The database remembers what; a nudge that is lost only costs some seconds."""

import logging

from celery import current_app

logger = logging.getLogger(__name__)

#: Which queue works on what: `clusters_app.tasks` holds a task of each name.
QUEUES = {
    "run_operation": "git",
    "observe_clusters": "observe",
    "follow_clusters": "git",
    "sync_repository": "git",
    "advance_promotion": "git",
    "close_pull_request": "git",
}


def nudge(task: str, *arguments: object, seconds: float = 0) -> None:
    """Ask for `clusters_app.tasks.<task>(*arguments)`, `seconds` from now. Never inside a transaction; never raises."""
    try:
        current_app.send_task(
            f"clusters_app.tasks.{task}",
            args=arguments,
            queue=QUEUES[task],
            ignore_result=True,
            countdown=seconds or None,
        )
    except Exception:  # noqa: BLE001  whatever the broker's client raises, the sweep does the work later
        logger.warning("The broker did not take a nudge for %s; the sweep will find the work.", task)
