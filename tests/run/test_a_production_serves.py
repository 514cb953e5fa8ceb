"""The parts of docker-compose.yml, started as it does: over PostgreSQL, with secrets as files, behind a proxy."""

import http.client
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from clusters_app.commands.create_secrets import create_key_pair
from clusters_app.commands.healthy import web_answers
from tests.testbed.processes import Process, free_port, start, wait_until

pytestmark = pytest.mark.testbed

CLI = [sys.executable, "-m", "clusters_app.cli"]
HOST = "flotilla.example.com"


@pytest.fixture
def environment(tmp_path: Path, postgres_url: str, valkey: str) -> dict[str, str]:
    create_key_pair(tmp_path / "credentials.key", tmp_path / "credentials.key.pub")
    (tmp_path / "secret-key").write_text("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    (tmp_path / "database-url").write_text(postgres_url)
    (tmp_path / "redis-url").write_text(valkey)
    return {
        "FLOTILLA_PUBLIC_URL": f"https://{HOST}",
        "FLOTILLA_TRUSTED_PROXY_HEADER": "X-Forwarded-For",
        "FLOTILLA_DATA_DIR": str(tmp_path / "data"),
        "FLOTILLA_STATIC_ROOT": str(tmp_path / "static"),
        "FLOTILLA_PUBLIC_KEY_FILE": str(tmp_path / "credentials.key.pub"),
        "SECRET_KEY_FILE": str(tmp_path / "secret-key"),
        "DATABASE_URL_FILE": str(tmp_path / "database-url"),
        "REDIS_URL_FILE": str(tmp_path / "redis-url"),
    }


type Serve = Callable[..., Process]


@pytest.fixture
def serve(environment: dict[str, str], tmp_path: Path) -> Iterator[Serve]:
    """Starts one part, and ends it after the test."""
    started: list[Process] = []

    def _serve(part: str, *options: str, **more: str) -> Process:
        words = [*CLI, "serve", part, *options]
        started.append(start(part, words, folder=tmp_path / part, environment=environment | more))
        return started[-1]

    yield _serve
    for process in started:
        process.stop()


@pytest.fixture
def flotilla(environment: dict[str, str]) -> Callable[..., int]:
    """Runs a command to its end; its exit code."""

    def _flotilla(*words: str) -> int:
        root = Path(__file__).resolve().parents[2]
        return subprocess.run([*CLI, *words], env=environment, cwd=root, check=False, timeout=120).returncode

    return _flotilla


def get(port: int, path: str, **headers: str) -> tuple[int, str]:
    """Status and Location of an answer, asked as the proxy would."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", path, headers={"Host": HOST, **headers})
        answer = connection.getresponse()
        return answer.status, answer.headers.get("Location", "")


def test_pages_are_served_behind_a_proxy_that_speaks_tls(serve: Serve, flotilla: Callable[..., int]) -> None:
    assert flotilla("migrate", "--noinput") == 0
    assert flotilla("collectstatic", "--noinput", "--verbosity", "0") == 0
    port = free_port()
    web = serve("web", "--port", str(port))
    wait_until(lambda: web_answers(port), "the web server", web, timeout_seconds=60)
    assert flotilla("healthy", "web", "--port", str(port)) == 0

    through_proxy = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7"}
    status, location = get(port, "/", **through_proxy)
    assert (status, location.split("?")[0]) == (302, "/sign-in/")
    assert get(port, "/") == (301, f"https://{HOST}/")
    assert get(port, "/", Host="stranger.example.com", **through_proxy)[0] == 400


@pytest.mark.parametrize("part", ["observe", "git", "beat"])
def test_workers_and_beat_answer_their_health_check(
    part: str, serve: Serve, flotilla: Callable[..., int], environment: dict[str, str]
) -> None:
    assert flotilla("migrate", "--noinput", "--verbosity", "0") == 0
    key = environment["FLOTILLA_PUBLIC_KEY_FILE"].removesuffix(".pub")
    process = serve(part, FLOTILLA_KEY_FILE=key)
    wait_until(lambda: flotilla("healthy", part) == 0, part, process, timeout_seconds=60)
    process.stop()
    assert flotilla("healthy", part) == 1


def test_a_part_with_wrong_settings_does_not_start(serve: Serve) -> None:
    web = serve("web", "--port", str(free_port()), ALLOWED_HOSTS="*")
    wait_until(lambda: not web.is_running(), "the refusal", timeout_seconds=60)
    assert "fleet.E012" in web.log_tail()
