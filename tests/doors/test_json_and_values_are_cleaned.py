"""Ingestion of JSON, and the helpers that clean single values."""

import json
import math
import time
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clusters_app.ingest import (
    IngestError,
    JsonValue,
    clean_int,
    clean_line,
    clean_text,
    clean_timestamp,
    clean_url,
    json_document,
    json_object,
)


def code(data: bytes, **limits: int) -> str:
    with pytest.raises(IngestError) as caught:
        json_document(data, **limits)
    assert caught.value.__cause__ is None
    return caught.value.code


def test_a_document_is_read() -> None:
    data = b'\xef\xbb\xbf{"a": [1, -2.5, true, null, "\\u0436"], "b": {}}'
    assert json_object(data) == {"a": [1, -2.5, True, None, "ж"], "b": {}}


@pytest.mark.parametrize("data", [b"[]", b"1", b'"a"', b"null", b"true"])
def test_what_is_no_object_is_refused_where_one_must_come(data: bytes) -> None:
    json_document(data)
    with pytest.raises(IngestError) as caught:
        json_object(data)
    assert caught.value.code == "json.not-an-object"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "json.not-json"),
        (b"{", "json.not-json"),
        (b"{'a': 1}", "json.not-json"),
        (b'{"a": 1,}', "json.not-json"),
        (b'{"a": 1} x', "json.not-json"),
        (b'{"a": "\x01"}', "json.not-json"),
        (b"<html>502 Bad Gateway</html>", "json.not-json"),
        (b'{"a": 1', "json.not-json"),
        (b'"\xff"', "json.not-utf8"),
        ('"a"'.encode("utf-16"), "json.not-utf8"),
        (b"NaN", "json.bad-number"),
        (b"[Infinity]", "json.bad-number"),
        (b"-Infinity", "json.bad-number"),
        (b"1e999", "json.bad-number"),
        (b'{"a": 1, "a": 2}', "json.duplicate-key"),
        (b'{"a": {"b": 1, "\\u0062": 2}}', "json.duplicate-key"),
        (b'{"a\\u0000": 1, "a\\ud800": 2}', "json.duplicate-key"),
        (b"[" * 51 + b"]" * 51, "json.too-deep"),
        (b"[" * 500_000, "json.too-deep"),
        (b'{"a":' * 100_000, "json.too-deep"),
        (b"[" + b"1," * 250_000 + b"1]", "json.too-many-values"),
        (b"[" + b"[]," * 150_000 + b"1]", "json.too-many-values"),
        (b'"' + b"a" * 1_048_576, "json.too-large"),
    ],
    ids=range(23),
)
def test_what_cannot_be_read_has_a_code(data: bytes, expected: str) -> None:
    assert code(data) == expected


def test_brackets_inside_strings_are_no_depth() -> None:
    text = '["' + "[" * 200 + '", "\\"' + "{" * 200 + '"]'
    assert json_document(text.encode()) == ["[" * 200, '"' + "{" * 200]


def test_a_syntax_error_names_its_line() -> None:
    with pytest.raises(IngestError, match="line 3") as caught:
        json_document(b'{\n"a": 1,\n"token": swordfish\n}')
    assert caught.value.line == 3
    assert "swordfish" not in caught.value.message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", 2**63 - 1),
        ("-9223372036854775809", -(2**63)),
        ("1" + "0" * 100_000, 2**63 - 1),
        ("-1" + "0" * 100_000, -(2**63)),
        ("-0", 0),
    ],
)
def test_whole_numbers_stay_within_64_bit(text: str, value: int) -> None:
    assert json_document(text.encode()) == value


@given(st.integers())
def test_a_whole_number_is_itself_or_the_nearest_that_fits(number: int) -> None:
    assert json_document(str(number).encode()) == min(max(number, -(2**63)), 2**63 - 1)


def test_strings_and_keys_are_cleaned_and_cut() -> None:
    data = json.dumps({"k\0": "a\0b\ud800c\x1b[31m\u202ed\r\ne", "long": "x" * 100})
    assert json_object(data.encode(), max_string=20) == {
        "k\ufffd": "a\ufffdb\ufffdc\\x1b[31m\\u202e…",
        "long": "x" * 19 + "…",
    }


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=30,
)


def strings(value: JsonValue) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key, *strings(item))]
    return []


@given(json_values)
def test_whatever_is_accepted_can_be_stored(value: object) -> None:
    try:
        cleaned = json_document(json.dumps(value).encode())
    except IngestError as error:
        # Two keys may become one by cleaning, and a float may be written as one that is too large.
        if error.code == "json.duplicate-key":
            return
        raise
    for text in strings(cleaned):
        text.encode()
        assert "\0" not in text
        assert text == clean_text(text, limit=65_536)
    json.dumps(cleaned, allow_nan=False)


@given(st.binary(max_size=200) | st.text('{}[]":,\\u0d8 1e-.tfn', max_size=100).map(str.encode))
@example(b'"\\')
@example(b'"\\ud83d\\ude00"')
def test_no_bytes_break_it_in_another_way(data: bytes) -> None:
    try:
        value = json_document(data)
    except IngestError:
        return
    assert value == json_document(json.dumps(value).encode())


