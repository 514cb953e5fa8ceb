"""A commit as a tree of files by content id: what everything that understands or edits a repository works on.

Ids are Git's own (SHA-1 of blob and tree objects), whatever a tree is made of, so one cache serves a bare mirror,
a directory on disk and a tree in memory. Nothing here follows a symbolic link or enters a submodule.
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Protocol

MAX_FILE_BYTES = 16 * 1024 * 1024
"""Above this a file is answered as too large. Bundles of custom resource definitions have one to three megabytes."""

_LFS_MARK = b"version https://git-lfs.github.com/spec/"


class Mode(IntEnum):
    """Git's file modes, the only ones that a tree object holds for something that is not a directory."""

    FILE = 0o100644
    EXECUTABLE = 0o100755
    LINK = 0o120000
    SUBMODULE = 0o160000


@dataclass(frozen=True, slots=True)
class Entry:
    """One path of a tree: `path` has no leading `./`, `oid` is Git's id of the content (of a submodule: the commit)."""

    path: str
    mode: Mode
    oid: str

    @property
    def is_file(self) -> bool:
        return self.mode in (Mode.FILE, Mode.EXECUTABLE)


class TreeError(Exception):
    """A path cannot be read. `code`: `tree.` and missing, link, submodule, too-large or path (not a repository's)."""

    def __init__(self, code: str, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.code = code
        self.path = path


class Tree(Protocol):
    """A snapshot of files. Immutable: two calls give the same answer."""

    def files(self) -> Mapping[str, Entry]:
        """Every file, link and submodule by path, sorted by path. Directories are implied."""

    def read(self, path: str) -> bytes:
        """The content of a regular file. Raises TreeError for everything else; a link is never followed."""

    def tree_id(self, directory: str) -> str | None:
        """Git's tree id of a directory (`""` or `"."` = the root), None where no such directory exists."""


class MemoryTree:
    """A tree made of bytes: what scaffolding writes, what a plan would leave behind, what tests say."""

    def __init__(self, files: Mapping[str, bytes], *, modes: Mapping[str, Mode] | None = None) -> None:
        """A `modes` entry LINK makes the bytes the link's target, SUBMODULE makes them the commit's hexadecimal id."""
        self._bytes = {check_path(path): data for path, data in sorted(files.items())}
        self._modes = dict(modes or {})

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        return {path: self._entry(path, data) for path, data in self._bytes.items()}

    def _entry(self, path: str, data: bytes) -> Entry:
        mode = self._modes.get(path, Mode.FILE)
        oid = data.decode("ascii") if mode is Mode.SUBMODULE else blob_id(data)
        return Entry(path, mode, oid)

    @cached_property
    def _tree_ids(self) -> dict[str, str]:
        return tree_ids(self._entries.values())

    def files(self) -> Mapping[str, Entry]:
        return self._entries

    def read(self, path: str) -> bytes:
        entry = readable(self._entries, path)
        data = self._bytes[entry.path]
        if len(data) > MAX_FILE_BYTES:
            raise too_large(path, len(data))
        return data

    def tree_id(self, directory: str) -> str | None:
        return self._tree_ids.get(normal_directory(directory))


class DirectoryTree:
    """A directory on disk, listed once, at the first question. `.git` is left out, a nested repository a submodule."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        return dict(sorted((entry.path, entry) for entry in self._walk(self.root, "")))

    @cached_property
    def _tree_ids(self) -> dict[str, str]:
        return tree_ids(self._entries.values())

    def _walk(self, directory: Path, prefix: str) -> Iterator[Entry]:
        with os.scandir(directory) as found:
            children = list(found)
        for child in children:
            path = prefix + child.name
            if child.name == ".git":
                continue
            if child.is_symlink():
                yield Entry(path, Mode.LINK, blob_id(_link_target(child.path)))
            elif child.is_dir():
                inside = Path(child.path)
                if os.path.lexists(inside / ".git"):
                    yield Entry(path, Mode.SUBMODULE, "0" * 40)
                else:
                    yield from self._walk(inside, f"{path}/")
            elif child.is_file():
                yield self._file(child, path)

    def _file(self, child: os.DirEntry[str], path: str) -> Entry:
        mode = Mode.EXECUTABLE if child.stat().st_mode & stat.S_IXUSR else Mode.FILE
        return Entry(path, mode, _file_id(Path(child.path)))

    def files(self) -> Mapping[str, Entry]:
        return self._entries

    def read(self, path: str) -> bytes:
        entry = readable(self._entries, path)
        file = self.root / entry.path
        # O_NOFOLLOW: between the walk and this moment somebody may have put a link here.
        with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW), "rb") as opened:  # noqa: PTH123
            data = opened.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise too_large(path, file.stat().st_size)
        return data

    def tree_id(self, directory: str) -> str | None:
        return self._tree_ids.get(normal_directory(directory))


class OverlaidTree:
    """Another tree with some files written or (None) removed: the state that a plan would leave behind."""

    def __init__(self, base: Tree, changes: Mapping[str, bytes | None]) -> None:
        self._base = base
        self._changes = {check_path(path): data for path, data in changes.items()}

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        entries = dict(self._base.files())
        for path, data in self._changes.items():
            old = entries.pop(path, None)
            if data is not None:
                mode = old.mode if old is not None and old.is_file else Mode.FILE
                entries[path] = Entry(path, mode, blob_id(data))
        return dict(sorted(entries.items()))

    @cached_property
    def _tree_ids(self) -> dict[str, str]:
        return tree_ids(self._entries.values())

    def files(self) -> Mapping[str, Entry]:
        return self._entries

    def read(self, path: str) -> bytes:
        data = self._changes.get(readable(self._entries, path).path)
        return self._base.read(path) if data is None else data

    def tree_id(self, directory: str) -> str | None:
        return self._tree_ids.get(normal_directory(directory))


def readable(entries: Mapping[str, Entry], path: str) -> Entry:
    """The entry of a regular file, or the TreeError that says what stands there instead."""
    entry = entries.get(path)
    if entry is None:
        raise TreeError("tree.missing", path, "no such file")
    if entry.mode is Mode.LINK:
        raise TreeError("tree.link", path, "a symbolic link, which is not part of what Flux fetches")
    if entry.mode is Mode.SUBMODULE:
        raise TreeError("tree.submodule", path, "a submodule: its files are in another repository")
    return entry


def too_large(path: str, size: int) -> TreeError:
    return TreeError("tree.too-large", path, f"{size} bytes, more than {MAX_FILE_BYTES} are not read")


def check_path(path: str) -> str:
    """A path as Git stores it: relative, with `/`, without empty, `.`, `..` or `.git` segments. Raises TreeError."""
    segments = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") or part.lower() == ".git" for part in segments):
        raise TreeError("tree.path", path, "not a path inside a repository")
    return path


def normal_directory(directory: str) -> str:
    """`"./a/b/"`, `"/a/b"` and `"a/b"` are the same directory, `"."` and `""` the root (as `""`)."""
    parts = [part for part in directory.split("/") if part not in ("", ".")]
    return "/".join(parts)


def blob_id(data: bytes) -> str:
    """Git's id of a file's content."""
    return _object_id(b"blob", data)


def _link_target(path: str) -> bytes:
    # Not Path.readlink, which would write `./x` as `x` and so change the id.
    return os.fsencode(os.readlink(path))  # noqa: PTH115


def _file_id(path: Path) -> str:
    size = path.stat().st_size
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _object_id(kind: bytes, data: bytes) -> str:
    return hashlib.sha1(b"%s %d\0%s" % (kind, len(data), data), usedforsecurity=False).hexdigest()


def tree_ids(entries: Iterable[Entry]) -> dict[str, str]:
    """Git's tree id of every directory that the entries imply; the root is `""`."""
    children: dict[str, dict[str, tuple[int, str]]] = {"": {}}
    for entry in entries:
        parent, _, name = entry.path.rpartition("/")
        children.setdefault(parent, {})[name] = (entry.mode, entry.oid)
        while parent and parent.rpartition("/")[0] not in children:
            parent = parent.rpartition("/")[0]
            children[parent] = {}
    ids: dict[str, str] = {}
    # Deepest first, so that a directory's own id is known when its parent is hashed.
    for directory in sorted(children, key=lambda path: path.count("/") if path else -1, reverse=True):
        ids[directory] = _tree_object_id(children[directory])
        if directory:
            parent, _, name = directory.rpartition("/")
            children[parent][name] = (0o40000, ids[directory])
    return ids


def _tree_object_id(children: Mapping[str, tuple[int, str]]) -> str:
    rows = [(os.fsencode(name), mode, oid) for name, (mode, oid) in children.items()]
    # Git sorts a directory as if its name ended with a slash.
    rows.sort(key=lambda row: row[0] + b"/" if row[1] == 0o40000 else row[0])
    return _object_id(b"tree", b"".join(b"%o %s\0%s" % (mode, name, bytes.fromhex(oid)) for name, mode, oid in rows))


def is_binary(data: bytes) -> bool:
    """Git's own rule: a zero byte among the first eight thousand."""
    return b"\0" in data[:8000]


def is_lfs_pointer(data: bytes) -> bool:
    """The file's content lives elsewhere; Flux fetches only this pointer (unless the source says otherwise)."""
    return data.startswith(_LFS_MARK)


def case_clashes(paths: Iterable[str]) -> list[tuple[str, ...]]:
    """Groups of paths that are one file where names ignore case (Windows, macOS)."""
    groups: dict[str, list[str]] = {}
    for path in paths:
        groups.setdefault(path.casefold(), []).append(path)
    return [tuple(sorted(group)) for group in groups.values() if len(group) > 1]
