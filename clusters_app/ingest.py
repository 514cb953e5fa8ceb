"""Documents and values from outside: read within limits, and cleaned before they are stored or shown.

The other side may be a cluster, a forge, an agent or a person, and may lie, break or attack. What cannot be read is an
`IngestError`; the caller marks that one thing unreadable and goes on.
"""

import json
import re
from datetime import UTC, datetime
from typing import NoReturn

type JsonValue = bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None

MAX_JSON_BYTES = 1024 * 1024
MAX_STRING = 65_536
MAX_DEPTH = 50
MAX_NODES = 200_000


class IngestError(Exception):
    """`code` is stable, `line` counts from one when it is known. The message never repeats what was read."""

    def __init__(self, code: str, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.line = line

    def __reduce__(self) -> tuple[type["IngestError"], tuple[str, str, int | None]]:
        return type(self), (self.code, self.message, self.line)


def json_object(
    data: bytes,
    *,
    max_bytes: int = MAX_JSON_BYTES,
    max_string: int = MAX_STRING,
    max_depth: int = MAX_DEPTH,
    max_nodes: int = MAX_NODES,
) -> dict[str, JsonValue]:
    """As `json_document`, for where an object must come."""
    value = json_document(data, max_bytes=max_bytes, max_string=max_string, max_depth=max_depth, max_nodes=max_nodes)
    if not isinstance(value, dict):
        raise IngestError("json.not-an-object", "this must be a JSON object")
    return value


def json_document(
    data: bytes,
    *,
    max_bytes: int = MAX_JSON_BYTES,
    max_string: int = MAX_STRING,
    max_depth: int = MAX_DEPTH,
    max_nodes: int = MAX_NODES,
) -> JsonValue:
    """A JSON document with every string (keys too) cleaned and cut, and every integer clamped to 64 bit.

    Raises `IngestError` for what is too large, too deep, not UTF-8 or not JSON, and for NaN, infinite numbers and one
    key twice.
    """
    if len(data) > max_bytes:
        raise IngestError("json.too-large", f"this document is larger than {max_bytes} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise IngestError("json.not-utf8", "this document is not in UTF-8", _line(data, error.start)) from None
    _check_size(text, max_depth, max_nodes)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise IngestError("json.not-json", f"this is not JSON from line {error.lineno} on", error.lineno) from None
    return _cleaned(value, max_string)


def _line(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1


_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{\]},]', re.DOTALL)


def _check_size(text: str, max_depth: int, max_nodes: int) -> None:
    """Depth and number of values by brackets and commas outside strings, before anything is built of them."""
    depth = nodes = 0
    for token in _BRACKETS.finditer(text):
        sign = text[token.start()]
        if sign in "[{":
            depth += 1
            nodes += 1
            if depth > max_depth:
                raise IngestError("json.too-deep", f"this document is nested deeper than {max_depth} levels")
        elif sign in "]}":
            depth -= 1
        elif sign == ",":
            nodes += 1
        if nodes > max_nodes:
            raise IngestError("json.too-many-values", f"this document has more than {max_nodes} values")


def _integer(digits: str) -> int:
    # int() refuses more than 4300 digits, and 20 are past 64 bit anyway.
    return clamp(int(digits[:21]))


def _float(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        _no_number(digits)
    return value


def _no_number(_: str) -> NoReturn:
    raise IngestError("json.bad-number", "this document has a number that is none, or infinite")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise IngestError("json.duplicate-key", "this document has a key twice in one object")
    return found


_DECODER = json.JSONDecoder(
    parse_int=_integer, parse_float=_float, parse_constant=_no_number, object_pairs_hook=_unique
)


def _cleaned(value: object, max_string: int) -> JsonValue:
    """A copy with clean strings. Recursive: the depth has been checked."""
    if isinstance(value, str):
        return clean_text(value, limit=max_string)
    if isinstance(value, list):
        return [_cleaned(item, max_string) for item in value]
    if isinstance(value, dict):
        pairs = [(clean_text(key, limit=max_string), _cleaned(item, max_string)) for key, item in value.items()]
        return dict(_unique(pairs))  # type: ignore[arg-type]
    assert value is None or isinstance(value, bool | int | float)
    return value


# Values


_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


def clamp(number: int) -> int:
    """Into 64 bit with sign, which is what databases hold."""
    return min(max(number, _SMALLEST), _LARGEST)


def clean_int(value: object) -> int | None:
    """A whole number within 64 bit; None for everything else, numbers in text and true and false included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float):
        return clamp(int(value)) if value.is_integer() else None
    return clamp(value)


# C0 without tab and newline, DEL, C1; marks that turn the direction of text, invisible separators, byte order mark.
_CONTROLS = re.compile("[\x01-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_NEWLINES = re.compile(r"\r\n?")


def clean_text(value: str, *, limit: int = 4_096) -> str:
    """Text that can be stored, logged and shown: newlines and tabs stay, nothing else controls a terminal or a page.

    NUL and lone surrogates become U+FFFD, other control and direction characters their escape (`\\x1b`, `\\u202e`),
    CRLF and CR a newline. Longer than `limit` characters (at least one): cut, with an ellipsis at the end. Idempotent.
    """
    # Cut once before as well: each character is looked at, and the rest would be for nothing.
    text = _NEWLINES.sub("\n", value[: 2 * limit + 1])
    text = _CONTROLS.sub(_escape, _UNSTORABLE.sub("\ufffd", text))
    return _cut(text, limit)


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def clean_line(value: str, *, limit: int = 256) -> str:
    """The same on one line, with runs of white space made one space: for names, titles and log lines."""
    line = " ".join(clean_text(value[: 4 * limit], limit=8 * limit).split())
    return _cut(line, limit)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,18})?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)


def clean_timestamp(value: object) -> datetime | None:
    """A time by RFC 3339 in UTC; None for anything odd: no zone, no such day, Go's zero time, years far from ours."""
    if not isinstance(value, str) or not _TIMESTAMP.fullmatch(value):
        return None
    try:
        moment = datetime.fromisoformat(value.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment if 1990 <= moment.year <= 2200 else None


_USERINFO = re.compile(r"(?<=://)[^/?#\s]*@")


def clean_url(value: str, *, limit: int = 2_048) -> str:
    """A URL without user name and password, cleaned as a line: for storing and showing."""
    return clean_line(_USERINFO.sub("", value), limit=limit)
