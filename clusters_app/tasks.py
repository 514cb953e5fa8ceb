"""Celery: each task loads by id and calls one service. All may run twice, late or never; the sweeps repair that.

`SCHEDULE` is beat's whole plan, in seconds. Every sweep only finds what is due and nudges, so it is cheap when idle.
"""

from typing import Final

from celery import shared_task

from clusters_app.services import following, observing, operations, syncing
from clusters_app.services.nudges import nudge
from clusters_app.services.promotions import advancing, opening
from clusters_app.services.work import do_work

SCHEDULE: Final[dict[str, float]] = {
    "clusters_app.tasks.observe_due": 2.0,
    "clusters_app.tasks.sync_due": 2.0,
    "clusters_app.tasks.advance_due": 3.0,
    "clusters_app.tasks.run_due_operations": 15.0,
    "clusters_app.tasks.forget_old": 3600.0,
}


@shared_task(queue="default", expires=10)
def observe_due() -> None:
    for batch in observing.claim_due_clusters():
        nudge("observe_clusters", batch)


@shared_task(queue="observe")
def observe_clusters(cluster_ids: list[int]) -> None:
    observing.observe_clusters(cluster_ids=cluster_ids)


@shared_task(queue="git")
def follow_clusters(cluster_ids: list[int]) -> None:
    following.follow_clusters(cluster_ids=cluster_ids)


@shared_task(queue="default", expires=10)
def sync_due() -> None:
    for repository_id in syncing.due_repositories():
        nudge("sync_repository", repository_id)


@shared_task(queue="git")
def sync_repository(repository_id: int) -> None:
    syncing.sync_repository(repository_id=repository_id)


@shared_task(queue="default", expires=10)
def advance_due() -> None:
    for promotion_id in advancing.due_promotions():
        nudge("advance_promotion", promotion_id)


@shared_task(queue="git")
def advance_promotion(promotion_id: int) -> None:
    advancing.advance_promotion(promotion_id=promotion_id)


@shared_task(queue="git")
def close_pull_request(promotion_id: int) -> None:
    opening.close_pull_request(promotion_id=promotion_id)


@shared_task(queue="default", expires=30)
def run_due_operations() -> None:
    for operation_id in operations.due_operations():
        nudge("run_operation", operation_id)


@shared_task(queue="git")
def run_operation(operation_id: int) -> None:
    operations.run_operation(operation_id=operation_id, work=do_work)


@shared_task(queue="default", expires=600)
def forget_old() -> None:
    observing.forget_old()
