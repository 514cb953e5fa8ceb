"""The script that every forge has to play alike: memory, plain Git over HTTPS, real Gitea."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import pytest

from clusters_app.forges.base import CheckState, Draft, Forge, State
from clusters_app.forges.errors import ForgeError, ForgePermanent, Meaning
from clusters_app.forges.once import ensure_open

Commit = Callable[[str, dict[str, str]], str]


class Branches(Protocol):
    """A person's work on the remote, beside the forge: each method answers the new commit."""

    def commit(self, branch: str, files: dict[str, str], *, base: str = "main") -> str: ...

    def heads(self) -> dict[str, str]: ...

    def contains(self, sha: str, head: str) -> bool: ...


@dataclass
class Stage:
    forge: Forge
    branches: Branches

    def draft(self, head: str = "flotilla/prod.app", **changes: str) -> Draft:
        draft = Draft("promotion-7", head, "main", "Promote app", "One line", ("flotilla",))
        return Draft(**{**{name: getattr(draft, name) for name in Draft.__slots__}, **changes})

    def open(self, head: str = "flotilla/prod.app", key: str = "promotion-7") -> int:
        found = ensure_open(self.forge, self.draft(head, key=key), lambda: True)
        assert found is not None
        return found.number


def refused(call: Callable[[], object]) -> ForgeError:
    with pytest.raises(ForgeError) as error:
        call()
    return error.value


def patiently[T](call: Callable[[], T], tries: int = 20) -> T:
    """A merge as the worker makes it: again while the forge is still computing, and not for ever."""
    for _ in range(tries):
        try:
            return call()
        except ForgeError as error:
            if error.code != "forge.later":
                raise
            time.sleep(0.3)
    return call()


