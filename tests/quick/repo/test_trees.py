"""A tree gives Git's own ids and has an answer for everything that is not a plain file."""

import os
import subprocess
from pathlib import Path

import pytest

from clusters_app.repo.tree import (
    MAX_FILE_BYTES,
    DirectoryTree,
    MemoryTree,
    Mode,
    OverlaidTree,
    TreeError,
    case_clashes,
    is_binary,
    is_lfs_pointer,
)

FILES = {
    "a.yaml": b"kind: A\n",
    "a/b/c.yaml": b"kind: C\r\n",
    "a/b.yaml": b"",
    "a-b/x": b"\xff\xfe",
    "deep/only/dir/file": b"1",
}


def written(root: Path) -> Path:
    for path, data in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root


def git(root: Path, *arguments: str) -> str:
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(["git", "-C", root, *arguments], check=True, capture_output=True, text=True, env=environment)
    return done.stdout.strip()


def test_tree_ids_are_those_of_git(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "run.sh").write_text("#!/bin/sh\n")
    (tmp_path / "run.sh").chmod(0o755)
    (tmp_path / "link").symlink_to("./a.yaml")
    git(tmp_path, "init", "-q")
    git(tmp_path, "-c", "core.autocrlf=false", "add", "-A")
    tree = DirectoryTree(tmp_path)
    root = git(tmp_path, "write-tree")
    assert tree.tree_id("") == tree.tree_id(".") == root
    assert tree.tree_id("./a/b/") == git(tmp_path, "rev-parse", f"{root}:a/b")
    assert tree.tree_id("deep") == git(tmp_path, "rev-parse", f"{root}:deep")
    assert tree.tree_id("nowhere") is None
    assert tree.tree_id("a.yaml") is None


def test_memory_and_directory_agree(tmp_path: Path) -> None:
    on_disk, in_memory = DirectoryTree(written(tmp_path)), MemoryTree(FILES)
    assert on_disk.files() == in_memory.files()
    assert list(on_disk.files()) == sorted(FILES)
    assert all(on_disk.read(path) == in_memory.read(path) == data for path, data in FILES.items())
    assert on_disk.tree_id("a") == in_memory.tree_id("a")


def test_a_link_is_named_and_never_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").symlink_to("/etc/passwd")
    (tmp_path / "dir").symlink_to("/etc")
    tree = DirectoryTree(tmp_path)
    assert {path: entry.mode for path, entry in tree.files().items()} == {"dir": Mode.LINK, "secret": Mode.LINK}
    with pytest.raises(TreeError, match="symbolic link") as caught:
        tree.read("secret")
    assert caught.value.code == "tree.link"


def test_a_link_put_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    tree = DirectoryTree(tmp_path)
    assert "file" in tree.files()
    (tmp_path / "file").unlink()
    (tmp_path / "file").symlink_to("/etc/passwd")
    with pytest.raises(OSError, match="symbolic"):
        tree.read("file")


def test_a_nested_repository_is_a_submodule(tmp_path: Path) -> None:
    (tmp_path / "vendor" / ".git").mkdir(parents=True)
    (tmp_path / "vendor" / "file").write_text("x")
    tree = DirectoryTree(tmp_path)
    assert tree.files()["vendor"].mode is Mode.SUBMODULE
    with pytest.raises(TreeError, match="another repository"):
        tree.read("vendor")


def test_a_huge_file_is_refused_by_name(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    for tree in (DirectoryTree(tmp_path), MemoryTree({"huge": bytes(MAX_FILE_BYTES + 1)})):
        with pytest.raises(TreeError, match="huge") as caught:
            tree.read("huge")
        assert caught.value.code == "tree.too-large"


def test_a_missing_file_is_missing() -> None:
    with pytest.raises(TreeError) as caught:
        MemoryTree({}).read("nothing")
    assert caught.value.code == "tree.missing"


@pytest.mark.parametrize("path", ["", "/etc/passwd", "a/../b", "./a", "a//b", ".git/config", "a/.GIT/x", "a\0b"])
def test_a_path_that_leaves_the_repository_is_refused(path: str) -> None:
    with pytest.raises(TreeError) as caught:
        MemoryTree({path: b""})
    assert caught.value.code == "tree.path"


def test_an_overlay_reads_like_the_tree_it_would_become() -> None:
    overlay = OverlaidTree(MemoryTree(FILES), {"a.yaml": None, "a/b.yaml": b"new", "z/new": b"z"})
    wanted = MemoryTree(
        {path: data for path, data in FILES.items() if path != "a.yaml"} | {"a/b.yaml": b"new", "z/new": b"z"}
    )
    assert overlay.files() == wanted.files()
    assert overlay.tree_id("") == wanted.tree_id("")
    assert overlay.read("z/new") == b"z"
    assert overlay.read("a/b/c.yaml") == b"kind: C\r\n"


def test_content_that_is_not_text_is_recognised() -> None:
    assert is_binary(b"PNG\0")
    assert not is_binary(b"kind: A\n")
    assert is_lfs_pointer(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    assert case_clashes(["A/x", "a/x", "b"]) == [("A/x", "a/x")]
