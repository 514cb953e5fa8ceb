"""`flotilla promote-env` on the server and `flotilla promotions`: a real repository, fake clusters."""

from collections.abc import Callable

import pytest

from clusters_app.api.promotion_shapes import PromotionDetailShape
from clusters_app.commands import promote_on_server
from clusters_app.models import Promotion
from tests.services.fleet import VERSION, Fleet

from .conftest import Flotilla

pytestmark = pytest.mark.django_db(transaction=True)

WORDS = ("promote-env", "--app", "web", "--from", "dev", "--to", "staging")
IMAGE = "registry.example/web"


@pytest.fixture
def newer(fleet: Fleet) -> Fleet:
    """The fleet after somebody released 1.1.0 in dev."""
    path = VERSION.format("dev")
    fleet.commit({path: fleet.read(path).replace("1.0.0", "1.1.0").encode()}, "Web 1.1.0")
    fleet.sync()
    fleet.reconcile("dev")
    return fleet


@pytest.fixture
def at_each_look(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[Callable[[], object]]], None]:
    """What happens elsewhere while the command waits, one thing a look."""

    def happen(steps: list[Callable[[], object]]) -> None:
        def next_step() -> None:
            steps.pop(0)()

        monkeypatch.setattr(promote_on_server, "_pause", next_step)

    return happen


def test_a_dry_run_shows_one_value_and_opens_nothing(newer: Fleet, flotilla: Flotilla) -> None:
    told = flotilla(*WORDS, "--dry-run")
    assert (told.code, told.err) == (0, "")
    lines = told.out.splitlines()
    assert lines[0].startswith("web: dev → staging   release sha256:")
    assert [line for line in lines if f"{IMAGE}:1.0.0 → {IMAGE}:1.1.0" in line] == [lines[1]]
    assert VERSION.format("staging") in lines[1]
    assert lines[-2:] == ["clusters: staging", "dry run: nothing was opened"]
    document = flotilla(*WORDS, "--dry-run", "-o", "json").document
    assert (document["dry_run"], document["base"]) == (True, newer.head)
    assert [(edit["old"], edit["new"]) for edit in document["plan"]["edits"]] == [(f"{IMAGE}:1.0.0", f"{IMAGE}:1.1.0")]
    assert not Promotion.objects.exists()


def test_it_is_opened_once(newer: Fleet, flotilla: Flotilla) -> None:
    first = flotilla(*WORDS)
    promotion = Promotion.objects.get()
    assert first.code == 0
    assert f"Promotion {promotion.pk} is asked for" in first.err
    assert newer.advance(promotion).state == "Open"
    again = flotilla(*WORDS)
    assert again.code == 0
    assert f"Promotion {promotion.pk} is open already (Open), nothing was changed" in again.err
    assert promotion.pull_request_url in again.err
    assert Promotion.objects.count() == 1
    document = flotilla(*WORDS, "-o", "json").document
    assert document == PromotionDetailShape(promotion).data


def test_waiting_says_each_state_until_it_is_live(
    newer: Fleet, flotilla: Flotilla, at_each_look: Callable[[list[Callable[[], object]]], None]
) -> None:
    def live() -> None:
        newer.sync()
        newer.reconcile("staging")

    at_each_look(
        [
            lambda: newer.advance(Promotion.objects.get()),
            lambda: newer.merge(Promotion.objects.get()),
            lambda: newer.advance(Promotion.objects.get()),
            lambda: newer.advance(Promotion.objects.get()),
            live,
            lambda: newer.advance(Promotion.objects.get()),
        ]
    )
    told = flotilla(*WORDS, "--wait")
    assert told.code == 0, told.err
    states = [line.split()[1] for line in told.err.splitlines()[1:]]
    assert states == ["Planned", "Open", "Merged", "RollingOut", "Verified"]
    nothing = flotilla(*WORDS)
    assert (nothing.code, nothing.out.splitlines()[-1]) == (0, "nothing to promote")
    assert flotilla(*WORDS, "-o", "json").document["state"] == "NoChange"


def test_waiting_for_what_is_given_up_fails(
    newer: Fleet, flotilla: Flotilla, at_each_look: Callable[[list[Callable[[], object]]], None]
) -> None:
    from clusters_app.services.promotions.requesting import abort_promotion

    at_each_look([lambda: abort_promotion(promotion=Promotion.objects.get(), actor=newer.actor, why="not today")])
    told = flotilla(*WORDS, "--wait")
    assert told.code == 1
    assert told.err.splitlines()[-1].endswith("Aborted  not today")


