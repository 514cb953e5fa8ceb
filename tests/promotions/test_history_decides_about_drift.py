"""Three-way: the source now, the target now, and what the last promotion left."""

import pytest

from clusters_app.git.trailers import read_trailers

from .fleets import Commits, fleet, kustomization, plan


def at(staging: str, prod: str) -> dict[str, bytes]:
    entry = "images:\n  - name: reg.example/shop\n    newTag: '{}'\n"
    return fleet(
        {"kustomization.yaml": kustomization(entry.format(staging))},
        {"kustomization.yaml": kustomization(entry.format(prod))},
    )


type Commit = tuple[dict[str, bytes], dict[str, str]]

PROMOTED = {"Flotilla-Promotion": "1", "Flotilla-Release": "sha256:0", "Flotilla-Source": "0"}
CLEAN: tuple[Commit, Commit] = ((at("1", "0"), {}), (at("1", "1"), PROMOTED))


def outcome(
    now: dict[str, bytes], *commits: tuple[dict[str, bytes], dict[str, str]]
) -> tuple[list[str | None], list[str]]:
    found = plan(now, history=Commits(*commits))
    assert not found.refusals
    return [edit.new for edit in found.edits], [remark.code for remark in (*found.asks, *found.kept)]


def test_what_the_target_left_alone_is_carried_over() -> None:
    assert outcome(at("3", "1"), *CLEAN, (at("3", "1"), {})) == (["3"], [])


def test_a_lower_version_is_carried_over_like_any_other() -> None:
    history: tuple[Commit, ...] = ((at("1.2.0", "0"), {}), (at("1.2.0", "1.2.0"), PROMOTED), (at("1.0.0", "1.2.0"), {}))
    assert outcome(at("1.0.0", "1.2.0"), *history) == (["1.0.0"], [])


def test_a_hand_edit_is_asked_about_when_there_is_a_newer_release() -> None:
    assert outcome(at("2", "9"), *CLEAN, (at("2", "9"), {})) == ([], ["drift"])


def test_going_back_by_hand_is_drift_too() -> None:
    assert outcome(at("2", "0"), *CLEAN, (at("2", "0"), {})) == ([], ["drift"])


def test_a_hand_edit_without_a_newer_release_is_shown_and_kept() -> None:
    found = plan(at("1", "9"), history=Commits(*CLEAN, (at("1", "9"), {})))
    assert [remark.code for remark in found.kept] == ["drift"]
    assert not found.edits
    assert not found.asks


def test_an_answer_takes_the_release_over() -> None:
    history = Commits(*CLEAN, (at("2", "9"), {}))
    asked = plan(at("2", "9"), history=history).asks
    assert [edit.new for edit in plan(at("2", "9"), history=history, answers=[asked[0].id]).edits] == ["2"]


def test_what_the_last_promotion_left_alone_is_asked_about_again() -> None:
    history: tuple[Commit, ...] = (
        (at("2", "1"), {}),
        (at("2", "1") | {"apps/shop/overlays/prod/version.yaml": b"a: 1\n"}, PROMOTED),
    )
    assert outcome(at("3", "1"), *history) == ([], ["kept-before"])


@pytest.mark.parametrize("trailers", [{"Flotilla-App": "other"}, {"Flotilla-Stage": "staging"}])
def test_a_promotion_of_another_app_or_stage_is_no_history_of_this_one(trailers: dict[str, str]) -> None:
    history: tuple[Commit, ...] = ((at("1", "0"), {}), (at("1", "1"), PROMOTED | trailers), (at("2", "9"), {}))
    assert outcome(at("2", "9"), *history) == (["2"], [])
    assert plan(at("2", "9"), history=Commits(*history)).is_adoption


def test_without_the_source_commit_only_the_target_is_compared() -> None:
    trailers = {key: value for key, value in PROMOTED.items() if key != "Flotilla-Source"}
    assert outcome(at("3", "1"), (at("2", "0"), {}), (at("2", "1"), trailers), (at("3", "1"), {})) == (["3"], [])


@pytest.mark.parametrize(
    ("source", "target", "is_asked"),
    [
        ("1.0.0", "1.2.0", True),
        ("1.2.0-rc.9", "1.2.0-rc.10", True),
        ("v2.0.1-3-g12ab34c", "v2.0.1", False),
        ("1.1.1-rc9", "1.1.1-rc10", False),
        ("4.9.1", "2026.2.0", False),
        ("main-77de012-1700", "main-9f2c1aa-1699", False),
        ("0.11.0", "0.9.0", False),
    ],
)
def test_an_adoption_asks_when_the_target_is_newer_beyond_doubt(source: str, target: str, is_asked: bool) -> None:
    found = plan(at(source, target))
    assert found.is_adoption
    assert [ask.code for ask in found.asks] == (["target-newer"] if is_asked else [])
    assert [edit.new for edit in found.edits] == ([] if is_asked else [source])


def test_trailers_count_in_the_middle_of_a_message_but_not_quoted_or_indented() -> None:
    assert read_trailers("a\n\nFlotilla-Promotion: 1\n\n* b\n") == (("Flotilla-Promotion", "1"),)
    assert read_trailers("a\n\n> Flotilla-Promotion: 1\n    Flotilla-Promotion: 2\n") == ()
