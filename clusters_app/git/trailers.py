"""Facts that travel in commit messages, so that history can be read when the database is lost."""

import re
from collections.abc import Sequence

Trailers = Sequence[tuple[str, str]]

# At the start of a line anywhere: a squash buries the block in the middle. A quoted or indented line is not a fact.
_TRAILER = re.compile(r"^(Flotilla-[A-Z][A-Za-z-]*): ?(.*?)[ \t\r]*$", re.MULTILINE)
_KEY = re.compile(r"[A-Z][A-Za-z]*(-[A-Za-z]+)*")


def read_trailers(message: str) -> tuple[tuple[str, str], ...]:
    """Flotilla's trailers of a message in their order; a repeated one more than once, an exact copy not."""
    return tuple(dict.fromkeys((found[1], found[2]) for found in _TRAILER.finditer(message)))


def trailer(message: str, key: str) -> str | None:
    """The value of the last trailer of this name, None when there is none."""
    return dict(read_trailers(message)).get(key)


def with_trailers(message: str, trailers: Trailers) -> str:
    """The message with a block of trailers at its end, one empty line before it, a line end after it."""
    text = message.replace("\r\n", "\n").replace("\0", "").strip("\n")
    if not trailers:
        return f"{text}\n"
    return f"{text}\n\n{''.join(_line(key, value) for key, value in trailers)}"


def _line(key: str, value: str) -> str:
    if not _KEY.fullmatch(key) or not value.isprintable():
        raise ValueError(f"not a trailer: {key!r}")
    return f"{key}: {value}\n"
