"""From an empty repository to a merged promotion by forms alone, on the `local` forge over a real bare repository."""

from pathlib import Path

import pygit2
import pytest
from django.contrib.auth.models import User
from django.http.response import HttpResponseBase
from django.test import Client
from django.utils import timezone

from clusters_app.models import (
    AppOnCluster,
    AppStage,
    Cluster,
    ClusterStatus,
    Environment,
    LocalPullRequest,
    Membership,
    Operation,
    Promotion,
    Repository,
)
from clusters_app.services import operations, syncing
from clusters_app.services.promotions import advancing
from clusters_app.services.work import do_work

pytestmark = pytest.mark.django_db(transaction=True)


class Desk:
    """A person at the pages of a real local repository; what workers would do is done on the spot."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.repository = Repository.objects.get()

    def work(self, response: HttpResponseBase) -> Operation:
        """Do the work that a form has led to."""
        assert response.status_code == 302
        operation = Operation.objects.get(pk=int(response.headers["Location"].strip("/").split("/")[-1]))
        operations.run_operation(operation_id=operation.pk, work=do_work)
        operation.refresh_from_db()
        assert operation.state == "done", operation.problem
        return operation

    def do_work(self) -> None:
        """What is queued, whichever way it ends."""
        for pk in operations.due_operations():
            operations.run_operation(operation_id=pk, work=do_work)

    def prove(self, environment: str) -> None:
        """A cluster of that environment reports all of its apps live."""
        where = Environment.objects.get(name=environment)
        cluster = Cluster.objects.create(name=environment, environment=where, repository=self.repository)
        ClusterStatus.objects.create(cluster=cluster, observed_at=timezone.now(), connection="Connected")
        for stage in AppStage.objects.filter(environment=where):
            AppOnCluster.objects.create(stage=stage, cluster=cluster, state="live", commit=stage.commit)

    def merge(self, number: int) -> None:
        head = LocalPullRequest.objects.get(number=number).head
        self.work(self.client.post(f"/repositories/fleet/reviews/{number}/merge/", {"head": head}))
        Repository.objects.update(due_at=None)
        syncing.sync_repository(repository_id=self.repository.pk)


@pytest.fixture
def desk(tmp_path: Path, transactional_db: None) -> Desk:
    remote = tmp_path / "fleet.git"
    pygit2.init_repository(str(remote), bare=True, initial_head="main")
    Repository.objects.create(name="fleet", url=f"file://{remote}", canonical_url=f"file://{remote}", forge="local")
    for position, name in enumerate(("dev", "staging"), start=1):
        Environment.objects.create(name=name, position=position)
    person = User.objects.create(username="maria")
    Membership.objects.create(user=person, role="admin")
    client = Client()
    client.force_login(person)
    return Desk(client)


LISTS = {
    "environments": "dev\nstaging",
    "clusters": "dev dev\nstaging staging",
    "apps": "web registry.example/web:1.0.0",
}


def test_from_an_empty_repository_to_a_merged_promotion_by_forms_alone(desk: Desk) -> None:
    client = desk.client
    assert "The repository is empty" in client.get("/repositories/fleet/").text
    preview = client.post("/repositories/fleet/scaffold/preview/", LISTS)
    assert "clusters/dev/apps/web/version.yaml" in preview.text
    assert "image: registry.example/web:1.0.0" in preview.text
    scaffolded = desk.work(client.post("/repositories/fleet/scaffold/", LISTS))
    review = client.get("/repositories/fleet/reviews/1/")
    assert "clusters/staging/apps/web/version.yaml" in review.text
    desk.merge(scaffolded.result["pull_request"])
    assert AppStage.objects.filter(version="1.0.0").count() == 2
    newer = {**LISTS, "apps": "web registry.example/web:1.0.0\nshop oci://registry.example/charts/shop:0.3.0"}
    assert "shop" in client.post("/repositories/fleet/scaffold/preview/", newer).text
    again = client.post("/repositories/fleet/scaffold/", LISTS)
    assert again.status_code == 422
    assert "has all of it already" in again.text


def test_a_version_is_promoted_from_the_plan_to_the_merge(desk: Desk) -> None:
    client = desk.client
    desk.merge(desk.work(client.post("/repositories/fleet/scaffold/", LISTS)).result["pull_request"])
    _commit(desk, "clusters/dev/apps/web/version.yaml", b"web:1.0.0", b"web:1.1.0")
    page = "/apps/web/promote/"
    plan = client.get(f"{page}?from=dev&to=staging")
    assert plan.status_code == 200
    assert "1 value, 1 line" in plan.text
    assert "registry.example/web:1.1.0" in plan.text
    assert not Promotion.objects.exists(), "looking writes nothing"
    response = client.post(page, {"from": "dev", "to": "staging"})
    promotion = Promotion.objects.get()
    assert response["Location"] == promotion.get_absolute_url()
    advancing.advance_promotion(promotion_id=promotion.pk)
    promotion.refresh_from_db()
    assert f"/repositories/fleet/reviews/{promotion.pull_request_number}/" in client.get(response["Location"]).text
    assert promotion.pull_request_number is not None
    held = client.post(f"/repositories/fleet/reviews/{promotion.pull_request_number}/merge/", follow=True)
    desk.do_work()
    assert "nothing proves it" in client.get(held.redirect_chain[0][0]).text
    desk.prove("dev")
    desk.merge(promotion.pull_request_number)
    assert AppStage.objects.get(environment__name="staging").version == "1.1.0"
    assert "has all of it already" in client.post(page, {"from": "dev", "to": "staging"}, follow=True).text


def test_a_review_is_closed_and_a_merge_of_something_else_is_refused(desk: Desk) -> None:
    number = desk.work(desk.client.post("/repositories/fleet/scaffold/", LISTS)).result["pull_request"]
    desk.work(desk.client.post(f"/repositories/fleet/reviews/{number}/close/"))
    assert LocalPullRequest.objects.get().state == "closed"
    refused = desk.client.post(f"/repositories/fleet/reviews/{number}/merge/", follow=True)
    assert "is closed already" in refused.text


def _commit(desk: Desk, path: str, old: bytes, new: bytes) -> None:
    """Somebody pushes to main."""
    remote = pygit2.Repository(desk.repository.url.removeprefix("file://"))
    head = remote.revparse_single("main")
    assert isinstance(head, pygit2.Commit)
    index = pygit2.Index()
    index.read_tree(head.tree)
    blob = head.tree[path]
    assert isinstance(blob, pygit2.Blob)
    assert old in blob.data
    index.add(pygit2.IndexEntry(path, remote.create_blob(blob.data.replace(old, new)), pygit2.enums.FileMode.BLOB))
    who = pygit2.Signature("Anna", "anna@example.com")
    remote.create_commit("refs/heads/main", who, who, "Web 1.1.0", index.write_tree(remote), [head.id])
    Repository.objects.update(due_at=None)
    syncing.sync_repository(repository_id=desk.repository.pk)
