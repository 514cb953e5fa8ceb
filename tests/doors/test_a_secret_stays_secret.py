"""The Secret type and the logging filter behind it."""

import copy
import dataclasses
import io
import json
import logging
import pickle
import pprint
import string
import sys
import time
import traceback
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clusters_app.secret import MASK, Secret, SecretFilter, SecretLost, mask, quiet_libraries

# Long enough to be searched for, and never by chance a part of the text around it.
values = st.text(string.ascii_letters + string.digits + "+/=_-.%\\'\"\n é", min_size=12, max_size=60).filter(
    lambda value: len(set(value)) > 5 and value.strip() == value
)


@dataclasses.dataclass(frozen=True)
class Connection:
    host: str
    token: Secret


class Credential(msgspec.Struct, frozen=True):
    token: Secret


WAYS: dict[str, Callable[[Secret], object]] = {
    "repr": repr,
    "str": str,
    "format": lambda secret: format(secret, ">20"),
    "f-string": lambda secret: f"{secret} {secret!r} {secret!s} {secret!a}",
    "percent": lambda secret: "%s %r" % (secret, secret),  # noqa: UP031
    "str.format": lambda secret: "{} {!r}".format(secret, secret),  # noqa: UP032
    "list": lambda secret: str([secret, {secret: secret}, (secret,)]),
    "pprint": lambda secret: pprint.pformat({"a": [secret]}),
    "json": lambda secret: json.dumps({"a": secret}, default=str),
    "msgspec": lambda secret: msgspec.json.encode(Credential(secret), enc_hook=str),
    "pickle": lambda secret: [pickle.dumps(secret, protocol) for protocol in range(6)],
    "pickle inside": lambda secret: pickle.dumps(Connection("h", secret)),
    "dataclass": lambda secret: repr(Connection("h", secret)),
    "asdict": lambda secret: repr(dataclasses.asdict(Connection("h", secret))),
    "astuple": lambda secret: repr(dataclasses.astuple(Connection("h", secret))),
    "copy": lambda secret: repr((copy.copy(secret), copy.deepcopy([secret]))),
    "state": lambda secret: repr((secret.__reduce__(), secret.__reduce_ex__(4))),
    "exception": lambda secret: repr(ValueError(secret)) + str(ValueError("a", secret)),
    "dir": lambda secret: repr([getattr(secret, name) for name in dir(secret) if not name.startswith("_Secret__")]),
    "bytes": lambda secret: repr(secret).encode(),
}


@pytest.mark.parametrize("way", WAYS)
@given(value=values)
@settings(max_examples=20)
def test_no_way_of_making_text_shows_it(way: str, value: str) -> None:
    shown = WAYS[way](Secret(value))
    assert value not in repr(shown)
    assert value.encode() not in (shown if isinstance(shown, bytes) else b"")


@pytest.mark.parametrize("encode", [json.dumps, msgspec.json.encode, msgspec.to_builtins, bytes, int, list, len, vars])
def test_what_cannot_show_it_refuses(encode: Callable[[object], object]) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        encode(Secret("swordfish-77"))
    assert "swordfish" not in str(caught.value)


def test_the_value_is_given_out_on_demand_only() -> None:
    assert Secret("swordfish").reveal() == "swordfish"
    assert copy.deepcopy(Secret("swordfish")).reveal() == "swordfish"


def test_a_pickled_secret_has_no_value_left() -> None:
    restored = pickle.loads(pickle.dumps(Secret("swordfish")))
    assert (str(restored), bool(restored)) == (MASK, False)
    with pytest.raises(SecretLost):
        restored.reveal()
    assert restored != Secret("")


@given(st.text(), st.text())
@example("a", "a")
@example("\ud800", "\ud800")
def test_secrets_are_equal_when_their_values_are(one: str, other: str) -> None:
    assert (Secret(one) == Secret(other)) is (one == other)
    assert hash(Secret(one)) == hash(Secret(one))
    assert Secret(one) != one


def test_secrets_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []
    monkeypatch.setattr("hmac.compare_digest", lambda a, b: compared.append((a, b)) or a == b)  # type: ignore[func-returns-value]
    assert Secret("one") != Secret("two")
    assert compared == [(b"one", b"two")]


def test_only_text_can_be_secret() -> None:
    with pytest.raises(TypeError, match="bytes"):
        Secret(b"swordfish")  # type: ignore[arg-type]


def test_a_traceback_with_a_secret_in_scope_does_not_show_it() -> None:
    secret = Secret("swordfish-99")
    try:
        raise ValueError(secret)  # noqa: TRY301
    except ValueError:
        shown = traceback.TracebackException(*sys.exc_info(), capture_locals=True)
        text = "".join(shown.format())
    assert "secret = ***" in text
    assert "swordfish-99" not in text.replace('Secret("swordfish-99")', "")


# The filter


def logged(log: Callable[[logging.Logger], None]) -> str:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(SecretFilter())
    handler.setFormatter(logging.Formatter("%(message)s %(url)s", defaults={"url": ""}))
    logger = logging.Logger("test")  # noqa: LOG001 - outside the tree on purpose
    logger.addHandler(handler)
    log(logger)
    return stream.getvalue()


def _raise(value: str) -> None:
    raise ConnectionError(f"while using {value} for something")


def log_exception(logger: logging.Logger, value: str) -> None:
    try:
        _raise(value)
    except ConnectionError:
        logger.exception("it failed")


