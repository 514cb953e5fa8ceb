"""The demo's repository: a bare one on this disk, with weeks of history that the scaffold began and people went on."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from clusters_app.commands import demo_story as story
from clusters_app.egress import Policy
from clusters_app.git.commits import Author, Message
from clusters_app.git.credentials import Remote
from clusters_app.git.mirror import Mirror
from clusters_app.repo.model import model_from
from clusters_app.repo.scaffold import scaffold
from clusters_app.repo.tree import Tree
from clusters_app.simulation.fleet import Pushed

BRANCH = "main"
_BEGAN = 470.0


@dataclass(frozen=True, slots=True)
class _Change:
    hours: float
    author: tuple[str, str]
    subject: str
    files: dict[str, str]


def url_of(path: Path) -> str:
    return f"file://{path}"


def create_repository(path: Path, born_at: datetime) -> None:
    """Make the bare repository with its history; nothing happens when it is there. Takes a second or two."""
    if path.exists():
        return
    draft = path.with_suffix(".draft")
    shutil.rmtree(draft, ignore_errors=True)
    work = Mirror.open(draft / "work.git", allow_file=True)
    bare = draft / "fleet.git"
    Mirror.open(bare)
    (bare / "HEAD").write_text(f"ref: refs/heads/{BRANCH}\n", encoding="ascii")
    head = _write_history(work, url_of(path), born_at)
    work.push(Remote(url_of(bare)), Policy(), BRANCH, head, None)
    # In one step, so that a start that was interrupted leaves nothing half done.
    bare.rename(path)
    shutil.rmtree(draft)


def _write_history(work: Mirror, url: str, born_at: datetime) -> str:
    model = model_from({**story.answers(), "repository": {"url": url, "branch": BRANCH, "forge": "local"}})
    first = Message("Lay out the fleet", Author(*story.ANNA), born_at - timedelta(hours=_BEGAN))
    head = work.commit(None, scaffold(model), first)
    for change in sorted(_changes(), key=lambda each: -each.hours):
        tree = work.tree(head)
        files = dict(_edited(tree, path, text) for path, text in change.files.items())
        message = Message(change.subject, Author(*change.author), born_at - timedelta(hours=change.hours))
        head = work.commit(head, {path: text.encode() for path, text in files.items()}, message)
    return head


def _changes() -> Iterator[_Change]:
    for hours, author, subject, files in story.additions():
        yield _Change(hours, author, subject, files)
    now = {(environment, app): v for app, v in story.first_versions().items() for environment in story.ENVIRONMENTS}
    for bump in story.STORY:
        path = f"clusters/{bump.environment}/apps/{bump.app}/version.yaml"
        before = now[bump.environment, bump.app]
        now[bump.environment, bump.app] = bump.version
        yield _Change(bump.hours, bump.author, bump.subject, {f"{path}~": f"{before}|{bump.version}"})


def _edited(tree: Tree, path: str, text: str) -> tuple[str, str]:
    """`path` is written, `path~` has one text replaced (`old|new`), `path+` gets one more entry of its resources."""
    if path.endswith("~"):
        old, _, new = text.partition("|")
        return path[:-1], tree.read(path[:-1]).decode().replace(old, new)
    if path.endswith("+"):
        before = tree.read(path[:-1]).decode()
        return path[:-1], re.sub(r"(?m)^(  - apps\.yaml)$", rf"\1\n  - {text}", before)
    return path, text


def history_of(repository: Mirror) -> list[Pushed]:
    """The commits that the branch has been at, oldest first."""
    found: list[Pushed] = []
    sha: str | None = repository.head(BRANCH)
    while sha is not None:
        commit = repository.describe(sha)
        found.append(Pushed(sha, commit.at))
        sha = commit.parents[0] if commit.parents else None
    return found[::-1]
