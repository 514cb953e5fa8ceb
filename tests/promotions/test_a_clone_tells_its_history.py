"""The history that the offline command reads: first parents, merges, and clones that know little."""

import subprocess
from pathlib import Path

from clusters_app.git.past import Past

AUTHOR = ["-c", "user.name=R. Lind", "-c", "user.email=r.lind@example.org", "-c", "commit.gpgsign=false"]


def git(directory: Path, *words: str) -> str:
    done = subprocess.run(["git", *AUTHOR, *words], cwd=directory, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(directory: Path, path: str, text: str, message: str) -> str:
    file = directory / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "-m", message)
    return git(directory, "rev-parse", "HEAD")


def repository(directory: Path) -> Path:
    directory.mkdir()
    git(directory, "init", "-q", "-b", "main")
    commit(directory, "prod/a.yaml", "1", "first")
    return directory


def found(past: Past | None, *paths: str) -> list[str]:
    assert past is not None
    return [each.sha for each in past.touching(paths)]


def test_a_merge_counts_by_its_message_for_what_its_branch_changed(tmp_path: Path) -> None:
    root = repository(tmp_path / "one")
    git(root, "checkout", "-q", "-b", "flotilla/prod.shop")
    branch = commit(root, "prod/a.yaml", "2", "shop 2")
    git(root, "checkout", "-q", "main")
    commit(root, "other.txt", "x", "meanwhile")
    git(root, "merge", "-q", "--no-ff", "-m", "Merge\n\nFlotilla-Promotion: 1\n", "flotilla/prod.shop")
    merge = git(root, "rev-parse", "HEAD")
    past = Past.of_clone(root)
    assert found(past, "prod/a.yaml", "prod")[:2] == [merge, branch]
    assert past is not None
    assert next(iter(past.touching(["prod/a.yaml"]))).trailers == (("Flotilla-Promotion", "1"),)
    assert past.tree(branch[:12]) is not None
    assert past.tree("HEAD~1") is None
    assert past.tree("0" * 40) is None


def test_a_commit_elsewhere_touches_nothing_here(tmp_path: Path) -> None:
    root = repository(tmp_path / "one")
    first = git(root, "rev-parse", "HEAD")
    commit(root, "staging/a.yaml", "1", "staging")
    assert found(Past.of_clone(root), "prod/a.yaml") == [first]


def test_a_shallow_clone_ends_where_its_knowledge_ends(tmp_path: Path) -> None:
    root = repository(tmp_path / "one")
    last = commit(root, "prod/a.yaml", "2", "second")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{root}", "two")
    assert found(Past.of_clone(tmp_path / "two"), "prod/a.yaml") == [last]


def test_a_directory_that_is_no_clone_has_no_history(tmp_path: Path) -> None:
    assert Past.of_clone(tmp_path) is None
    (tmp_path / "empty").mkdir()
    git(tmp_path / "empty", "init", "-q")
    assert Past.of_clone(tmp_path / "empty") is None
