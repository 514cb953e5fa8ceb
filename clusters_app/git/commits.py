"""Commits made of a base and changed files, without a work tree; the same input is the same commit id, every time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pygit2
from pygit2.enums import FileMode, ObjectType

from clusters_app.repo.tree import TreeError, check_path

from .errors import GitPermanent
from .trailers import Trailers, with_trailers

Changes = Mapping[str, bytes | None]
_Nested = dict[str, "bytes | _Nested | None"]


@dataclass(frozen=True, slots=True)
class Author:
    """Who a commit says made it, as author and as committer."""

    name: str
    email: str


@dataclass(frozen=True, slots=True)
class Message:
    """All that a commit says beside its files. The time is given, so that nothing in a commit is of the moment."""

    text: str
    author: Author
    when: datetime
    trailers: Trailers = ()

    def __str__(self) -> str:
        return with_trailers(self.text, self.trailers)


@dataclass(frozen=True, slots=True)
class Commit:
    """What the mirror knows of one commit. `subject` is the message's first line, `at` the committer's date."""

    sha: str
    parents: tuple[str, ...]
    author: Author
    at: datetime
    message: str

    @property
    def subject(self) -> str:
        return self.message.partition("\n")[0]


def describe(commit: pygit2.Commit) -> Commit:
    """The value of a commit. Names and messages are foreign text, decoded without failing."""
    author = commit.author
    return Commit(
        sha=str(commit.id),
        parents=tuple(map(str, commit.parent_ids)),
        author=Author(_text(author.raw_name), _text(author.raw_email)),
        at=datetime.fromtimestamp(commit.commit_time, UTC),
        message=_text(commit.raw_message),
    )


def write_commit(repository: pygit2.Repository, tree: pygit2.Oid, parents: Sequence[str], message: Message) -> str:
    """The id of a new commit object that no ref names yet."""
    author = message.author
    signature = pygit2.Signature(author.name, author.email, int(message.when.timestamp()), 0)
    return str(repository.create_commit(None, signature, signature, str(message), tree, list(parents)))


def write_tree(repository: pygit2.Repository, base: pygit2.Oid | None, changes: Changes) -> pygit2.Oid:
    """The base's tree with files written and (None) removed; a changed file keeps its executable bit.

    Raises GitPermanent `git.commit.path` where a path is not a plain file's, `git.commit.empty` when nothing differs.
    """
    written = _write(repository, base, _nest(changes), "")
    if written is None:
        written = empty_tree(repository)
    if written == base:
        raise GitPermanent("git.commit.empty")
    return written


def empty_tree(repository: pygit2.Repository) -> pygit2.Oid:
    """The tree without any file."""
    return repository.TreeBuilder().write()


def _nest(changes: Changes) -> _Nested:
    nested: _Nested = {}
    for path, data in changes.items():
        *directories, name = _segments(path)
        place = nested
        for directory in directories:
            inner = place.setdefault(directory, {})
            if not isinstance(inner, dict):
                raise GitPermanent("git.commit.path", path=path, reason="a file of the same change is in the way")
            place = inner
        if name in place:
            raise GitPermanent("git.commit.path", path=path, reason="a directory of the same change is in the way")
        place[name] = data
    return nested


def _segments(path: str) -> list[str]:
    try:
        return check_path(path).split("/")
    except TreeError as error:
        raise GitPermanent("git.commit.path", path=path, reason="it is not a path inside a repository") from error


def _write(repository: pygit2.Repository, base: pygit2.Oid | None, changes: _Nested, prefix: str) -> pygit2.Oid | None:
    """One directory; only those that hold a change are read and written. None: nothing is left in it."""
    old = None if base is None else repository[base].peel(pygit2.Tree)
    builder = repository.TreeBuilder() if old is None else repository.TreeBuilder(old)
    for name, change in changes.items():
        path = prefix + name
        entry = old[name] if old is not None and name in old else None
        if isinstance(change, dict):
            _put(builder, name, _write(repository, _directory(entry, path), change, f"{path}/"), FileMode.TREE)
        else:
            mode = _file_mode(entry, change, path)
            _put(builder, name, None if change is None else repository.create_blob(change), mode)
    return builder.write() if len(builder) else None


def _put(builder: pygit2.TreeBuilder, name: str, oid: pygit2.Oid | None, mode: FileMode) -> None:
    if oid is not None:
        builder.insert(name, oid, mode)
    elif builder.get(name) is not None:
        builder.remove(name)


def _directory(entry: pygit2.Object | None, path: str) -> pygit2.Oid | None:
    if entry is None:
        return None
    if entry.type != ObjectType.TREE:
        raise GitPermanent(
            "git.commit.path", path=path, reason="a file, link or submodule stands where a directory is needed"
        )
    return entry.id


def _file_mode(entry: pygit2.Object | None, change: bytes | None, path: str) -> FileMode:
    if entry is None:
        if change is None:
            raise GitPermanent("git.commit.path", path=path, reason="it is to be removed and does not exist")
        return FileMode.BLOB
    if entry.filemode not in (FileMode.BLOB, FileMode.BLOB_EXECUTABLE):
        raise GitPermanent("git.commit.path", path=path, reason="a link, a submodule or a directory stands there")
    return FileMode(entry.filemode)


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode("utf-8", errors="replace")
