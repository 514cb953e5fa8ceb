"""Fill an empty installation with a demo fleet, then serve its simulated clusters until it is ended.

The clusters follow a Git repository in the data directory: what is merged there they apply some seconds later. Started
again, it goes on with the same fleet. `flotilla run` starts it; beside other parts, set DEMO=1 for all of them.
"""

import argparse
import hmac
import os
import secrets
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from signal import SIGINT, SIGTERM, signal
from threading import Event
from typing import TYPE_CHECKING, TextIO

import msgspec

if TYPE_CHECKING:
    from clusters_app.git.mirror import Mirror
    from clusters_app.simulation.cluster import SimulatedCluster
    from clusters_app.simulation.server import Server

EXAMPLE = "flotilla demo"

_PORTS = range(21000, 29000)
_LOOK_SECONDS = 1.0


class _State(msgspec.Struct, frozen=True):
    """What a restart must find as it was: clusters are registered under this port, and faults have a past."""

    port: int
    born_at: datetime
    secret: str
    silent_since: datetime | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None: the demo is always the same."""


def loads_django(_arguments: argparse.Namespace) -> bool:
    os.environ["DEMO"] = "1"
    return True


def run(arguments: argparse.Namespace, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    del arguments, stdin, stdout
    from django.conf import settings

    from clusters_app.commands.demo_installation import NotFilledError, is_empty
    from clusters_app.services.errors import ServiceError

    home = settings.DATA_DIR / "demo"
    if not (home / "state.json").exists() and not is_empty():
        stderr.write("This installation has a fleet of its own already; the demo stays away.\n")
        return 0
    stopped = Event()
    for number in (SIGINT, SIGTERM):
        signal(number, lambda *_: stopped.set())
    try:
        _serve(home, stopped, stderr)
    except (NotFilledError, ServiceError) as error:
        stderr.write(f"The demo cannot be filled: {error}\n")
        return 1
    except OSError as error:
        stderr.write(f"The simulated clusters cannot be served ({error.strerror or error}).\n")
        stderr.write("End what listens on their port, or start with another data directory (FLOTILLA_DATA_DIR).\n")
        return 1
    return 0


def _serve(home: Path, stopped: Event, stderr: TextIO) -> None:
    from clusters_app.commands import demo_story as story
    from clusters_app.commands.demo_repository import create_repository
    from clusters_app.git.mirror import Mirror
    from clusters_app.simulation.api import ClusterApi
    from clusters_app.simulation.authority import create_authority, server_context
    from clusters_app.simulation.server import Server

    state = _read_or_begin(home)
    create_repository(home / "fleet.git", state.born_at)
    if not (home / "server.pem").exists():
        create_authority(home)
    repository = Mirror.open(home / "fleet.git")
    fleet, newest = _replayed(repository, state)
    apis = {name: ClusterApi(cluster, _token(state, name)) for name, cluster in fleet.items()}
    with Server(apis, server_context(home), state.port) as server:
        _fill(home, state, server)
        stderr.write(f"{len(story.CLUSTERS)} simulated clusters follow {home / 'fleet.git'}\n")
        stderr.flush()
        _follow(repository, newest, fleet, server, stopped, lambda: _silence(home, state, fleet, server))


def _replayed(repository: "Mirror", state: _State) -> "tuple[dict[str, SimulatedCluster], str]":
    """The clusters as they are after the branch's last commits, and the newest one."""
    from clusters_app.commands import demo_story as story
    from clusters_app.commands.demo_repository import history_of
    from clusters_app.simulation.fleet import create_fleet, follow, worth_replaying

    history = history_of(repository)
    faults = story.faults(state.born_at, state.silent_since)
    fleet = create_fleet(story.CLUSTERS, born_at=history[0].at, faults=faults)
    for pushed in worth_replaying(history, [each for found in faults.values() for each in found]):
        follow(fleet, pushed, repository.tree(pushed.commit), story.roots())
    return fleet, history[-1].commit


def _fill(home: Path, state: _State, server: "Server") -> None:
    from clusters_app.commands.demo_installation import fill
    from clusters_app.commands.demo_repository import url_of

    ca_pem = (home / "ca.pem").read_text(encoding="ascii")
    url = url_of(home / "fleet.git")
    fill(url=url, ca_pem=ca_pem, server=server.url, token=lambda name: _token(state, name))


def _follow(
    repository: "Mirror",
    newest: str,
    fleet: "dict[str, SimulatedCluster]",
    server: "Server",
    stopped: Event,
    silence: Callable[[], bool],
) -> None:
    """Tell the clusters of each new head of the branch, until it is ended."""
    from clusters_app.commands.demo_repository import BRANCH
    from clusters_app.commands.demo_story import roots
    from clusters_app.simulation.fleet import Pushed, follow

    is_silent = False
    while not stopped.wait(_LOOK_SECONDS):
        is_silent = is_silent or silence()
        head = repository.head(BRANCH)
        if head != newest:
            newest = head
            pushed = Pushed(head, datetime.now(UTC))
            server.call(partial(follow, fleet, pushed, repository.tree(head), roots()))


def _silence(home: Path, state: _State, fleet: "dict[str, SimulatedCluster]", server: "Server") -> bool:
    """Let one cluster fall silent once it was read, so that there is an age to see; whether it has."""
    from clusters_app.commands.demo_story import SILENT
    from clusters_app.models import ClusterStatus
    from clusters_app.simulation.faults import Silent

    if state.silent_since is not None:
        return True
    if not ClusterStatus.objects.filter(cluster__name=SILENT, observed_at__isnull=False).exists():
        return False
    now = datetime.now(UTC)
    _write(home, msgspec.structs.replace(state, silent_since=now))
    server.call(partial(fleet[SILENT].suffer, Silent(now)))
    return True


def _token(state: _State, cluster: str) -> str:
    return hmac.new(state.secret.encode(), cluster.encode(), "sha256").hexdigest()


def _read_or_begin(home: Path) -> _State:
    file = home / "state.json"
    if file.exists():
        return msgspec.json.decode(file.read_bytes(), type=_State)
    home.mkdir(mode=0o700, exist_ok=True)
    state = _State(_free_port(), datetime.now(UTC).replace(microsecond=0), secrets.token_urlsafe(32))
    _write(home, state)
    return state


def _write(home: Path, state: _State) -> None:
    draft = home / "state.draft"
    draft.touch(mode=0o600)
    draft.write_bytes(msgspec.json.encode(state))
    draft.rename(home / "state.json")


def _free_port() -> int:
    """One that the system gives to nobody by itself, as it has to be free after a restart too."""
    for _ in range(50):
        port = secrets.choice(_PORTS)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
    raise OSError("no free port was found")
