"""However many ask, one git works in a mirror, and nobody waits for more than the next fetch (C065, C064)."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from clusters_app.egress import Policy
from clusters_app.git.credentials import Remote
from clusters_app.git.errors import GitError, GitTransient
from clusters_app.git.lock import alone, read_last_fetch
from clusters_app.git.mirror import Fetched, Mirror
from clusters_app.git.runner import Limits

from .server import GitServer, Handler


def slowly(server: GitServer, seconds: float) -> None:
    def fault(handler: Handler) -> None:
        time.sleep(seconds)
        handler._backend()

    server.fault = fault


def test_many_callers_are_served_by_two_fetches(
    mirror: Mirror, remote: Remote, policy: Policy, first: str, server: GitServer
) -> None:
    slowly(server, 0.4)
    server.seen.clear()
    results: list[Fetched] = []

    def ask() -> None:
        results.append(Mirror.open(mirror.path).fetch(remote, policy))

    callers = [threading.Thread(target=ask) for _ in range(6)]
    for caller in callers:
        caller.start()
        time.sleep(0.02)
    for caller in callers:
        caller.join()

    assert len(results) == 6
    assert {tuple(result.branches.items()) for result in results} == {(("main", first),)}
    assert len([line for line in server.seen if "info/refs" in line]) == 2
    assert sum(not result.shared for result in results) == 2


def test_who_waits_for_a_fetch_that_fails_gets_its_error_and_no_queue_of_failures(
    mirror: Mirror, remote: Remote, policy: Policy, first: str, server: GitServer
) -> None:
    def fail_slowly(handler: Handler) -> None:
        time.sleep(0.4)
        handler.answer(503, b"")

    server.fault = fail_slowly
    server.seen.clear()
    codes: list[str] = []

    def ask() -> None:
        try:
            Mirror.open(mirror.path).fetch(remote, policy)
        except GitError as error:
            codes.append(error.code)

    callers = [threading.Thread(target=ask) for _ in range(5)]
    for caller in callers:
        caller.start()
        time.sleep(0.02)
    for caller in callers:
        caller.join()
    assert codes == ["git.server"] * 5
    assert len(server.seen) == 2


def test_a_mirror_in_use_is_waited_for_only_so_long(tmp_path: Path, remote: Remote, policy: Policy) -> None:
    mirror = Mirror.open(tmp_path / "m.git", limits=Limits(seconds=0))
    with alone(mirror.path, wait_seconds=0), pytest.raises(GitTransient) as busy:
        mirror.fetch(remote, policy)
    assert busy.value.code == "git.busy"


def test_a_killed_worker_leaves_the_lock_to_its_git_and_then_to_nobody(
    mirror: Mirror, remote: Remote, server: GitServer, policy: Policy
) -> None:
    """A second worker must not start beside the git that the first one left behind, and must not wait for ever."""
    server.fault = lambda handler: time.sleep(1.5)
    script = textwrap.dedent(f"""
        import sys
        from ipaddress import ip_network
        from pathlib import Path
        from clusters_app.egress import Policy
        from clusters_app.git.credentials import Remote
        from clusters_app.git.mirror import Mirror
        policy = Policy(allow_networks=(ip_network("127.0.0.0/8"), ip_network("::1/128")))
        Mirror.open(Path({str(mirror.path)!r})).fetch(Remote({remote.url!r}, None, {remote.ca_pem!r}), policy)
    """)
    with subprocess.Popen([sys.executable, "-c", script], cwd=Path.cwd(), env=dict(os.environ)) as worker:
        waited = time.monotonic() + 10
        while not server.seen and time.monotonic() < waited:
            time.sleep(0.02)
        worker.send_signal(signal.SIGKILL)
    with pytest.raises(GitTransient), alone(mirror.path, wait_seconds=0.2):
        pass
    with alone(mirror.path, wait_seconds=10):
        assert read_last_fetch(mirror.path) is None
    server.fault = None
    assert mirror.fetch(remote, policy).branches == {}


def test_a_broken_record_of_the_last_fetch_is_no_obstacle(
    mirror: Mirror, remote: Remote, policy: Policy, first: str
) -> None:
    (mirror.path / "flotilla.fetch").write_text("{not json")
    assert mirror.fetch(remote, policy).branches == {"main": first}