LINES: dict[str, Callable[[logging.Logger, str], None]] = {
    "message": lambda logger, value: logger.error("using " + value),  # noqa: G003
    "argument": lambda logger, value: logger.error("using %s here", value),
    "repr": lambda logger, value: logger.error("using %r here", value),
    "secret": lambda logger, value: logger.error("using %s here", Secret(value)),
    "list": lambda logger, value: logger.error("using %s", [value, {"a": value}]),
    "named": lambda logger, value: logger.error("using %(token)s", {"token": value}),
    "json": lambda logger, value: logger.error("sent %s", json.dumps({"token": value})),
    "exception": log_exception,
    "extra": lambda logger, value: logger.error("asked", extra={"url": f"https://forge.lab/?q={value}"}),
    "extra list": lambda logger, value: logger.error("asked", extra={"url": [value]}),
    "stack": lambda logger, value: logger.error("asked %s", value, stack_info=True),
    "broken": lambda logger, value: logger.error("asked %d %s", value),  # noqa: PLE1206
}


@pytest.mark.parametrize("line", LINES)
@given(value=values)
@settings(max_examples=20)
def test_no_log_line_shows_a_living_secret(line: str, value: str) -> None:
    secret = Secret(value)
    text = logged(lambda logger: LINES[line](logger, value))
    assert secret
    for spelling in (value, repr(value)[1:-1], json.dumps(value)[1:-1]):
        assert spelling not in text
    assert text.strip()


def test_one_secret_inside_another_leaves_nothing_over() -> None:
    secrets = Secret("swordfish"), Secret("swordfish-and-tail")
    assert mask("a swordfish-and-tail b swordfish c") == "a *** b *** c"
    assert len(secrets) == 2


def test_two_secrets_of_one_value_do_not_hide_one_another() -> None:
    first, second = Secret("swordfish-12"), Secret("swordfish-12")
    del first
    assert mask("swordfish-12") == MASK
    assert second


def test_a_short_secret_does_not_shred_text() -> None:
    secret = Secret("a")
    assert mask("a plain line") == "a plain line"
    assert secret


token = st.text(string.ascii_letters + string.digits + "_-", min_size=20, max_size=60)
SHAPES: dict[str, str] = {
    "our token": "flo_{}",
    "bearer": "Authorization: Bearer {}",
    "bearer in a dict": "{{'Authorization': 'Bearer {}'}}",
    "basic": "Authorization: Basic {}=",
    "gitea": "authorization: token {}",
    "gitlab": "PRIVATE-TOKEN: {}",
    "userinfo": "https://user:{}@forge.lab/a.git",
    "user only": "fatal: could not read from 'https://{}@forge.lab/a.git'",
    "query": "GET /x?access_token={}&page=1",
    "github": "ghp_{}",
    "gitlab token": "glpat-{}",
    "age": "AGE-SECRET-KEY-1{}",
    "seal key": "flotilla-seal-private-{}",
    "jwt": "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.{}",
    "pem": "-----BEGIN EC PRIVATE KEY-----\n{}\n-----END EC PRIVATE KEY-----",
    "pem in one line": "-----BEGIN PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----",
    "pem that was cut": "-----BEGIN PRIVATE KEY-----\n{}",
}


@pytest.mark.parametrize("shape", SHAPES)
@given(value=token)
@settings(max_examples=30)
def test_the_shape_of_a_token_is_masked(shape: str, value: str) -> None:
    line = f"before {SHAPES[shape].format(value)} after"
    text = logged(lambda logger: logger.error(line))
    assert value not in text
    assert text.startswith("before ")
    assert "cut" in shape or text.rstrip().endswith("after")


@pytest.mark.parametrize(
    "line",
    [
        "Basic authentication failed for forge.lab",
        "bearer tokens expire",
        "fetch git@forge.lab:acme/fleet.git at 0123456789abcdef0123456789abcdef01234567",
        "https://forge.lab/acme/fleet/compare/a...b?page=2",
        "Kustomization/flux-system/apps is Ready: Applied revision: main@sha1:0123456789abcdef0123456789abcdef01234567",
        "-----BEGIN CERTIFICATE-----",
    ],
)
def test_what_is_no_token_stays(line: str) -> None:
    assert mask(line) == line


@pytest.mark.parametrize("part", ["://", "-----BEGIN ", "eyJ", "authorization"])
def test_a_text_that_seems_to_begin_a_secret_again_and_again_is_masked_quickly(part: str) -> None:
    began = time.process_time()
    mask(part * 500)
    assert time.process_time() - began < 0.2


@given(st.text(max_size=300))
@example("://" * 500)
@example("-----BEGIN " * 500)
@example("eyJ" * 500)
@example("authorization" * 200)
def test_masking_twice_is_masking_once(text: str) -> None:
    assert mask(mask(text)) == mask(text)


def test_an_unmasked_record_keeps_its_arguments_and_exception() -> None:
    record = logging.LogRecord("n", logging.INFO, "p", 1, "%s and %d", ("a", 2), None)
    assert SecretFilter().filter(record)
    assert record.args == ("a", 2)
    assert record.getMessage() == "a and 2"


def test_a_masked_exception_cannot_be_formatted_again() -> None:
    secret = Secret("swordfish-34")
    try:
        _raise(secret.reveal())
    except ConnectionError:
        record = logging.LogRecord("n", logging.ERROR, "p", 1, "failed", None, sys.exc_info())
    SecretFilter().filter(record)
    assert record.exc_info is None
    assert record.exc_text is not None
    assert "while using *** for something" in record.exc_text


def test_libraries_are_quiet() -> None:
    quiet_libraries()
    for name in ("urllib3.connectionpool", "git.cmd", "kubernetes.client.rest", "aiohttp.access"):
        assert not logging.getLogger(name).isEnabledFor(logging.INFO)
