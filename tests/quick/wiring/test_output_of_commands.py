"""How commands print: tables for people, JSON and YAML for programs, colour for terminals that want it."""

import argparse
import io
import json

import pytest
import yaml

from clusters_app.commands.output import Row, Tone, Value, add_format, paint, print_rows

ROWS: list[Row] = [
    {"name": "dev-1", "health": "Ready", "behind": 0, "apps": ["api", "web"], "since": None},
    {"name": "прод-東", "health": "Failing", "behind": 12, "apps": [], "since": "2026-11-30"},
]
COLUMNS = ["name", "health", "behind", "apps"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(output: str, stream: io.StringIO | None = None) -> str:
    stream = stream or io.StringIO()
    print_rows(ROWS, COLUMNS, output, stream, tone)
    return stream.getvalue()


def tone(column: str, value: Value) -> Tone | None:
    return Tone.BAD if (column, value) == ("health", "Failing") else None


def test_a_table_aligns_its_columns_also_under_wide_letters() -> None:
    assert printed("table").splitlines() == [
        "NAME      HEALTH    BEHIND   APPS",
        "dev-1     Ready     0        api, web",
        "прод-東   Failing   12       -",
    ]


def test_json_and_yaml_hold_all_that_the_rows_hold() -> None:
    assert json.loads(printed("json")) == ROWS
    assert yaml.safe_load(printed("yaml")) == ROWS


def test_only_a_terminal_gets_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\033[" not in printed("table")
    assert "\033[31mFailing\033[0m" in printed("table", Terminal())
    assert paint("well", Tone.GOOD, io.StringIO()) == "well"


def test_a_terminal_that_wants_no_colour_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\033[" not in printed("table", Terminal())


def test_a_cell_cannot_command_the_terminal_or_break_the_line() -> None:
    stream = io.StringIO()
    print_rows([{"message": "first\nsecond\033[2J"}], ["message"], "table", stream)
    assert stream.getvalue() == "MESSAGE\nfirst second [2J\n"


def test_a_table_without_rows_still_says_its_columns() -> None:
    stream = io.StringIO()
    print_rows([], COLUMNS, "table", stream)
    assert stream.getvalue() == "NAME   HEALTH   BEHIND   APPS\n"


def test_the_format_is_chosen_by_o() -> None:
    parser = argparse.ArgumentParser()
    add_format(parser)
    assert parser.parse_args([]).output == "table"
    assert parser.parse_args(["-o", "yaml"]).output == "yaml"
