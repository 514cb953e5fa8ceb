"""The cache of built programs: keyed by content, complete or absent, filled once. No Go is started here."""

import threading
from pathlib import Path

import pytest

from tests.testbed import build
from tests.testbed.families import Family


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An empty cache, a pinned module `toy`, and a Go that only writes its output; gives what that Go was asked."""
    ran: list[str] = []
    (tmp_path / "programs" / "toy").mkdir(parents=True)
    (tmp_path / "programs" / "toy" / "go.mod").write_text("module toy\n")
    (tmp_path / "programs" / "toy" / "go.sum").write_text("toy v1\n")

    def fake_go(module_folder: Path, *arguments: str) -> str:
        ran.append(" ".join(arguments))
        Path(arguments[arguments.index("-o") + 1]).parent.mkdir(parents=True, exist_ok=True)
        Path(arguments[arguments.index("-o") + 1]).write_text("program")
        return ""

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(build, "PROGRAMS", tmp_path / "programs")
    monkeypatch.setattr(build, "_go", fake_go)
    return ran


TOY = Family("toy", {"toy": "example.com/toy"})


def test_a_program_is_built_once(builds: list[str]) -> None:
    first = build.built(TOY)
    assert (first / "bin" / "toy").read_text() == "program"
    assert build.built(TOY) == first
    assert len(builds) == 1


def test_two_runs_at_once_build_once(builds: list[str]) -> None:
    threads = [threading.Thread(target=build.built, args=(TOY,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(builds) == 1


def test_a_changed_pin_is_another_program(builds: list[str]) -> None:
    first = build.built(TOY)
    (build.PROGRAMS / "toy" / "go.sum").write_text("toy v2\n")
    assert build.built(TOY) != first
    assert len(builds) == 2


def test_a_build_that_fails_leaves_nothing_behind(builds: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(module_folder: Path, *arguments: str) -> str:
        raise build.BuildError("no space left")

    monkeypatch.setattr(build, "_go", refuse)
    with pytest.raises(build.BuildError):
        build.built(TOY)
    assert [path.name for path in build.cache_folder().iterdir() if path.is_dir()] == []


def test_what_an_interrupted_build_left_is_removed_by_the_next(builds: list[str]) -> None:
    target = build.built(TOY)
    left = target.with_name(f".{target.name}-interrupted")
    target.rename(left)
    build.built(TOY)
    assert not left.exists()


def test_it_says_what_it_builds_and_how_large_it_is(builds: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    build.built(TOY)
    said = capsys.readouterr().err
    assert "building toy (toy)" in said
    assert "MB" in said


def test_a_go_that_is_too_old_is_not_used(tmp_path: Path) -> None:
    old = tmp_path / "go"
    old.write_text("#!/bin/sh\necho go version go1.19.8 linux/amd64\n")
    old.chmod(0o755)
    assert build.go_version(str(old)) < build.OLDEST_GO
    assert build.go_version(str(tmp_path / "none")) < build.OLDEST_GO
