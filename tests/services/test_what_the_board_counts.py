"""The roll-up of a cluster: what fails, what only waits, and what is no problem at all."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from clusters_app.models import Cluster, ClusterStatus, Membership
from clusters_app.queries.problems import count_of_problems
from clusters_app.services.observing import observe_clusters
from tests.testbed.fake_api import FakeCluster
from tests.testbed.fake_api.objects import flux_object

pytestmark = pytest.mark.django_db(transaction=True)

type Register = Callable[[FakeCluster], Cluster]


def unready(name: str, reason: str, message: str) -> dict[str, Any]:
    document = flux_object("Kustomization", "flux-system", name)
    for condition in document["status"]["conditions"]:
        if condition["type"] == "Ready":
            condition |= {"status": "False", "reason": reason, "message": message}
    return document


def status_after_a_round(register: Register, *documents: dict[str, Any]) -> ClusterStatus:
    fake = FakeCluster("c-1")
    for document in documents:
        fake.put("Kustomization", document)
    cluster = register(fake)
    observe_clusters(cluster_ids=[cluster.pk])
    return ClusterStatus.objects.get(cluster=cluster)


@pytest.fixture
def admin(db: None) -> User:
    user = User.objects.create(username="admin")
    Membership.objects.create(user=user, environment=None, role=Membership.Role.ADMIN)
    return user


def test_what_waits_for_a_failing_object_is_counted_under_it(register: Register, admin: User) -> None:
    status = status_after_a_round(
        register,
        unready("apps", "DependencyNotReady", "dependency 'flux-system/infra' is not ready"),
        unready("infra", "BuildFailed", "kustomize build failed"),
    )
    assert (status.counts["failing"], status.counts["waiting"]) == (1, 1)
    assert status.cause_object == "Kustomization/flux-system/infra"
    assert count_of_problems(admin) == 1


def test_what_waits_for_an_object_that_does_not_exist_fails_itself(register: Register, admin: User) -> None:
    message = (
        "unable to get 'flux-system/gone' dependency: kustomizations.kustomize.toolkit.fluxcd.io \"gone\" not found"
    )
    status = status_after_a_round(register, unready("apps", "DependencyNotReady", message))
    assert status.counts == {"failing": 1, "total": 1}
    assert "Kustomization/flux-system/gone, which does not exist" in status.cause
    assert count_of_problems(admin) == 1


def test_a_kind_that_is_not_installed_is_no_problem_of_a_cluster(register: Register, admin: User) -> None:
    status = status_after_a_round(register, flux_object("Kustomization", "flux-system", "apps"))
    assert (status.connection, status.problem_code, status.problem) == ("Connected", "", "")
    assert count_of_problems(admin) == 0
