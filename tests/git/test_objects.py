"""Commits are made of a base and changes, the same every time; trees are read without following anything."""

from pathlib import Path

import pygit2
import pytest

from clusters_app.git.commits import Author, Message
from clusters_app.git.errors import GitPermanent
from clusters_app.git.mirror import Mirror
from clusters_app.repo.tree import MemoryTree, Mode, TreeError

from .conftest import ADA, NOON, message
from .server import git


@pytest.fixture
def base(mirror: Mirror) -> str:
    files = {"README.md": b"# Fleet\n", "apps/a/one.yaml": b"a: 1\n", "apps/b/two.yaml": b"b: 2\n"}
    return mirror.commit(None, files, message("Begin"))


def with_raw_tree(mirror: Mirror, *rows: tuple[str, bytes, str]) -> str:
    """A commit whose root tree is written as bytes, as nobody but an attacker writes it."""
    repository = pygit2.Repository(str(mirror.path))
    raw = b"".join(mode.encode() + b" " + name + b"\0" + bytes.fromhex(oid) for mode, name, oid in rows)
    tree = repository.odb.write(2, raw)
    signature = pygit2.Signature("x", "x@example.org", 0, 0)
    return str(repository.create_commit(None, signature, signature, "x", tree, []))


def blob(mirror: Mirror, data: bytes) -> str:
    return str(pygit2.Repository(str(mirror.path)).create_blob(data))


def test_the_same_change_is_the_same_commit_in_any_mirror(mirror: Mirror, base: str, tmp_path: Path) -> None:
    other = Mirror.open(tmp_path / "other.git")
    again = other.commit(
        None, {"apps/b/two.yaml": b"b: 2\n", "README.md": b"# Fleet\n", "apps/a/one.yaml": b"a: 1\n"}, message("Begin")
    )
    assert again == base
    note = Message("Promote a", ADA, NOON, [("Flotilla-Promotion", "7"), ("Flotilla-App", "a")])
    assert mirror.commit(base, {"apps/a/one.yaml": b"a: 2\n"}, note) == other.commit(
        base, {"apps/a/one.yaml": b"a: 2\n"}, note
    )


def test_git_itself_reads_what_we_wrote(mirror: Mirror, base: str) -> None:
    sha = mirror.commit(base, {"apps/a/one.yaml": None, "apps/c/d/e.yaml": b"e\n", "README.md": b"# More\n"},
                        Message("Change\n\nBody.\n", ADA, NOON, [("Flotilla-Promotion", "7")]))  # fmt: skip
    directory = f"--git-dir={mirror.path}"
    assert git(directory, "ls-tree", "-r", "--name-only", sha).split() == [
        "README.md",
        "apps/b/two.yaml",
        "apps/c/d/e.yaml",
    ]
    assert git(directory, "log", "-1", "--format=%an|%ae|%cn|%aI|%B", sha) == (
        "Ada|ada@example.org|Ada|2026-05-04T12:00:00+00:00|Change\n\nBody.\n\nFlotilla-Promotion: 7"
    )
    assert git(directory, "log", "-1", "--format=%(trailers:key=Flotilla-Promotion,valueonly)", sha) == "7"
    git(directory, "fsck", "--strict", "--no-dangling")


def test_one_line_changes_one_file_and_keeps_its_executable_bit(mirror: Mirror) -> None:
    script, text = blob(mirror, b"#!/bin/sh\n"), blob(mirror, b"x\n")
    base = with_raw_tree(mirror, ("100755", b"run.sh", script), ("100644", b"x", text))
    sha = mirror.commit(base, {"run.sh": b"#!/bin/sh\nexit\n"}, message())
    assert mirror.tree(sha).files()["run.sh"].mode is Mode.EXECUTABLE
    assert mirror.changed_paths(base, sha) == ["run.sh"]


def test_the_last_file_of_a_directory_takes_the_directory_along(mirror: Mirror, base: str) -> None:
    tree = mirror.tree(mirror.commit(base, {"apps/a/one.yaml": None}, message()))
    assert tree.tree_id("apps/a") is None
    assert list(tree.files()) == ["README.md", "apps/b/two.yaml"]
    everything = {"README.md": None, "apps/a/one.yaml": None, "apps/b/two.yaml": None}
    assert mirror.tree(mirror.commit(base, everything, message())).files() == {}


@pytest.mark.parametrize(
    "path", ["../x", "/x", "a//b", ".git/config", "a/.GIT/hooks/x", "", "a/../b", "./a", "a\0b", "a/"]
)
def test_a_path_that_leaves_the_repository_is_refused(path: str, mirror: Mirror, base: str) -> None:
    with pytest.raises(GitPermanent) as refused:
        mirror.commit(base, {path: b"x"}, message())
    assert refused.value.code == "git.commit.path"


def test_a_change_that_changes_nothing_is_refused(mirror: Mirror, base: str) -> None:
    for changes in ({}, {"README.md": b"# Fleet\n"}):
        with pytest.raises(GitPermanent) as refused:
            mirror.commit(base, changes, message())
        assert refused.value.code == "git.commit.empty"


def test_what_is_not_a_plain_file_is_not_written_through(mirror: Mirror) -> None:
    target, other = blob(mirror, b"../../etc"), "1" * 40
    base = with_raw_tree(
        mirror, ("120000", b"link", target), ("160000", b"module", other), ("100644", b"plain", target)
    )
    for path in ("link", "module", "link/passwd", "module/x", "plain/x"):
        with pytest.raises(GitPermanent) as refused:
            mirror.commit(base, {path: b"x"}, message())
        assert refused.value.code == "git.commit.path"
    with pytest.raises(GitPermanent):
        mirror.commit(base, {"gone": None}, message())
    with pytest.raises(GitPermanent):
        mirror.commit(base, {"new": b"", "new/x": b""}, message())


