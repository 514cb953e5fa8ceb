"""The example promotions, byte for byte, through the command as a person would type it.

`check_promotions.py` builds a Git repository for each case and judges the tree that is left; here it calls the command
in this process, which is what makes them quick. One case goes through a real process.
"""

import importlib.util
import io
import json
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from clusters_app.cli import main

HERE = Path(__file__).parent
CASES = HERE / "cases"
NAMES = sorted(case.name for case in CASES.iterdir() if (case / "case.json").is_file())
OPTIONS = {"cases": str(CASES), "thorough": True, "timeout": 60}


def _checker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_promotions", HERE / "check_promotions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _in_this_process(cmd: list[str], root: str, case: Mapping[str, str], timeout: int, *more: str) -> tuple[Any, str]:
    out, err = io.StringIO(), io.StringIO()
    words = ["--dir", root, "--app", case["app"], "--from", case["from"], "--to", case["to"], *more, "-o", "json"]
    with redirect_stdout(out), redirect_stderr(err):
        code = main(["promote-env", *words])
    return json.loads(out.getvalue()), f"exit status {code}, {err.getvalue()}"


@pytest.mark.parametrize("name", NAMES)
def test_the_case_is_right(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    checker = _checker()
    monkeypatch.setattr(checker, "run", _in_this_process)
    judged = checker.judge(name, OPTIONS, [])
    assert judged["right"], [*judged["bad"], *judged["diff"], judged["case"]["why"]]


def test_the_command_of_a_shell_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.getcwd())  # noqa: PTH109
    judged = _checker().judge("001-images-newtag", OPTIONS, [sys.executable, "-m", "clusters_app.cli"])
    assert judged["right"], judged["bad"]
