"""One pull request, whatever the forge forgets, repeats or hides."""

from dataclasses import replace

import pytest

from clusters_app.forges.base import Draft, PullRequest, State, marked
from clusters_app.forges.errors import ForgeError, ForgePermanent, forge_error
from clusters_app.forges.once import ensure_open

DRAFT = Draft("7", "flotilla/prod.app", "main", "Promote", "Body")


class Careless:
    """A forge that keeps what it is given, also twice. `hidden`: how many lists still lack what was created."""

    def __init__(self) -> None:
        self.requests: list[PullRequest] = []
        self.hidden = 0
        self.error: ForgeError | None = None

    def find(self, *, head: str, base: str) -> list[PullRequest]:
        if self.hidden:
            self.hidden -= 1
            return []
        return list(reversed(self.requests))

    def create(self, draft: Draft) -> PullRequest:
        if self.error:
            raise self.error
        number = len(self.requests) + 1
        body = marked(draft.key, draft.body)
        made = PullRequest(number, "u", State.OPEN, draft.head, "a" * 40, draft.base, draft.title, body, "flotilla")
        self.requests.append(made)
        return made

    def close(self, number: int) -> None:
        self.requests[number - 1] = replace(self.requests[number - 1], state=State.CLOSED)

    def settle(self, number: int, state: State) -> None:
        self.requests[number - 1] = replace(self.requests[number - 1], state=state)


@pytest.fixture
def forge() -> Careless:
    return Careless()


def ensure(forge: Careless) -> PullRequest | None:
    return ensure_open(forge, DRAFT, lambda: True)  # type: ignore[arg-type]


def test_surplus_ones_of_ours_are_closed_and_the_oldest_stays(forge: Careless) -> None:
    for _ in range(3):
        forge.create(DRAFT)
    found = ensure(forge)
    assert found is not None
    assert found.number == 1
    assert [each.state for each in forge.requests] == [State.OPEN, State.CLOSED, State.CLOSED]


def test_a_list_that_lags_behind_makes_no_second_one(forge: Careless) -> None:
    forge.hidden = 2
    found = ensure(forge)
    assert found is not None
    assert found.number == 1
    assert len(forge.requests) == 1


@pytest.mark.parametrize("state", [State.MERGED, State.CLOSED])
def test_a_settled_one_is_answered_and_nothing_is_made(forge: Careless, state: State) -> None:
    forge.create(DRAFT)
    forge.settle(1, state)
    found = ensure(forge)
    assert found is not None
    assert found.state is state
    assert len(forge.requests) == 1


def test_a_merged_one_counts_more_than_a_surplus_that_we_closed(forge: Careless) -> None:
    forge.create(DRAFT)
    forge.create(DRAFT)
    forge.settle(1, State.MERGED)
    forge.settle(2, State.CLOSED)
    found = ensure(forge)
    assert found is not None
    assert found.number == 1


def test_already_there_without_being_there_is_an_error_and_no_loop(forge: Careless) -> None:
    forge.error = forge_error("forge.already-open", head="h")
    with pytest.raises(ForgePermanent):
        ensure(forge)
    forge.error = forge_error("forge.answer-lost", host="h")
    with pytest.raises(ForgeError):
        ensure(forge)


def test_a_closed_stranger_is_no_obstacle(forge: Careless) -> None:
    forge.create(replace(DRAFT, key="another"))
    forge.settle(1, State.CLOSED)
    found = ensure(forge)
    assert found is not None
    assert found.number == 2
