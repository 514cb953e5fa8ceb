"""Signing in: the first link, passwords, limits on guessing, and what the browser is told to remember."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from clusters_app.models import Membership, SignInLink
from clusters_app.services import accounts

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


def path_of(link: str | None) -> str:
    assert link
    return "/" + link.split("/", 3)[3]


def test_the_first_link_makes_an_administrator_once() -> None:
    path = path_of(accounts.first_run_link())
    first = Client()
    assert first.get(path).status_code == 200, "looking uses nothing up"
    response = first.post(path)
    assert (response.status_code, response["Location"]) == (302, "/account/")
    assert Membership.objects.get().role == "admin"
    assert first.get("/").status_code == 200
    second = Client()
    refused = second.post(path)
    assert refused.status_code == 422
    assert "was used already" in refused.text
    assert second.get("/").status_code == 302
    assert accounts.first_run_link() is None


def test_an_expired_link_lets_nobody_in() -> None:
    path = path_of(accounts.first_run_link())
    SignInLink.objects.update(expires_at=timezone.now())
    assert Client().post(path).status_code == 422
    assert not User.objects.exists()


def test_a_password_is_set_and_signs_in_later() -> None:
    path = path_of(accounts.first_run_link())
    client = Client()
    client.post(path)
    weak = client.post("/account/", {"password": "short"})
    assert weak.status_code == 422
    assert client.post("/account/", {"password": PASSWORD}).status_code == 302
    assert client.get("/").status_code == 200, "the session goes on"
    assert client.post("/sign-out/").status_code == 302
    assert client.get("/").status_code == 302
    wrong = client.post("/sign-in/", {"username": "admin", "password": "wrong"})
    assert wrong.status_code == 422
    assert "do not belong together" in wrong.text
    right = client.post("/sign-in/?next=/apps/", {"username": "admin", "password": PASSWORD})
    assert (right.status_code, right["Location"]) == (302, "/apps/")


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_signing_in_leads_nowhere_else(elsewhere: str) -> None:
    User.objects.create_user("maria", password=PASSWORD)
    response = Client().post(f"/sign-in/?next={elsewhere}", {"username": "maria", "password": PASSWORD})
    assert response["Location"] == "/"


def test_guessing_is_stopped_for_the_right_password_too() -> None:
    User.objects.create_user("maria", password=PASSWORD)
    client = Client()
    for _guess in range(accounts.ATTEMPTS):
        assert client.post("/sign-in/", {"username": "maria", "password": "no"}).status_code == 422
    stopped = client.post("/sign-in/", {"username": "maria", "password": PASSWORD})
    assert stopped.status_code == 429
    assert "Too many" in stopped.text
    assert client.post("/first-run/guess/").status_code == 422


def test_a_form_without_its_csrf_token_is_refused() -> None:
    User.objects.create_user("maria", password=PASSWORD)
    client = Client(enforce_csrf_checks=True)
    given = {"username": "maria", "password": PASSWORD}
    assert client.post("/sign-in/", given).status_code == 403
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', client.get("/sign-in/").text)
    assert token
    assert client.post("/sign-in/", {**given, "csrfmiddlewaretoken": token[1]}).status_code == 302
    assert client.post("/sign-out/").status_code == 403


def test_who_comes_first_is_told_where_the_link_is() -> None:
    assert accounts.is_first_run()
    assert "Nobody has an account yet" in Client().get("/sign-in/").text
