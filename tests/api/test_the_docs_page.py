"""The page of the API's routes is served from here alone, under the same strict policy as every page."""

import re

from django.contrib.staticfiles import finders

from tests.access.world import World


def test_everything_that_it_loads_is_ours(world: World) -> None:
    answer = world.browser(world.person("anna", "viewer")).get("/api/v1/docs")
    assert answer.status_code == 200
    loaded = re.findall(r'(?:src|href)="([^"]+\.(?:js|css))"', answer.text)
    assert any("swagger-ui-bundle" in each for each in loaded)
    for each in loaded:
        assert each.startswith("/static/")
        assert finders.find(each.removeprefix("/static/").partition("?")[0]), each


def test_its_policy_is_the_strict_one(world: World) -> None:
    browser = world.browser(world.person("anna", "viewer"))
    policies = {browser.get(page)["Content-Security-Policy"] for page in ("/api/v1/docs", "/settings/tokens/")}
    assert len(policies) == 1
    assert "unsafe" not in policies.pop()


def test_nothing_on_it_is_inline(world: World) -> None:
    text = world.browser(world.person("anna", "viewer")).get("/api/v1/docs").text
    assert not re.search(r"<style|<script>|\sstyle=|\son\w+=", text)
