"""The browser runs pages and their scripts."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.testbed


def test_it_renders_a_page_and_takes_a_picture(browser: "Browser") -> None:
    page = browser.new_page()
    page.set_content("<h1>Fleet</h1><script>document.title = 'ran'</script>")
    assert page.inner_text("h1") == "Fleet"
    assert page.title() == "ran"
    assert page.screenshot().startswith(b"\x89PNG")
    page.close()
