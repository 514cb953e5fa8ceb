"""A real browser: the machine's Chromium, driven by Playwright."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)


def executable() -> Path:
    """`$CHROMIUM`, the machine's Chromium, or the one of `playwright install chromium`, in this order."""
    named = os.environ.get("CHROMIUM")
    if named:
        return Path(named)
    for name in ("chromium", "chromium-browser", "google-chrome-stable"):
        if found := shutil.which(name):
            return Path(found)
    browsers = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    if installed := sorted(browsers.glob("chromium-*/chrome-linux*/chrome")):
        return installed[-1]
    raise FileNotFoundError("No Chromium: install Debian's chromium package, or run `playwright install chromium`")


@contextmanager
def open_browser(*, headless: bool = True) -> Iterator[Browser]:
    """A running browser; make a context for each story (`browser.new_context()`), which is a fresh profile.

    While it is open, Playwright's event loop counts as running in this thread: Django's ORM and `asyncio.run` refuse
    to work here. Drive a server in another process, and close the browser before the next test that needs a loop.
    """
    flags = [*_FLAGS, "--no-sandbox"] if os.geteuid() == 0 else list(_FLAGS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), headless=headless, args=flags)
        try:
            yield browser
        finally:
            browser.close()
