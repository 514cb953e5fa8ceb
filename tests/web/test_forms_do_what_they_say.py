"""Each form and button: what it changes, and that bad input comes back with the form and a reason."""

from typing import Any

import pytest
from django.test import Client

from clusters_app.models import (
    APIToken,
    AuditRecord,
    Cluster,
    Credential,
    Environment,
    Membership,
    Operation,
    Promotion,
    Repository,
)

pytestmark = pytest.mark.django_db

REGISTER = {
    "name": "prod-z",
    "environment": "prod",
    "repository": "fleet",
    "sync_path": "clusters/prod/prod-z",
    "server": "https://10.0.0.9:6443",
    "token": "flotilla-token",
}
REPOSITORY = {"name": "other", "url": "https://git.example/other.git", "branch": "main", "token": "secret-token"}
BAD: dict[str, dict[str, Any]] = {
    "/clusters/register/": {**REGISTER, "name": "Prod Z"},
    "/clusters/register/?no-server": {**REGISTER, "server": ""},
    "/clusters/register/?twin": {**REGISTER, "sync_path": "clusters/prod/prod-d"},
    "/clusters/register/?kubeconfig": {**REGISTER, "kubeconfig": "not: a kubeconfig"},
    "/repositories/add/": {**REPOSITORY, "name": "Not A Name"},
    "/repositories/add/?url": {**REPOSITORY, "url": "ftp://git.example/other.git"},
    "/repositories/fleet/scaffold/": {"environments": "dev", "clusters": "only-a-name", "apps": ""},
    "/repositories/fleet/scaffold/?json": {"answers": "{not json"},
    "/settings/environments/": {"name": "Not A Name"},
    "/settings/people/": {"username": "ivan", "role": "king"},
    "/settings/tokens/": {"name": "", "scopes": ["view"], "days": 1},
    "/settings/tokens/?scope": {"name": "ci", "scopes": ["everything"], "days": 1},
    "/clusters/prod-d/remove/": {"confirm": "prod-e"},
    "/clusters/prod-d/token/": {"token": ""},
    "/account/": {"password": "123"},
}


@pytest.mark.parametrize("page", BAD)
def test_bad_input_comes_back_with_the_form_and_a_reason(maria: Client, page: str) -> None:
    before = (
        Cluster.objects.count(),
        Repository.objects.count(),
        Operation.objects.count(),
        Membership.objects.count(),
    )
    response = maria.post(page, BAD[page])
    assert response.status_code == 422
    assert 'role="alert"' in response.text
    for key in ("name", "username", "sync_path"):
        if value := BAD[page].get(key):
            assert f'value="{value}"' in response.text, "what was typed is kept"
    assert "secret-token" not in response.text
    assert "flotilla-token" not in response.text or page.startswith("/clusters/register/")
    after = (Cluster.objects.count(), Repository.objects.count(), Operation.objects.count(), Membership.objects.count())
    assert after == before


def test_registering_starts_a_check_that_is_watched(maria: Client) -> None:
    response = maria.post("/clusters/register/", REGISTER)
    operation = Operation.objects.get(kind="cluster.register")
    assert response["Location"] == operation.get_absolute_url()
    watched = maria.get(response["Location"])
    assert "Registering prod-z" in watched.text
    assert 'hx-trigger="every 1s"' in watched.text
    assert Credential.objects.filter(owner_kind="operation").count() == 1
    operation.state, operation.problem = "failed", "10.0.0.9:6443 refuses connections."
    operation.save()
    ended = maria.get(response["Location"], headers={"HX-Request": "true"})
    assert "hx-trigger" not in ended.text, "it stops asking when the work has ended"
    assert "refuses connections" in ended.text


def test_a_token_is_replaced_and_never_shown(maria: Client) -> None:
    response = maria.post("/clusters/prod-f/token/", {"token": "a-new-token"}, follow=True)
    assert "a-new-token" not in response.text
    assert Credential.objects.get(owner_kind="cluster").field == "token"


