"""A value that must never be seen: in a page, a log line, an error, a dump.

`Secret` hides a credential wherever Python turns objects into text; `SecretFilter` stands behind it and masks what
slipped into a log line as plain text.
"""

import hmac
import json
import logging
import re
import weakref
from typing import NoReturn, Self, final
from urllib.parse import quote

MASK = "***"

# A shorter value would shred innocent text ("a" → "***") without protecting anything.
SHORTEST_SEARCHED = 6


class SecretLost(Exception):
    """Somebody asked for the value of a secret that had been pickled: the value did not travel."""


@final
class Secret:
    """A credential. Only `reveal()` gives it out; a test keeps the list of files that may call it.

    Two secrets are equal when their values are (compared in constant time); a secret never equals a plain string.
    Copies in the same process are the object itself. Pickling loses the value on purpose: a credential has no business
    in a broker or a cache, and `reveal()` of the restored object raises `SecretLost`.
    """

    __slots__ = ("__spellings", "__value", "__weakref__")

    def __init__(self, value: str) -> None:
        if not isinstance(value, str):
            raise TypeError(f"a Secret holds text, not {type(value).__name__}")
        self.__value: str | None = value
        self.__spellings = _spellings(value)
        _alive[id(self)] = self

    def reveal(self) -> str:
        """The value itself. Keep the result in no attribute, message or log."""
        if self.__value is None:
            raise SecretLost("this secret was pickled and its value stayed behind: read it again where it is kept")
        return self.__value

    def _disown(self) -> None:
        self.__value = None

    def _length(self) -> int:
        return len(self.__value or "")

    def _hide_in(self, text: str) -> str:
        for spelling in self.__spellings:
            if spelling in text:
                text = text.replace(spelling, MASK)
        return text

    def __repr__(self) -> str:
        return MASK

    def __str__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        return format(MASK, spec)

    def __bool__(self) -> bool:
        return bool(self.__value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        if self.__value is None or other.__value is None:
            return self is other
        return hmac.compare_digest(_bytes(self.__value), _bytes(other.__value))

    def __hash__(self) -> int:
        return hash((Secret, self.__value))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[object, tuple[()]]:
        return _lost_secret, ()

    def __reduce_ex__(self, protocol: object) -> tuple[object, tuple[()]]:
        return _lost_secret, ()

    def __getstate__(self) -> None:
        return None

    def __setstate__(self, state: object) -> NoReturn:
        raise TypeError("a Secret has no state to restore")


def _bytes(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")


def _spellings(value: str) -> tuple[str, ...]:
    """How a value may look inside a text: itself, percent-encoded, escaped in JSON or in a repr; longest first."""
    if len(value) < SHORTEST_SEARCHED:
        return ()
    encoded = quote(value, safe="", errors="replace")
    return tuple(sorted({value, encoded, json.dumps(value)[1:-1], repr(value)[1:-1]}, key=len, reverse=True))


def _lost_secret() -> Secret:
    secret = Secret("")
    secret._disown()
    return secret


# Every secret that is alive, by identity: equal values in two objects must not hide one another from the filter.
# No lock: `valuerefs()` copies in one step, and a lock would be waited for in signal handlers and forked workers.
_alive: weakref.WeakValueDictionary[int, Secret] = weakref.WeakValueDictionary()


def _secrets_alive() -> list[Secret]:
    secrets = [secret for reference in _alive.valuerefs() if (secret := reference()) is not None]
    # Longest first: one secret may hold another, and its rest must not stay behind.
    return sorted(secrets, key=Secret._length, reverse=True)


def _shape(pattern: str, replacement: str = MASK) -> tuple[re.Pattern[str], str]:
    return re.compile(pattern, re.VERBOSE | re.DOTALL), replacement


_END = r"[^\s\"',;]"  # what a token is made of, when nothing better is known

_SHAPES = (
    # A whole private key first: its inside would match shorter shapes. Without an end it was cut: all the rest goes.
    _shape(r"-----BEGIN\ [A-Z0-9\ ]{0,40}PRIVATE\ KEY-----.*?(?:-----END\ [A-Z0-9\ ]{0,40}PRIVATE\ KEY-----|\Z)"),
    _shape(r"(?<=://)[^\s/?\#\"'<>]*@", f"{MASK}@"),
    # "Basic authentication" is prose: a short word counts as a credential only with a digit, a capital or a sign in it.
    _shape(rf"\b((?i:Bearer|Basic)\s+)(?:{_END}{{20,}}|(?=[a-z]*[^a-z\s\"',;]){_END}+)", rf"\1{MASK}"),
    _shape(
        rf"\b((?i:(?:proxy-)?authorization|private-token|job-token|x-gitlab-token)[\"']?\s*[:=]\s*[\"']?)"
        rf"(?:(?i:token)\s+)?{_END}+",
        rf"\1{MASK}",
    ),
    _shape(r"\b((?i:(?:\w{1,16}_)?token|client_secret|password|secret)=)[^\s&\"',;]+", rf"\1{MASK}"),
    _shape(r"\beyJ[\w-]{5,}\.[\w-]*\.?[\w-]*"),
    _shape(
        r"\b(?:flo_|flotilla-seal-private-|gh[pousr]_|github_pat_|glpat-|gl[a-z]{2,5}-|ATBB|ATCTT3|AGE-SECRET-KEY-1)[\w=-]{8,}"
    ),
)


def mask(text: str) -> str:
    """The text without the values of living secrets (plain, percent-encoded, escaped) and without shapes of tokens.

    Cost: one search of the text for each living secret. Values under six characters are not searched for.
    """
    for secret in _secrets_alive():
        text = secret._hide_in(text)
    for shape, replacement in _SHAPES:
        text = shape.sub(replacement, text)
    return text


_OWN_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


class SecretFilter(logging.Filter):
    """Masks message, arguments, traceback and extra fields of each record. Belongs on every handler.

    It never drops a record. A record that had something to hide loses its arguments and its exception object, so that
    no later handler can format them again; the masked traceback stays in `exc_text`.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        _mask_message(record)
        _mask_traceback(record)
        for name, value in list(vars(record).items()):
            if name not in _OWN_FIELDS:
                setattr(record, name, _masked_field(value))
        return True


def _mask_message(record: logging.LogRecord) -> None:
    try:
        message = record.getMessage()
    except Exception:  # noqa: BLE001 - arguments of any type may fail in any way, and logging would print them raw
        message = f"a log call in {record.pathname}:{record.lineno} could not be formatted"
        record.msg, record.args = message, None
        return
    masked = mask(message)
    if masked != message:
        record.msg, record.args = masked, None


def _mask_traceback(record: logging.LogRecord) -> None:
    if record.stack_info:
        record.stack_info = mask(record.stack_info)
    if not record.exc_info and not record.exc_text:
        return
    text = record.exc_text or _TRACEBACKS.formatException(record.exc_info)  # type: ignore[arg-type]
    record.exc_text = mask(text)
    if record.exc_text != text:
        record.exc_info = None


_TRACEBACKS = logging.Formatter()


def _masked_field(value: object) -> object:
    """A field from `extra=`: text is masked, and so is whatever would show a secret once it is printed."""
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else repr(value)
    masked = mask(text)
    return value if masked == text else masked


_TALKATIVE = (
    "urllib3",
    "requests",
    "git",
    "kubernetes",
    "aiohttp",
    "asyncio",
    "cookiecutter",
    "charset_normalizer",
    "kombu",
    "amqp",
)


def quiet_libraries() -> None:
    """Library loggers say warnings and worse: below that they print URLs, headers and command lines."""
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
