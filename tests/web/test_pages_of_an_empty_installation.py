"""Every page answers before anything was set up, and says what to do next."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from clusters_app.models import Membership

pytestmark = pytest.mark.django_db

PAGES = [
    "/",
    "/?view=grid&standing=failing",
    "/problems/",
    "/apps/",
    "/promotions/",
    "/repositories/",
    "/repositories/add/",
    "/clusters/register/",
    "/activity/",
    "/settings/",
    "/settings/environments/",
    "/settings/people/",
    "/settings/tokens/",
    "/system/",
    "/search/?q=web",
    "/account/",
]


@pytest.fixture
def admin() -> Client:
    user = User.objects.create(username="maria")
    Membership.objects.create(user=user, role="admin")
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize("page", PAGES)
def test_it_answers_an_administrator(admin: Client, page: str) -> None:
    response = admin.get(page)
    assert response.status_code == 200
    assert "<main" in response.text


@pytest.mark.parametrize("page", PAGES)
def test_it_sends_a_stranger_to_sign_in(page: str) -> None:
    response = Client().get(page)
    assert response.status_code == 302
    assert response["Location"].startswith("/sign-in/")


def test_the_fleet_page_names_the_three_first_steps(admin: Client) -> None:
    text = admin.get("/").text
    for step in ("/settings/environments/", "/repositories/add/", "/clusters/register/"):
        assert step in text


def test_a_fragment_is_the_page_without_its_frame(admin: Client) -> None:
    response = admin.get("/", headers={"HX-Request": "true"})
    assert response.status_code == 200
    assert "<html" not in response.text
    assert "<h1>" in response.text


def test_pages_forbid_inline_script(admin: Client) -> None:
    policy = admin.get("/")["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe-inline" not in policy
