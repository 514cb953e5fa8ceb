"""axe finds nothing on any page, in both themes, on a desk and on a phone; and nothing is wider than the window."""

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page

from .conftest import OpenPage

pytestmark = pytest.mark.testbed

PAGES = {
    "fleet": "/",
    "grid": "/?view=grid",
    "problems": "/problems/",
    "apps": "/apps/",
    "app": "/apps/web/",
    "promotions": "/promotions/",
    "promotion": "/promotions/2/",
    "repositories": "/repositories/",
    "repository": "/repositories/fleet/",
    "scaffold": "/repositories/fleet/scaffold/",
    "add": "/repositories/add/",
    "register": "/clusters/register/",
    "cluster": "/clusters/prod-d/",
    "object": "/clusters/prod-d/Kustomization/flux-system/search/",
    "remove": "/clusters/prod-d/remove/",
    "activity": "/activity/",
    "settings": "/settings/",
    "environments": "/settings/environments/",
    "people": "/settings/people/",
    "tokens": "/settings/tokens/",
    "system": "/system/",
    "account": "/account/",
    "search": "/search/?q=prod",
}
WIDTHS = {"desk": 1440, "phone": 390}


@pytest.mark.parametrize("page", PAGES)
def test_axe_finds_nothing(open_page: OpenPage, page: str) -> None:
    for theme, width in (("light", WIDTHS["desk"]), ("dark", WIDTHS["phone"])):
        found = Axe().run(open_page(PAGES[page], width=width, theme=theme))
        assert found.violations_count == 0, f"{theme} {width}: {found.generate_report()}"


def overflow(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_wider_than_the_window(open_page: OpenPage, page: str) -> None:
    for width, lang in ((390, "ru"), (820, "en")):
        assert overflow(open_page(PAGES[page], width=width, lang=lang)) == 0, width