@pytest.mark.parametrize(
    "text", ['"' + "\\" * 900_000, '"\\' * 400_000, '"' * 1_000_000, "{" * 50 + '"' + "a" * 900_000]
)
def test_hostile_text_costs_little(text: str) -> None:
    started = time.process_time()
    code(text.encode())
    assert time.process_time() - started < 2


# Values


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("plain\n\ttext", "plain\n\ttext"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("\0", "\ufffd"),
        ("\ud800x", "\ufffdx"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x7f\x9b", "\\x7f\\x9b"),
        ("user\u202egnp.exe", "user\\u202egnp.exe"),
        ("\u2066a\u2069\u200b\ufeff\u2028", "\\u2066a\\u2069\\u200b\\ufeff\\u2028"),
        ("привет 👋🏽 é", "привет 👋🏽 é"),
    ],
)
def test_text_loses_what_controls_a_terminal_or_a_page(text: str, cleaned: str) -> None:
    assert clean_text(text) == cleaned


@given(st.text(st.characters(), max_size=200), st.integers(1, 100))
@example("\r\n" * 200, 50)
@example("\x1b" * 20, 30)
def test_clean_text_is_short_printable_and_stays_as_it_is(text: str, limit: int) -> None:
    cleaned = clean_text(text, limit=limit)
    assert len(cleaned) <= limit
    assert all(character in "\n\t" or ord(character) >= 0x20 for character in cleaned)
    cleaned.encode()
    assert clean_text(cleaned, limit=limit) == cleaned
    line = clean_line(text, limit=limit)
    assert len(line) <= limit
    assert line == " ".join(line.split())
    assert "\n" not in line


def test_a_cut_shows() -> None:
    assert clean_text("abcdef", limit=4) == "abc…"
    assert clean_text("abcd", limit=4) == "abcd"
    assert clean_line("  a\n\n b\t c  ", limit=20) == "a b c"


def test_cleaning_a_huge_text_costs_little() -> None:
    started = time.process_time()
    clean_text("\x1b" * 50_000_000, limit=100)
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    ("value", "cleaned"),
    [
        (3, 3),
        (3.0, 3),
        (2**70, 2**63 - 1),
        (-(2**70), -(2**63)),
        (1e300, 2**63 - 1),
        (3.5, None),
        (math.nan, None),
        (math.inf, None),
        (True, None),
        ("3", None),
        (None, None),
        ([], None),
    ],
)
def test_only_whole_numbers_are_numbers(value: object, cleaned: int | None) -> None:
    assert clean_int(value) == cleaned
    assert not isinstance(clean_int(value), bool)


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026-11-30T18:18:21Z", datetime(2026, 11, 30, 18, 18, 21, tzinfo=UTC)),
        ("2026-11-30T18:18:21.123456789Z", datetime(2026, 11, 30, 18, 18, 21, 123456, tzinfo=UTC)),
        ("2026-11-30t18:18:21z", datetime(2026, 11, 30, 18, 18, 21, tzinfo=UTC)),
        ("2026-11-30T20:18:21+02:00", datetime(2026, 11, 30, 18, 18, 21, tzinfo=UTC)),
        ("2026-11-30T18:18:21", None),
        ("0001-01-01T00:00:00Z", None),
        ("9999-12-31T23:59:59-23:59", None),
        ("0001-01-01T00:00:00+23:59", None),
        ("2026-02-30T00:00:00Z", None),
        ("2026-11-30T18:18:60Z", None),
        ("2026-11-30T25:00:00Z", None),
        ("2026-11-30T18:18:21+99:00", None),
        ("2026-11-30", None),
        ("20261130T181821Z", None),
        ("2026-W48-1T00:00:00Z", None),
        ("２026-11-30T18:18:21Z", None),
        (" 2026-11-30T18:18:21Z", None),
        ("2026-11-30T18:18:21Z\n", None),
        ("", None),
        (None, None),
        (1764526701, None),
        (True, None),
        ({}, None),
    ],
)
def test_an_odd_time_is_none(value: object, moment: datetime | None) -> None:
    assert clean_timestamp(value) == moment


@given(st.datetimes(datetime(1990, 1, 2), datetime(2200, 12, 30), timezones=st.timezones()))  # noqa: DTZ001
def test_every_real_time_is_read(moment: datetime) -> None:
    text = moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
    assert clean_timestamp(text) == moment.astimezone(UTC)


@given(st.text(max_size=40))
def test_no_text_breaks_a_timestamp(text: str) -> None:
    assert clean_timestamp(text) is None or text[:4].isdigit()


@pytest.mark.parametrize(
    ("url", "cleaned"),
    [
        ("https://user:swordfish@forge.lab/a.git", "https://forge.lab/a.git"),
        ("https://swordfish@forge.lab", "https://forge.lab"),
        ("ssh://git@forge.lab/a.git", "ssh://forge.lab/a.git"),
        ("https://a:b@c@forge.lab/x", "https://forge.lab/x"),
        ("https://forge.lab/@scope/x", "https://forge.lab/@scope/x"),
        ("oci://reg.lab/fleet\x1b", "oci://reg.lab/fleet\\x1b"),
    ],
)
def test_a_url_loses_its_userinfo(url: str, cleaned: str) -> None:
    assert clean_url(url) == cleaned
