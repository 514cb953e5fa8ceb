"""Filling an empty installation with the demo: the same services, and so the same rows, as when a person does it."""

import time
from collections.abc import Callable

from clusters_app.commands import demo_story as story
from clusters_app.secret import Secret

REPOSITORY = "fleet"
_PATIENCE_SECONDS = 120.0


class NotFilledError(Exception):
    """Why a step of filling did not come to its end."""


def is_empty() -> bool:
    from clusters_app.models import Cluster, Environment, Repository

    return not (Environment.objects.exists() or Repository.objects.exists() or Cluster.objects.exists())


def fill(*, url: str, ca_pem: str, server: Callable[[str], str], token: Callable[[str], str]) -> None:
    """Make environments, the repository and the clusters, each only where it is missing. Waits until all are there.

    Raises NotFilledError when a check refuses something, ServiceError when a service does.
    """
    from clusters_app.models import Cluster, Environment, Repository
    from clusters_app.services import clusters, environments, repositories
    from clusters_app.services.audit import SYSTEM

    for name in story.ENVIRONMENTS:
        if not Environment.objects.filter(name=name).exists():
            environments.create_environment(name=name, actor=SYSTEM)
    if not Repository.objects.filter(name=REPOSITORY).exists():
        _finish([repositories.add_repository(name=REPOSITORY, url=url, actor=SYSTEM).pk])
    repository = Repository.objects.get(name=REPOSITORY)
    known = set(Cluster.objects.values_list("name", flat=True))
    by_name = {environment.name: environment for environment in Environment.objects.all()}
    started = [
        clusters.register_cluster(
            registration=clusters.Registration(
                name=root.name,
                environment=by_name[root.environment],
                repository=repository,
                sync_path=root.path,
                server=server(root.name),
                ca_pem=ca_pem,
                token=Secret(token(root.name)),
            ),
            actor=SYSTEM,
        ).pk
        for root in story.roots()
        if root.name not in known
    ]
    _finish(started)


def _finish(operations: list[int]) -> None:
    """Do the work beside the workers, whoever takes a piece first, and wait for theirs."""
    from clusters_app.models import Operation
    from clusters_app.services.operations import run_operation
    from clusters_app.services.work import do_work

    for pk in operations:
        run_operation(operation_id=pk, work=do_work)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    waiting = Operation.objects.filter(pk__in=operations, state__in=[Operation.State.QUEUED, Operation.State.RUNNING])
    while waiting.exists():
        if time.monotonic() > deadline:
            raise NotFilledError("The workers did not finish the demo's registrations: see their logs.")
        time.sleep(0.3)
    failed = Operation.objects.filter(pk__in=operations, state=Operation.State.FAILED).first()
    if failed is not None:
        raise NotFilledError(f"{failed.kind} {failed.subject}: {failed.problem}")