def test_links_and_submodules_are_listed_and_never_followed(mirror: Mirror) -> None:
    target = blob(mirror, b"/etc/passwd")
    tree = mirror.tree(with_raw_tree(mirror, ("120000", b"link", target), ("160000", b"module", "1" * 40)))
    assert {path: entry.mode for path, entry in tree.files().items()} == {"link": Mode.LINK, "module": Mode.SUBMODULE}
    for path, code in {"link": "tree.link", "module": "tree.submodule", "link/x": "tree.missing"}.items():
        with pytest.raises(TreeError) as refused:
            tree.read(path)
        assert refused.value.code == code


@pytest.mark.parametrize("name", [b"..", b".", b".git", b".GIT", b"a/b"])
def test_a_forged_tree_that_reaches_outside_is_refused(name: bytes, mirror: Mirror) -> None:
    tree = mirror.tree(with_raw_tree(mirror, ("100644", name, blob(mirror, b"x"))))
    with pytest.raises(TreeError) as refused:
        tree.files()
    assert refused.value.code == "tree.path"


def test_a_git_tree_is_the_same_tree_as_one_in_memory(mirror: Mirror, base: str) -> None:
    files = {"README.md": b"# Fleet\n", "apps/a/one.yaml": b"a: 1\n", "apps/b/two.yaml": b"b: 2\n"}
    ours, theirs = mirror.tree(base), MemoryTree(files)
    assert dict(ours.files()) == dict(theirs.files())
    for directory in ("", ".", "apps", "./apps/a/", "nowhere", "README.md"):
        assert ours.tree_id(directory) == theirs.tree_id(directory)
    assert ours.read("apps/a/one.yaml") == b"a: 1\n"


def test_a_commit_that_the_mirror_lacks_is_named(mirror: Mirror, base: str) -> None:
    for call in (mirror.tree, mirror.describe):
        with pytest.raises(GitPermanent) as refused:
            call("f" * 40)
        assert refused.value.code == "git.commit.missing"
    assert not mirror.is_ancestor("f" * 40, base)
    assert not mirror.is_ancestor(base, "f" * 40)
    with pytest.raises(GitPermanent):
        mirror.head("main")


def test_ancestors_and_the_commits_between_are_found(mirror: Mirror, base: str) -> None:
    one = mirror.commit(base, {"apps/a/one.yaml": b"a: 2\n"}, message("One"))
    two = mirror.commit(one, {"apps/b/two.yaml": b"b: 3\n"}, message("Two"))
    side = mirror.commit(base, {"apps/a/side.yaml": b"s\n"}, message("Side"))
    merged = mirror.merge_commit(two, side, message("Merge"))

    assert mirror.is_ancestor(base, two)
    assert mirror.is_ancestor(two, two)
    assert not mirror.is_ancestor(two, one)
    assert mirror.merge_base(two, side) == base
    assert {commit.subject for commit in mirror.log(base, merged)} == {"One", "Two", "Side", "Merge"}
    assert [commit.subject for commit in mirror.log(base, two)] == ["Two", "One"]
    assert [commit.subject for commit in mirror.log(None, merged, ["apps/b"])] == ["Two", "Begin"]
    assert {commit.subject for commit in mirror.log(base, merged, ["apps/a"])} == {"One", "Side", "Merge"}
    assert [commit.subject for commit in mirror.log(None, two, limit=1)] == ["Two"]
    assert mirror.describe(merged).parents == (two, side)
    assert mirror.describe(one).at == NOON


def test_a_merge_of_both_sides_is_made_and_a_conflict_names_its_files(mirror: Mirror, base: str) -> None:
    ours = mirror.commit(base, {"apps/a/one.yaml": b"a: 2\n"}, message())
    clean = mirror.commit(base, {"apps/b/two.yaml": b"b: 3\n"}, message())
    clash = mirror.commit(base, {"apps/a/one.yaml": b"a: 3\n"}, message())

    assert mirror.merge_conflicts(ours, clean) == ()
    merged = mirror.merge_commit(ours, clean, message("Merge"))
    assert mirror.tree(merged).read("apps/a/one.yaml") == b"a: 2\n"
    assert mirror.tree(merged).read("apps/b/two.yaml") == b"b: 3\n"
    assert merged == mirror.merge_commit(ours, clean, message("Merge"))

    assert mirror.merge_conflicts(ours, clash) == ("apps/a/one.yaml",)
    with pytest.raises(GitPermanent) as refused:
        mirror.merge_commit(ours, clash, message())
    assert refused.value.code == "git.conflict"
    assert "apps/a/one.yaml" in str(refused.value)


def test_foreign_names_and_messages_are_text_whatever_their_bytes(mirror: Mirror, base: str) -> None:
    repository = pygit2.Repository(str(mirror.path))
    tree = str(repository[base].peel(pygit2.Tree).id)
    raw = b"tree %s\nauthor \xff <a@b> 0 +0000\ncommitter x <> 86400 -0500\n\nhi \xfe\n" % tree.encode()
    commit = mirror.describe(str(repository.odb.write(1, raw)))
    assert commit.author == Author("\ufffd", "a@b")
    assert commit.message == "hi \ufffd\n"
    assert commit.at.isoformat() == "1970-01-02T00:00:00+00:00"
