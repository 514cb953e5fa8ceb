"""What a viewer has chosen: theme, language, and the zone in which times are told."""

import re

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("chosen", "attribute"), [("dark", 'data-theme="dark"'), ("light", 'data-theme="light"')])
def test_a_theme_is_remembered(maria: Client, chosen: str, attribute: str) -> None:
    response = maria.post("/account/", {"theme": chosen, "next": "/apps/"})
    assert response["Location"] == "/apps/"
    assert attribute in maria.get("/").text
    maria.post("/account/", {"theme": "system"})
    assert "data-theme" not in maria.get("/").text


def test_a_theme_that_is_none_changes_nothing(maria: Client) -> None:
    maria.post("/account/", {"theme": '"><script>'})
    assert "<script>" not in maria.get("/").text


def test_a_language_is_remembered(maria: Client) -> None:
    response = maria.post("/i18n/setlang/", {"language": "ru", "next": "/apps/"})
    assert response["Location"] == "/apps/"
    text = maria.get("/apps/").text
    assert '<html lang="ru"' in text
    assert "Приложения" in text


def test_times_are_told_in_the_viewer_s_zone(maria: Client) -> None:
    maria.cookies["zone"] = "Asia/Vladivostok"
    text = maria.get("/clusters/prod-a/").text
    assert re.search(r'<time datetime="[^"]+\+00:00" title="\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+10">', text)
    maria.cookies["zone"] = "Nowhere/Else"
    assert ' UTC">' in maria.get("/clusters/prod-a/").text
