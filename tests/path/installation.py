"""The product as an operator runs it: one command, real workers and beat, spoken to over HTTP alone."""

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import requests

from tests.testbed.processes import Process, free_port, start

ROOT = Path(__file__).resolve().parents[2]
#: Seconds for one answer: how fast it comes is the bench's to judge, and a busy machine is no failure.
PATIENCE = 60


class Installation:
    """`flotilla run` without the demo, in a data directory of its own. `database_url` empty: SQLite."""

    def __init__(self, folder: Path, *, database_url: str = "", demo: bool = False) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.session = requests.Session()
        self.session.trust_env = False
        self._demo = demo
        self._database_url = database_url
        self._process: Process | None = None

    def __enter__(self) -> Self:
        self._start()
        self.link = wait_for(self._printed_link, "the sign-in link", seconds=120)
        return self

    def restart(self) -> None:
        """End it and start it again on the same data; returns when it answers."""
        self.__exit__()
        self._start()
        wait_for(self._answers, "an answer after the restart", seconds=120)

    def _start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        environment = {
            "FLOTILLA_DATA_DIR": str(self.folder / "data"),
            "FLOTILLA_PUBLIC_URL": self.url,
            "FLOTILLA_OBSERVE_SECONDS": "4",
            "FLOTILLA_SYNC_SECONDS": "4",
            "EGRESS_ALLOW_NETWORKS": "127.0.0.0/8",
            "DATABASE_URL": self._database_url,
            "PYTHONUNBUFFERED": "1",
        }
        command = [sys.executable, "-m", "clusters_app.cli", "run", "--port", str(self.port)]
        command += [] if self._demo else ["--no-demo"]
        self._process = start("flotilla", command, folder=self.folder, environment=environment)

    def _answers(self) -> bool | None:
        try:
            return self.session.get(f"{self.url}/healthz", timeout=PATIENCE).ok or None
        except requests.RequestException:
            return None

    def __exit__(self, *_ended: object) -> None:
        assert self._process is not None
        self._process.stop()

    def _printed_link(self) -> str | None:
        assert self._process is not None
        if not self._process.is_running():
            raise AssertionError(f"flotilla run ended:\n{self._process.log_tail()}")
        found = re.search(r"http://\S+/first-run/\S+", self._process.log.read_text(errors="replace"))
        return found[0] if found else None

    # --- as a script ------------------------------------------------------------------------------------------------

    def sign_in(self) -> None:
        """By the printed link, and then with a token of the API, as a script does."""
        form = self.session.get(self.link, timeout=PATIENCE)
        answer = self.session.post(
            self.link, data={"csrfmiddlewaretoken": csrf(form.text)}, headers={"Referer": self.link}, timeout=PATIENCE
        )
        assert answer.ok, answer.text
        page = self.session.get(f"{self.url}/settings/tokens/", timeout=PATIENCE)
        scopes = ["view", "promote", "edit", "approve", "operate", "administer"]
        data = {"csrfmiddlewaretoken": csrf(page.text), "name": "path", "scopes": scopes, "days": 1}
        made = self.session.post(
            f"{self.url}/settings/tokens/", data=data, headers={"Referer": self.url}, timeout=PATIENCE
        )
        token = re.search(r"flo_[\w-]{20,}", made.text)
        assert token, made.text
        self.session.headers["Authorization"] = f"Bearer {token[0]}"

    def get(self, path: str, **query: str) -> Any:
        answer = self.session.get(f"{self.url}/api/v1/{path}", params=query, timeout=PATIENCE)
        assert answer.ok, f"GET {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def post(self, path: str, body: object = None, *, expect: tuple[int, ...] = (200, 201, 202)) -> Any:
        answer = self.session.post(f"{self.url}/api/v1/{path}", json=body or {}, timeout=PATIENCE)
        assert answer.status_code in expect, f"POST {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def page(self, path: str) -> str:
        answer = self.session.get(f"{self.url}{path}", timeout=PATIENCE)
        assert answer.ok, f"{path}: {answer.status_code}"
        return answer.text

    def finished(self, operation: Any, *, seconds: float = 90) -> Any:
        """The operation once it has ended, whichever way."""

        def ended() -> Any:
            found = self.get(f"operations/{operation['id']}")
            return found if found["state"] in {"done", "failed"} else None

        return wait_for(ended, f"operation {operation['kind']}", seconds=seconds)

    def done(self, operation: Any, *, seconds: float = 90) -> Any:
        found = self.finished(operation, seconds=seconds)
        assert found["state"] == "done", found
        return found["result"]

    def log_tail(self) -> str:
        assert self._process is not None
        return self._process.log_tail()


def csrf(page: str) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert found, page
    return found[1]


def wait_for[T](ask: Callable[[], T | None], what: str, *, seconds: float = 60, every: float = 0.5) -> T:
    """The first answer that is there; AssertionError that names what did not come."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if (answer := ask()) is not None:
            return answer
        time.sleep(every)
    raise AssertionError(f"{what} did not come in {seconds:.0f} s")
