"""However a run ends, none of its servers is left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.testbed import processes

pytestmark = pytest.mark.testbed

ROOT = Path(__file__).parents[2]

CLUSTER_THEN_WAIT = """
import sys, time
from pathlib import Path
from tests.testbed.kubernetes import Cluster
from tests.testbed.postgres import Postgres
cluster = Cluster("doomed", flux=["source-controller"], folder=Path(sys.argv[1])).start()
postgres = Postgres(Path(sys.argv[1]) / "postgres").start()
pids = [process.pid for process in cluster.processes.values()] + [postgres._process.pid]
print(*pids, flush=True)
{then}
"""


def start_run(folder: Path, then: str) -> tuple[subprocess.Popen[str], list[int]]:
    """A run in a process of its own that has started servers; gives their process ids."""
    command = [sys.executable, "-c", CLUSTER_THEN_WAIT.format(then=then), str(folder)]
    run = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert run.stdout
    return run, [int(pid) for pid in run.stdout.readline().split()]


def descendants_alive(pids: list[int]) -> set[int]:
    """Those of the process groups that still have a living member; a zombie is dead."""
    alive = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, group = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(group) in pids and state != "Z":
            alive.add(int(group))
    return alive


def none_alive_within(seconds: float, pids: list[int]) -> bool:
    deadline = time.monotonic() + seconds
    while descendants_alive(pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_run_and_all_its_servers(tmp_path: Path, number: int) -> None:
    run, pids = start_run(tmp_path, "time.sleep(600)")
    with run:
        assert len(pids) == 4
        assert descendants_alive(pids) == set(pids)
        run.send_signal(number)
        assert none_alive_within(2, pids)


def test_an_exception_ends_the_run_and_all_its_servers(tmp_path: Path) -> None:
    run, pids = start_run(tmp_path, "raise SystemExit(3)")
    with run:
        assert run.wait(20) == 3
        assert none_alive_within(2, pids)


def test_a_server_outlives_the_thread_that_started_it(tmp_path: Path) -> None:
    started: list[processes.Process] = []
    thread = threading.Thread(
        target=lambda: started.append(processes.start("sleeper", ["sleep", "60"], folder=tmp_path))
    )
    thread.start()
    thread.join()
    (sleeper,) = started
    time.sleep(0.3)
    assert sleeper.is_running()
    assert (tmp_path / "sleeper.pid").read_text().strip() == str(sleeper.pid)
    sleeper.stop()
    assert not sleeper.is_running()


def test_a_server_that_ignores_the_polite_signal_is_killed(tmp_path: Path) -> None:
    deaf = processes.start("deaf", ["sh", "-c", "trap '' TERM; echo ready; sleep 60 & wait; wait"], folder=tmp_path)
    processes.wait_until(lambda: "ready" in deaf.log.read_text(), "the trap", deaf)
    deaf.stop(grace_seconds=0.2)
    assert not deaf.is_running()


def test_waiting_for_a_server_that_ended_shows_its_last_words(tmp_path: Path) -> None:
    dying = processes.start("dying", ["sh", "-c", "echo no such flag; exit 2"], folder=tmp_path)
    with pytest.raises(processes.ServerError, match="no such flag"):
        processes.wait_until(lambda: False, "an answer", dying)


def test_waiting_has_an_end(tmp_path: Path) -> None:
    quiet = processes.start("quiet", ["sleep", "60"], folder=tmp_path)
    with pytest.raises(processes.ServerError, match="not within"):
        processes.wait_until(lambda: False, "an answer", quiet, timeout_seconds=0.2)
    os.kill(quiet.pid, signal.SIGKILL)
    quiet.stop()
