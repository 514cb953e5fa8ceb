"""How every command prints: `-o table|json|yaml`, colour only on a terminal that wants it."""

import argparse
import json
import os
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TextIO

type Value = bool | int | float | str | Sequence[Value] | Mapping[str, Value] | None
type Row = Mapping[str, Value]


class Tone(StrEnum):
    """What a word says; the terminal's colour follows from it, and never stands alone."""

    GOOD = "32"
    BAD = "31"
    WARNING = "33"
    QUIET = "2"


type ToneOf = Callable[[str, Value], Tone | None]


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add `-o`, read back as `arguments.output`."""
    parser.add_argument("-o", "--output", choices=("table", "json", "yaml"), default="table", help="default: table")


def print_rows(
    rows: Sequence[Row], columns: Sequence[str], output: str, stream: TextIO, tone_of: ToneOf | None = None
) -> None:
    """Print rows: a table of these columns (keys of a row), or all that the rows hold as JSON or YAML.

    `tone_of(column, value)` colours a cell of the table. Dates and the like are the caller's to turn into text.
    """
    if output == "table":
        stream.write(_table(rows, columns, tone_of if has_colour(stream) else None))
    else:
        print_document(rows, output, stream)


def print_document(document: Value, output: str, stream: TextIO) -> None:
    """Print one value as JSON or YAML."""
    if output == "json":
        stream.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        return
    import yaml

    yaml.dump(_plain(document), stream, Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=False, width=120)


def paint(text: str, tone: Tone | None, stream: TextIO) -> str:
    """The text in the colour of its tone, or as it is where colour is not wanted."""
    return _coloured(text, tone) if tone and has_colour(stream) else text


def has_colour(stream: TextIO) -> bool:
    """Whether the stream is a terminal that can show colour; https://no-color.org switches it off."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def cell(value: Value) -> str:
    """A value on one line, "-" for none, without anything that a terminal would obey."""
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(cell, value)) or "-"
    # One row stays one line, and a terminal obeys no sequence that came out of a cluster.
    return "".join(character if character.isprintable() else " " for character in str(value))


def progress(message: str) -> None:
    """A line about what is going on, on stderr so that the output stays clean."""
    sys.stderr.write(f"{message}\n")


def _table(rows: Sequence[Row], columns: Sequence[str], tone_of: ToneOf | None) -> str:
    cells = [[cell(row.get(column)) for column in columns] for row in rows]
    heads = [column.replace("_", " ").upper() for column in columns]
    widths = [max(map(_width, column)) for column in zip(heads, *cells, strict=True)]
    lines = [_line(heads, widths)]
    for row, texts in zip(rows, cells, strict=True):
        tones = [tone_of(column, row.get(column)) if tone_of else None for column in columns]
        lines.append(_line(texts, widths, tones))
    return "\n".join(lines) + "\n"


def _line(texts: Sequence[str], widths: Sequence[int], tones: Sequence[Tone | None] = ()) -> str:
    padded = [text + " " * (width - _width(text)) for text, width in zip(texts, widths, strict=True)]
    padded[-1] = padded[-1].rstrip()
    return "   ".join(_coloured(text, tone) for text, tone in zip(padded, tones or [None] * len(padded), strict=True))


def _coloured(text: str, tone: Tone | None) -> str:
    return f"\033[{tone}m{text}\033[0m" if tone else text


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _plain(value: Value) -> Value:
    """Lists and dicts alone, which is what YAML's safe dumper takes; text as str, not as a StrEnum."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    return value