def test_a_cluster_is_read_now_and_forgotten(maria: Client) -> None:
    assert "is read again" in maria.post("/clusters/prod-d/refresh/", follow=True).text
    response = maria.post("/clusters/prod-d/remove/", {"confirm": "prod-d"}, follow=True)
    assert "is forgotten" in response.text
    assert not Cluster.objects.filter(name="prod-d").exists()
    assert "removed" in maria.get("/promotions/2/").text, "its part in the past is kept"


def test_adding_a_repository_starts_a_check(maria: Client) -> None:
    response = maria.post("/repositories/add/", REPOSITORY)
    assert response["Location"] == Operation.objects.get(kind="repository.add").get_absolute_url()
    assert "secret-token" not in str(Operation.objects.values())


def test_a_repository_is_read_now(maria: Client) -> None:
    assert "is read again" in maria.post("/repositories/fleet/refresh/", follow=True).text


def test_environments_are_added_ordered_and_removed(maria: Client) -> None:
    maria.post("/settings/environments/", {"name": "edge"})
    page = maria.get("/settings/environments/").text
    assert page.index("<b>prod</b>") < page.index("<b>edge</b>")
    maria.post("/settings/environments/", {"order": ["dev", "staging", "edge", "prod"]})
    assert list(Environment.objects.values_list("name", flat=True)) == ["dev", "staging", "edge", "prod"]
    maria.post("/settings/environments/edge/remove/")
    assert not Environment.objects.filter(name="edge").exists()
    refused = maria.post("/settings/environments/prod/remove/", follow=True)
    assert "still has clusters" in refused.text


def test_a_new_person_gets_a_link_that_signs_in(maria: Client) -> None:
    response = maria.post("/settings/people/", {"username": "ivan", "role": "viewer"})
    link = response.context["link"]
    assert link in response.text
    ivan = Client()
    assert ivan.post("/" + link.split("/", 3)[3]).status_code == 302
    assert ivan.get("/").status_code == 200
    assert ivan.get("/settings/people/").status_code == 403
    membership = Membership.objects.get(user__username="ivan")
    maria.post(f"/settings/people/{membership.pk}/remove/")
    assert not Membership.objects.filter(user__username="ivan").exists()


def test_the_last_administrator_stays(maria: Client) -> None:
    membership = Membership.objects.get(user__username="maria")
    refused = maria.post(f"/settings/people/{membership.pk}/remove/", follow=True)
    assert "is the last administrator" in refused.text


def test_a_token_is_shown_once_and_ends_when_it_is_revoked(maria: Client) -> None:
    response = maria.post("/settings/tokens/", {"name": "ci", "scopes": ["view"], "days": 30})
    value = response.context["value"]
    assert value in response.text
    assert value not in maria.get("/settings/tokens/").text
    assert Client().get("/api/v1/fleet", headers={"Authorization": f"Bearer {value}"}).status_code == 200
    maria.post(f"/settings/tokens/{APIToken.objects.get().pk}/revoke/")
    assert Client().get("/api/v1/fleet", headers={"Authorization": f"Bearer {value}"}).status_code == 401


def test_an_open_promotion_is_given_up_and_retried(maria: Client) -> None:
    conflict = Promotion.objects.get(state="Conflict")
    maria.post(f"/promotions/{conflict.pk}/retry/")
    conflict.refresh_from_db()
    assert conflict.problem == ""
    given_up = maria.post(f"/promotions/{Promotion.objects.get(state='Open').pk}/abort/", follow=True)
    assert "Given up" in given_up.text
    verified = Promotion.objects.get(state="Verified")
    assert "only an open one" in maria.post(f"/promotions/{verified.pk}/abort/", follow=True).text


def test_the_activity_shows_who_did_what(maria: Client) -> None:
    maria.post("/clusters/prod-d/refresh/")
    text = maria.get("/activity/").text
    assert "cluster.refresh" in text
    assert "prod-d" in text
    assert "cluster.refresh" not in maria.get("/activity/?verb=token").text
    assert AuditRecord.objects.filter(actor="maria").exists()
