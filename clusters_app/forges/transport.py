"""The one place where forges are called: paths are quoted, rates kept, each call recorded, answers decoded safely."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from clusters_app.egress import Answer, EgressError, EgressTransient, Session
from clusters_app.ingest import IngestError, JsonValue, clean_line, json_document
from clusters_app.secret import Secret, mask

from .errors import forge_error, rate_limited
from .pace import Pace, retry_after_seconds

DEADLINE_SECONDS = 20.0
_MANY = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Call:
    """One exchange with a forge, for the record. `status` is None when there was no answer."""

    method: str
    path: str
    status: int | None
    seconds: float


Record = Callable[[Call], None]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of any status. `value` is its JSON, None when there is none; `text` says why, fit for an error."""

    status: int
    headers: Mapping[str, str]
    value: JsonValue
    text: str

    @property
    def is_good(self) -> bool:
        return 200 <= self.status < 300

    def read[T](self, kind: type[T], host: str) -> T:
        """The value as a struct. ForgeTransient `forge.unreadable` for anything else, such as a sign-in page."""
        try:
            return msgspec.convert(self.value, kind)
        except msgspec.ValidationError as error:
            raise forge_error("forge.unreadable", host=host, said=clean_line(str(error))) from error


class Transport:
    """Calls below one API root with one credential."""

    def __init__(
        self, session: Session, root: str, authorization: Secret | None, *, pace: Pace, record: Record
    ) -> None:
        self.host = urlsplit(root).netloc
        self._session = session
        self._root = root.rstrip("/")
        self._headers: dict[str, str | Secret] = {"Accept": "application/json"}
        if authorization is not None:
            self._headers["Authorization"] = authorization
        self._pace = pace
        self._record = record

    def call(
        self,
        method: str,
        segments: Sequence[str | int],
        *,
        query: Mapping[str, str | int] | None = None,
        json: object = None,
        deadline_seconds: float = DEADLINE_SECONDS,
    ) -> Reply:
        """One exchange; each segment of the path is quoted whole, so that `a/b` stays one.

        Raises ForgeTransient: `forge.rate-limited` (also without calling, during a rest), `forge.unreachable`, and for
        a write whose answer was lost `forge.answer-lost`. Every other answer is a Reply.
        """
        if wait := self._pace.seconds_to_wait():
            raise rate_limited(self.host, wait)
        path = "/" + "/".join(quote(str(segment), safe="") for segment in segments)
        answer = self._exchange(method, path + (f"?{urlencode(query)}" if query else ""), json, deadline_seconds)
        if self._limits_the_rate(answer):
            asked = retry_after_seconds(answer.headers.get("retry-after"), datetime.now(UTC))
            raise rate_limited(self.host, self._pace.refused(asked))
        self._pace.answered()
        return _reply(answer)

    def _exchange(self, method: str, path: str, json: object, deadline_seconds: float) -> Answer:
        started = time.monotonic()
        status = None
        try:
            answer = self._session.request(
                method,
                self._root + path,
                headers=self._headers,
                json=json,
                deadline_seconds=deadline_seconds,
                max_bytes=_MANY,
            )
            status = answer.status
        except EgressError as error:
            may_have_happened = method != "GET" and error.code in ("egress.timed-out", "egress.connection-lost")
            if may_have_happened:
                raise forge_error("forge.answer-lost", host=self.host) from error
            code = "forge.unreachable" if isinstance(error, EgressTransient) else "forge.not-reached"
            raise forge_error(code, host=self.host, said=clean_line(str(error), limit=300)) from error
        finally:
            self._record(Call(method, path, status, time.monotonic() - started))
        return answer

    @staticmethod
    def _limits_the_rate(answer: Answer) -> bool:
        return answer.status == 429 or (answer.status == 403 and "retry-after" in answer.headers)


def _reply(answer: Answer) -> Reply:
    value: JsonValue = None
    try:
        value = json_document(answer.body, max_bytes=_MANY) if answer.body else None
        text = _message(value)
    except IngestError:
        text = answer.body[:2000].decode("utf-8", errors="replace")
    return Reply(answer.status, answer.headers, value, clean_line(mask(text), limit=300))


def _message(value: JsonValue) -> str:
    """The sentence of an error body: forges put it under `message`, merge conflicts of Gitea under their own names."""
    if not isinstance(value, dict):
        return ""
    parts = [value.get(name) for name in ("message", "errors", "Err", "StdErr", "StdOut")]
    return " ".join(str(part) for part in parts if part)
