"""`flotilla COMMAND`: what every command has, and how the right one is found."""

import argparse
import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest

from clusters_app import cli


def start(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_explains_itself_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([name.replace("_", "-"), "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"usage: flotilla {name.replace('_', '-')}" in shown
    assert import_module(f"clusters_app.commands.{name}").EXAMPLE in shown


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_no_command_loads_django_to_explain_itself(name: str) -> None:
    program = "import sys; from clusters_app.cli import main; main(sys.argv[1:]); print('django' in sys.modules)"
    assert start("-c", program, name, "--help").stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize("spelling", ["signin-link", "signin_link"])
def test_hyphen_and_underscore_are_the_same(spelling: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([spelling, "--help"]) == 0
    assert "a link that signs a person in" in capsys.readouterr().out


def test_help_for_a_command_is_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["help", "run"]) == 0
    assert "usage: flotilla run" in capsys.readouterr().out


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert [summary for summary in cli.COMMANDS.values() if summary not in shown] == []


def test_nothing_to_do_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 2
    assert "usage:" in capsys.readouterr().out


def test_an_unknown_command_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["promote-everything"]) == 2
    assert "there is no command 'promote-everything'" in capsys.readouterr().err


def test_an_unknown_argument_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "--faster"]) == 2
    assert "--faster" in capsys.readouterr().err


def test_a_command_of_django_is_run_and_its_failure_is_ours() -> None:
    answer = start("-m", "clusters_app.cli", "check", "--tag", "nothing-of-this-name")
    assert answer.returncode == 1
    assert "nothing-of-this-name" in answer.stderr


def test_manage_py_runs_the_same_commands() -> None:
    answer = start("manage.py", "signin-link", "--help")
    assert answer.returncode == 0, answer.stderr
    assert "usage: manage.py signin-link" in answer.stdout


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A command that the tests add to the registry."""
    module = ModuleType("clusters_app.commands.greet", "Greet.")
    module.EXAMPLE = "flotilla greet"  # type: ignore[attr-defined]
    module.add_arguments = lambda _parser: None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(cli.COMMANDS, "greet", "Greet")
    return module


def test_the_exit_code_is_the_commands(command: ModuleType) -> None:
    command.run = lambda *_: 1  # type: ignore[attr-defined]
    assert cli.main(["greet"]) == 1


def test_an_interrupted_command_ends_without_a_traceback(command: ModuleType) -> None:
    def run(_arguments: argparse.Namespace, *_streams: object) -> int:
        raise KeyboardInterrupt

    command.run = run  # type: ignore[attr-defined]
    assert cli.main(["greet"]) == 130


LONG_HELP = """
from clusters_app import cli
cli._overview = lambda _: 'line\\n' * 99_999
raise SystemExit(cli.main(['help']))
"""


def test_a_reader_that_leaves_early_is_no_error() -> None:
    script = '"$0" -c "$1" | head -1; exit "${PIPESTATUS[0]}"'
    words = ["bash", "-c", script, sys.executable, LONG_HELP]
    answer = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "line\n", "")
