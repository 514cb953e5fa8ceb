"""After the first "too many", a credential rests as a whole and probes alone (C051)."""

from datetime import UTC, datetime

import pytest

from clusters_app.forges.pace import Pace, retry_after_seconds


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_twenty_minutes_without_a_hint_cost_ten_probes_for_all_thirty() -> None:
    clock = Clock()
    pace = Pace(clock, lambda: 0.5)
    probes = 0
    while clock.now < 20 * 60:
        for _ in range(30):
            if pace.seconds_to_wait() == 0:
                probes += 1
                pace.refused(None)
        clock.now += 1
    assert probes <= 10


def test_work_resumes_by_itself_once_the_probe_is_answered() -> None:
    clock = Clock()
    pace = Pace(clock, lambda: 0.0)
    pace.refused(None)
    assert pace.seconds_to_wait() == 30
    clock.now = 31
    assert pace.seconds_to_wait() == 0
    assert pace.seconds_to_wait() > 0
    pace.answered()
    assert [pace.seconds_to_wait() for _ in range(5)] == [0] * 5
    pace.refused(None)
    assert pace.seconds_to_wait() == 30


def test_a_probe_that_never_comes_back_does_not_stop_the_credential_for_ever() -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.refused(5)
    clock.now = 6
    assert pace.seconds_to_wait() == 0
    clock.now = 6 + 61
    assert pace.seconds_to_wait() == 0


def test_answers_that_were_under_way_do_not_lengthen_the_rest() -> None:
    pace = Pace(Clock(), lambda: 0.0)
    rests = [pace.refused(None) for _ in range(20)]
    assert rests == [30.0] * 20


def test_the_forge_s_own_word_counts() -> None:
    clock = Clock()
    pace = Pace(clock)
    assert pace.refused(7) == 7
    assert pace.seconds_to_wait() == 7


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None), ("", None), ("soon", None), ("-5", None), ("0", 0), ("17", 17), ("99999999", 86_400),
        ("Mon, 04 May 2026 12:01:00 GMT", 60), ("Mon, 04 May 2026 11:00:00 GMT", 0), ("Mon, 99 Foo", None),
    ],
)  # fmt: skip
def test_the_time_to_come_back_is_read_in_both_forms(value: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(value, datetime(2026, 5, 4, 12, tzinfo=UTC)) == seconds
