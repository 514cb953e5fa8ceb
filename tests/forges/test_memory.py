"""The forge in memory keeps the contract."""

import pytest

from clusters_app.forges.base import State
from clusters_app.forges.memory import MemoryGit, MemoryStore, memory_forge

from .contract import ForgeContract, Stage, refused


class MemoryBranches:
    def __init__(self, git: MemoryGit) -> None:
        self._git = git

    def commit(self, branch: str, files: dict[str, str], *, base: str = "main") -> str:
        return self._git.commit(
            branch, files, base=None if branch in self._git.branches else self._git.branches.get(base)
        )

    def heads(self) -> dict[str, str]:
        return dict(self._git.heads())

    def contains(self, sha: str, head: str) -> bool:
        return self._git.contains(sha, head)


@pytest.fixture
def git() -> MemoryGit:
    git = MemoryGit()
    git.commit("main", {"README.md": "# Fleet\n"})
    return git


@pytest.fixture
def stage(git: MemoryGit) -> Stage:
    return Stage(memory_forge(git), MemoryBranches(git))


class TestMemory(ForgeContract):
    pass


def test_a_merge_that_was_pushed_and_not_written_down_is_found_in_git(git: MemoryGit) -> None:
    store = MemoryStore()
    stage = Stage(memory_forge(git, store), MemoryBranches(git))
    head = stage.branches.commit("flotilla/prod.app", {"a": "1"})
    number = stage.open()
    pushed = git.merge_commit(git.branches["main"], head, "m")
    assert pushed is not None
    git.advance("main", pushed, git.branches["main"])
    assert stage.forge.merge(number, head=head, title="x", message="y") == pushed
    assert git.branches["main"] == pushed
    assert stage.forge.read(number).state is State.MERGED


def test_a_base_that_moves_during_the_merge_loses_nothing(git: MemoryGit) -> None:
    stage = Stage(memory_forge(git), MemoryBranches(git))
    head = stage.branches.commit("flotilla/prod.app", {"a": "1"})
    number = stage.open()
    moved: list[str] = []
    real = git.advance

    def advance_too_late(branch: str, sha: str, expect: str) -> bool:
        moved.append(git.commit("main", {"b": "1"}))
        return real(branch, sha, expect)

    git.advance = advance_too_late  # type: ignore[method-assign]
    assert refused(lambda: stage.forge.merge(number, head=head, title="x", message="y")).code == "forge.base-moved"
    assert git.branches["main"] == moved[0]
    assert stage.forge.read(number).state is State.OPEN
    git.advance = real  # type: ignore[method-assign]
    merged = stage.forge.merge(number, head=head, title="x", message="y")
    assert git.contains(merged, moved[0])


def test_a_credential_that_may_not_write_is_said_before_anything_else(git: MemoryGit) -> None:
    git.is_writable = False
    assert [missing.code for missing in memory_forge(git).rights().missing] == ["right.push"]