class ForgeContract:
    """Inherited by one test class for each forge, which has a fixture `stage`: a remote whose `main` has one commit."""

    def test_it_describes_the_repository_and_lacks_no_right(self, stage: Stage) -> None:
        facts = stage.forge.repository()
        assert facts.default_branch == "main"
        assert not facts.is_empty
        assert not facts.is_archived
        assert stage.forge.rights().missing == ()

    def test_it_opens_one_pull_request_however_often_it_is_asked(self, stage: Stage) -> None:
        head = stage.branches.commit("flotilla/prod.app", {"version.yaml": "tag: 2\n"})
        number = stage.open()
        assert stage.open() == number
        found = stage.forge.find(head="flotilla/prod.app", base="main")
        assert [each.number for each in found] == [number]
        opened = stage.forge.read(number)
        assert opened.state is State.OPEN
        assert (opened.head_branch, opened.head_sha, opened.base_branch) == ("flotilla/prod.app", head, "main")
        assert opened.carries("promotion-7")
        assert "One line" in opened.body
        assert opened.title == "Promote app"
        assert opened.labels == ("flotilla",)
        assert opened.merge_commit is None
        assert opened.url.startswith("https://")

    def test_it_finds_only_the_branch_that_it_was_asked_for(self, stage: Stage) -> None:
        stage.branches.commit("flotilla/prod.app", {"a.yaml": "1\n"})
        stage.branches.commit("flotilla/prod.app2", {"b.yaml": "1\n"})
        first, second = stage.open(), stage.open("flotilla/prod.app2", "promotion-8")
        assert first != second
        assert [each.number for each in stage.forge.find(head="flotilla/prod.app2", base="main")] == [second]
        assert stage.forge.find(head="flotilla/prod", base="main") == []
        assert stage.forge.find(head="flotilla/prod.app", base="other") == []

    def test_a_second_one_for_the_branch_is_refused_as_already_there(self, stage: Stage) -> None:
        stage.branches.commit("flotilla/prod.app", {"a.yaml": "1\n"})
        stage.open()
        error = refused(lambda: stage.forge.create(stage.draft()))
        assert (error.code, error.meaning) == ("forge.already-open", Meaning.ALREADY)

    def test_somebody_else_s_pull_request_is_not_taken_over(self, stage: Stage) -> None:
        stage.branches.commit("flotilla/prod.app", {"a.yaml": "1\n"})
        stage.open(key="another")
        assert refused(stage.open).code == "forge.foreign-request"

    def test_what_a_person_closed_stays_closed_and_is_answered_as_closed(self, stage: Stage) -> None:
        stage.branches.commit("flotilla/prod.app", {"a.yaml": "1\n"})
        number = stage.open()
        stage.forge.close(number)
        stage.forge.close(number)
        found = ensure_open(stage.forge, stage.draft(), lambda: True)
        assert found is not None
        assert (found.number, found.state) == (number, State.CLOSED)
        assert len(stage.forge.find(head="flotilla/prod.app", base="main")) == 1
        assert refused(lambda: stage.forge.merge(number, head=found.head_sha, title="x", message="y")).meaning in (
            Meaning.PERMANENT,
            Meaning.GONE,
        )

    def test_nothing_is_created_when_the_lease_is_lost(self, stage: Stage) -> None:
        stage.branches.commit("flotilla/prod.app", {"a.yaml": "1\n"})
        assert ensure_open(stage.forge, stage.draft(), lambda: False) is None
        assert stage.forge.find(head="flotilla/prod.app", base="main") == []

    def test_title_text_comment_labels_and_status_are_replaced_in_place(self, stage: Stage) -> None:
        head = stage.branches.commit("flotilla/prod.app", {"a.yaml": "1\n"})
        number = stage.open()
        changed = stage.forge.update(number, title="Promote app 2", body=stage.forge.read(number).body + "\nmore")
        assert changed.title == "Promote app 2"
        assert changed.carries("promotion-7")
        for text in ("planned", "merged", "merged"):
            stage.forge.comment(number, key="promotion-7", body=text)
        stage.forge.add_labels(number, ["prod", "flotilla"])
        assert set(stage.forge.read(number).labels) == {"prod", "flotilla"}
        stage.forge.set_status(head, CheckState.PENDING, description="soak", url="https://flotilla.test/p/7")
        stage.forge.set_status(head, CheckState.SUCCESS, description="all gates", url="https://flotilla.test/p/7")

    def test_it_merges_the_head_that_was_named_and_answers_the_commit(self, stage: Stage) -> None:
        head = stage.branches.commit("flotilla/prod.app", {"a.yaml": "1\n"})
        number = stage.open()
        message = "One line\n\nFlotilla-Promotion: 7"
        merged = patiently(lambda: stage.forge.merge(number, head=head, title="Promote app (#1)", message=message))
        assert stage.branches.heads()["main"] == merged
        assert stage.branches.contains(merged, head)
        after = stage.forge.read(number)
        assert (after.state, after.merge_commit, after.head_sha) == (State.MERGED, merged, head)
        assert stage.open() == number
        again = refused(lambda: patiently(lambda: stage.forge.merge(number, head=head, title="x", message=message)))
        assert (again.code, again.meaning) == ("forge.already-merged", Meaning.ALREADY)

    def test_it_does_not_merge_a_head_that_moved(self, stage: Stage) -> None:
        old = stage.branches.commit("flotilla/prod.app", {"a.yaml": "1\n"})
        number = stage.open()
        new = stage.branches.commit("flotilla/prod.app", {"a.yaml": "2\n"})
        before = stage.branches.heads()["main"]
        assert stage.forge.read(number).head_sha == new
        error = refused(lambda: patiently(lambda: stage.forge.merge(number, head=old, title="x", message="y")))
        assert (error.code, error.meaning) == ("forge.head-moved", Meaning.HEAD_MOVED)
        assert stage.branches.heads()["main"] == before

    def test_a_conflict_is_not_merged(self, stage: Stage) -> None:
        head = stage.branches.commit("flotilla/prod.app", {"README.md": "ours\n"})
        number = stage.open()
        main = stage.branches.commit("main", {"README.md": "theirs\n"})
        error = refused(lambda: patiently(lambda: stage.forge.merge(number, head=head, title="x", message="y"), 3))
        # Gitea says "try again later" for ever; that is why our own mirror decides about conflicts.
        assert error.code in ("forge.conflict", "forge.later")
        assert stage.branches.heads()["main"] == main

    def test_branches_that_are_not_there_and_heads_without_news_are_refused(self, stage: Stage) -> None:
        missing = refused(lambda: stage.forge.create(stage.draft("flotilla/none")))
        assert isinstance(missing, ForgePermanent)
        assert missing.code in ("forge.branch-missing", "forge.not-found")
        same = refused(lambda: stage.forge.create(stage.draft("main")))
        assert same.code == "forge.no-changes"

    def test_an_unknown_number_is_named(self, stage: Stage) -> None:
        error = refused(lambda: stage.forge.read(99))
        assert (error.code, error.meaning) == ("forge.not-found", Meaning.GONE)
