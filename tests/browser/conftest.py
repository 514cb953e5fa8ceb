"""The product's web server in a process of its own, over a database with a fleet in every standing."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.testbed.processes import free_port, start, wait_until

ROOT = Path(__file__).resolve().parents[2]
# A busy machine is no failure.
expect.set_options(timeout=30_000)


@dataclass(frozen=True)
class Served:
    """Where the pages are, and the session of the administrator who sees the whole fleet."""

    url: str
    session: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("browser")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environment = {
        "FLOTILLA_DATA_DIR": str(folder),
        "FLOTILLA_PUBLIC_URL": url,
        # Nobody observes here: what was filled in shall stay fresh while the tests last.
        "FLOTILLA_OBSERVE_SECONDS": "3600",
        "DJANGO_SETTINGS_MODULE": "fleet.settings",
    }
    filling = [sys.executable, "-m", "tests.web", "0"]
    filled = subprocess.run(
        filling, cwd=ROOT, env={"PATH": "", **environment}, capture_output=True, text=True, check=True
    )
    command = [sys.executable, "-m", "clusters_app.cli", "serve", "web", "--port", str(port), "--concurrency", "1"]
    server = start("web", command, folder=folder, environment=environment)
    try:
        wait_until(lambda: _answers(url), "the web server", server, timeout_seconds=60)
        yield Served(url, filled.stdout.strip())
    finally:
        server.stop()


def _answers(url: str) -> bool:
    session = requests.Session()
    session.trust_env = False
    try:
        return session.get(f"{url}/healthz", timeout=2).ok
    except (requests.ConnectionError, requests.Timeout):
        return False


type OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(served: Served, browser: Browser) -> Iterator[OpenPage]:
    """`open_page(path, width=…, theme=…, scripts=…)`: a signed-in window; what its console said must be nothing."""
    contexts: list[BrowserContext] = []
    said: list[str] = []

    def opened(path: str, *, width: int = 1440, theme: str = "light", scripts: bool = True, lang: str = "en") -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, java_script_enabled=scripts, bypass_csp=False
        )
        contexts.append(context)
        given = {"sessionid": served.session, "theme": theme, "django_language": lang}
        context.add_cookies([{"name": name, "value": value, "url": served.url} for name, value in given.items()])
        page = context.new_page()
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.goto(served.url + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []
