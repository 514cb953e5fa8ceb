"""What a page does in a real browser: keyboard, refreshing in place, themes, and all of it without JavaScript too."""

import re

import pytest
from playwright.sync_api import Page, expect

from .conftest import OpenPage

pytestmark = pytest.mark.testbed


@pytest.mark.parametrize("keys", ["/", "Control+k"])
def test_keys_open_the_search_and_arrows_walk_its_hits(open_page: OpenPage, keys: str) -> None:
    page = open_page("/")
    page.keyboard.press(keys)
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.type("prod-d")
    hit = page.locator("#found a").first
    expect(hit).to_contain_text("prod-d")
    page.keyboard.press("ArrowDown")
    expect(hit).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/clusters/prod-d/$"))


def test_escape_leaves_the_search(open_page: OpenPage) -> None:
    page = open_page("/")
    page.keyboard.press("/")
    page.keyboard.type("prod")
    expect(page.locator("#found a").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#found a")).to_have_count(0)
    expect(page.locator("#find")).not_to_be_focused()


def test_a_slash_in_a_form_is_a_slash(open_page: OpenPage) -> None:
    page = open_page("/clusters/register/")
    page.get_by_label("Sync path").focus()
    page.keyboard.type("clusters/prod")
    expect(page.get_by_label("Sync path")).to_have_value("clusters/prod")


def test_the_first_tab_skips_to_the_content(open_page: OpenPage) -> None:
    page = open_page("/")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def refreshed(page: Page) -> None:
    """Wait until the page has refreshed itself once more."""
    with page.expect_response(lambda answer: answer.request.headers.get("hx-request") == "true", timeout=15_000):
        pass


def test_a_page_refreshes_in_place_and_keeps_the_focus(open_page: OpenPage) -> None:
    page = open_page("/")
    link = page.get_by_role("link", name="prod-d", exact=True)
    link.focus()
    page.evaluate("document.querySelector('h1').dataset.old = '1'")
    refreshed(page)
    expect(page.locator("h1[data-old]")).to_have_count(0)
    expect(page.get_by_role("link", name="prod-d", exact=True)).to_be_focused()


def test_a_selection_is_not_taken_away_by_a_refresh(open_page: OpenPage) -> None:
    page = open_page("/problems/")
    page.locator(".copy pre").first.select_text()
    page.evaluate("document.querySelector('h1').dataset.old = '1'")
    page.wait_for_timeout(6_000)
    expect(page.locator("h1[data-old]")).to_have_count(1)


def test_a_theme_is_chosen_in_the_menu_and_stays_on_the_page(open_page: OpenPage) -> None:
    page = open_page("/apps/")
    page.locator("details.menu summary").click()
    page.get_by_role("button", name="Dark", exact=True).click()
    expect(page).to_have_url(re.compile(r"/apps/$"))
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == "dark"
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark == "rgb(19, 20, 22)"


def test_a_form_previews_as_one_types(open_page: OpenPage) -> None:
    page = open_page("/repositories/fleet/scaffold/")
    expect(page.locator("#preview")).to_contain_text("Not possible yet")
    page.get_by_label("Clusters").fill("only-a-name")
    expect(page.locator("#preview")).to_contain_text("Line 1 cannot be understood")


def test_everything_works_without_scripts(open_page: OpenPage) -> None:
    page = open_page("/", scripts=False)
    page.get_by_role("link", name="prod-d", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("prod-d")
    page.get_by_role("button", name="Read now").click()
    expect(page.get_by_role("status").first).to_contain_text("is read again")
    page.locator("#find").fill("prod")
    page.locator("#find").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Search")
    page.locator("details.menu summary").click()
    page.get_by_role("button", name="Русский").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Поиск")


def test_a_phone_shows_what_is_red_and_why(open_page: OpenPage) -> None:
    page = open_page("/?standing=failing", width=390)
    row = page.get_by_role("row").filter(has_text="prod-d")
    expect(row.locator(".verdict.failing")).to_be_visible()
    expect(row).to_contain_text("Kustomization/search")
    page.get_by_role("link", name="Promotions").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Promotions")