def test_what_cannot_be_promoted_is_refused(fleet: Fleet, flotilla: Flotilla) -> None:
    assert flotilla(*WORDS[:2], "nothing", *WORDS[3:]).err == "There is no app nothing.\n"
    told = flotilla(*WORDS[:-1], "nowhere")
    assert told.code == 1
    assert "There are: dev, staging, prod." in told.err
    backwards = flotilla(*WORDS[:-1], "dev")
    assert backwards.code == 1
    assert "refused" in backwards.out
    assert not Promotion.objects.exists()


def test_rules_that_cannot_be_read_are_told_in_words(newer: Fleet, flotilla: Flotilla) -> None:
    newer.commit({".flotilla/promotion.yaml": b"rules: 7\n"}, "Break the rules")
    newer.sync()
    told = flotilla(*WORDS)
    assert (told.code, told.out) == (1, "")
    assert ".flotilla/promotion.yaml" in told.err


def test_promotions_are_listed_shown_tried_again_and_given_up(newer: Fleet, flotilla: Flotilla) -> None:
    flotilla(*WORDS)
    promotion = Promotion.objects.get()
    newer.advance(promotion)
    listed = flotilla("promotions", "list", "--state", "moving", "--app", "web", "--to", "staging")
    assert listed.out.splitlines()[1].split()[:8] == [
        str(promotion.pk),
        "web",
        "dev",
        "staging",
        "1.0.0",
        "→",
        "1.1.0",
        "Open",
    ]
    assert flotilla("promotions", "list", "--to", "prod").err == "No promotion.\n"
    shown = flotilla("promotions", "show", str(promotion.pk))
    assert f"{IMAGE}:1.0.0 → {IMAGE}:1.1.0" in shown.out
    assert "Pull request #" in shown.out
    document = flotilla("promotions", "show", str(promotion.pk), "-o", "json").document
    assert document == PromotionDetailShape(promotion).data
    assert flotilla("promotions", "retry", str(promotion.pk)).code == 0
    assert flotilla("promotions", "abort", str(promotion.pk), "--why", "not today").code == 0
    promotion.refresh_from_db()
    assert promotion.state == "Aborted"
    assert flotilla("promotions", "abort", str(promotion.pk)).code == 1


@pytest.mark.django_db
def test_wrong_usage_and_unknown_promotions(flotilla: Flotilla) -> None:
    assert flotilla("promotions").code == 2
    assert flotilla("promotions", "show", "one").code == 2
    assert flotilla("promotions", "list", "--state", "blue").code == 2
    assert flotilla("promotions", "show", "1").err.startswith("There is no promotion 1.")
    assert flotilla("promote-env", "--app", "web").code == 2
    assert flotilla(*WORDS, "--dir", ".", "--wait").code == 2


def test_a_merge_message_alone_tells_of_an_earlier_promotion(newer: Fleet, flotilla: Flotilla) -> None:
    """A forge may put our trailers into the merge, and a person's commits on the branch need not have any."""
    from clusters_app.git.commits import Author, Message
    from clusters_app.services.outside import policy
    from clusters_app.services.promotions.opening import trailers_of
    from clusters_app.services.remotes import mirror_of, remote_of

    assert flotilla(*WORDS, "--dry-run", "-o", "json").document["plan"]["adoption"] is True
    flotilla(*WORDS)
    promotion = Promotion.objects.get()
    mirror, author, when = mirror_of(newer.repository), Author("Anna", "anna@example.com"), promotion.created_at
    path = VERSION.format("staging")
    change = {path: newer.read(path).replace("1.0.0", "1.1.0").encode()}
    branch = mirror.commit(newer.head, change, Message("Web 1.1.0", author, when))
    message = Message("Merge", author, when, trailers_of(promotion, newer.head))
    onto = mirror.commit(newer.head, {"NOTES.md": b"meanwhile\n"}, Message("Meanwhile", author, when))
    merge = mirror.merge_commit(onto, branch, message)
    mirror.push(remote_of(newer.repository), policy(), "main", merge, newer.head)
    newer.sync()
    assert flotilla(*WORDS, "--dry-run", "-o", "json").document["plan"]["adoption"] is False
