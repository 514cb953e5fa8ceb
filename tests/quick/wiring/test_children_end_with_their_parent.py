"""What `flotilla run` starts never outlives it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clusters_app.commands import children as module
from clusters_app.commands.children import Children

SLEEP = [sys.executable, "-c", "import time; print('awake', flush=True); time.sleep(60)"]
# Ignores SIGTERM and has a child of its own, whose process id it prints.
_STUBBORN = """
import signal, subprocess, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(subprocess.Popen(["sleep", "60"]).pid, flush=True)
time.sleep(60)
"""
STUBBORN = [sys.executable, "-c", _STUBBORN]


def lives(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0]
    except FileNotFoundError:
        return False


def wait_for(condition: Callable[[], object], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


@pytest.fixture
def children(tmp_path: Path) -> Iterator[Children]:
    with Children(tmp_path / "log") as children:
        yield children


def test_each_child_writes_into_a_log_of_its_own(children: Children) -> None:
    child = children.start("sleeper", SLEEP, os.environ)
    wait_for(lambda: child.last_words() == "awake")
    assert children.failed() is None


def test_a_child_that_ends_has_failed_unless_it_may(children: Children) -> None:
    once = children.start("once", [sys.executable, "-c", "print('done')"], os.environ, may_end=True)
    once.process.wait()
    assert children.failed() is None
    broken = children.start("broken", [sys.executable, "-c", "raise SystemExit('no database')"], os.environ)
    broken.process.wait()
    assert children.failed() is broken
    assert broken.last_words() == "no database"


def test_stopping_ends_the_stubborn_and_what_they_started(children: Children, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE_SECONDS", 0.3)
    child = children.start("stubborn", STUBBORN, os.environ)
    wait_for(child.last_words)
    grandchild = int(child.last_words())
    children.stop()
    assert child.process.returncode == -signal.SIGKILL
    wait_for(lambda: not lives(grandchild))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent is dead")
def test_children_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    program = (
        "import os, sys, time; from pathlib import Path; from clusters_app.commands.children import Children;"
        "children = Children(Path(sys.argv[1]));"
        "print(children.start('sleeper', ['sleep', '60'], os.environ).process.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert lives(child)
        parent.kill()
    wait_for(lambda: not lives(child))
