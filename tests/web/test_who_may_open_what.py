"""Who gets which page: strangers, readers, people of one environment, and methods that a page does not take."""

import pytest
from django.test import Client

from clusters_app.models import AuditRecord, Cluster

from .conftest import ClientOf

pytestmark = pytest.mark.django_db

FORMS = (
    "/clusters/register/",
    "/clusters/prod-d/remove/",
    "/clusters/prod-d/token/",
    "/repositories/add/",
    "/repositories/fleet/scaffold/",
    "/settings/environments/",
    "/settings/people/",
    "/apps/web/promote/?from=staging&to=prod",
)
ACTS = (
    "/clusters/prod-d/refresh/",
    "/repositories/fleet/refresh/",
    "/repositories/fleet/reviews/221/merge/",
    "/repositories/fleet/reviews/221/close/",
    "/promotions/1/abort/",
    "/promotions/1/retry/",
    "/settings/environments/dev/remove/",
    "/settings/people/1/remove/",
)
READ = ("/", "/problems/", "/apps/", "/promotions/", "/clusters/prod-d/", "/repositories/fleet/")


@pytest.mark.parametrize("page", [*READ, *FORMS, *ACTS])
def test_a_stranger_is_sent_to_sign_in_and_comes_back_after_it(page: str) -> None:
    ask = Client().post if page in ACTS else Client().get
    response = ask(page)
    assert response.status_code == 302
    assert response["Location"].startswith("/sign-in/?next=/")


@pytest.mark.parametrize("page", FORMS)
def test_a_viewer_is_refused_forms(maria: Client, client_of: ClientOf, page: str) -> None:
    viewer = client_of("viewer")
    assert viewer.get(page).status_code == 403
    assert viewer.post(page).status_code == 403


@pytest.mark.parametrize("page", ACTS)
def test_a_viewer_is_refused_acts_and_it_is_recorded(maria: Client, client_of: ClientOf, page: str) -> None:
    assert client_of("viewer").post(page).status_code == 403
    assert AuditRecord.objects.filter(actor="viewer-everywhere", outcome="refused").exists()


def test_a_viewer_is_offered_no_act(maria: Client, client_of: ClientOf) -> None:
    viewer = client_of("viewer")
    for page in (*READ, "/promotions/1/", "/repositories/fleet/reviews/221/"):
        text = viewer.get(page).text
        main = text[text.index("<main") :]
        assert "<form method=" not in main, page
        assert "Promote →" not in main


@pytest.mark.parametrize("page", READ)
def test_a_reading_page_takes_no_post(maria: Client, page: str) -> None:
    response = maria.post(page)
    assert response.status_code == 405
    assert "GET" in response["Allow"]


@pytest.mark.parametrize("page", ACTS)
def test_an_act_is_not_done_by_looking(maria: Client, page: str) -> None:
    assert maria.get(page).status_code == 405


def test_another_environment_s_things_look_absent(maria: Client, client_of: ClientOf) -> None:
    developer = client_of("developer", "dev")
    assert developer.get("/clusters/dev/").status_code == 200
    assert "prod-d" not in developer.get("/").text
    for page in (
        "/clusters/prod-d/",
        "/clusters/prod-d/Kustomization/flux-system/search/",
        "/promotions/1/",
        "/clusters/nowhere/",
    ):
        assert developer.get(page).status_code == 404, page
    assert "prod-d" not in developer.get("/search/?q=prod").text


def test_a_right_in_one_environment_is_none_in_another(maria: Client, client_of: ClientOf) -> None:
    operator = client_of("operator", "staging")
    assert operator.post("/clusters/staging-eu/refresh/").status_code == 302
    assert operator.post("/clusters/prod-d/refresh/").status_code == 404
    assert operator.post("/repositories/fleet/reviews/221/merge/").status_code == 404


def test_a_cluster_is_not_removed_by_who_may_only_operate(maria: Client, client_of: ClientOf) -> None:
    assert client_of("operator").post("/clusters/prod-d/remove/", {"confirm": "prod-d"}).status_code == 403
    assert Cluster.objects.filter(name="prod-d").exists()


def test_another_person_s_token_looks_absent(maria: Client, client_of: ClientOf) -> None:
    maria.post("/settings/tokens/", {"name": "ci", "scopes": ["view"], "days": 1})
    assert client_of("admin").post("/settings/tokens/1/revoke/").status_code == 404
