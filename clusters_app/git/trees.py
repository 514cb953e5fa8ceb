"""A commit of the mirror as the `Tree` that graph, plan, lint and render read. Nothing is checked out."""

import os
import re
from collections.abc import Iterator, Mapping
from functools import cached_property

import pygit2
from pygit2.enums import ObjectType

from clusters_app.repo.tree import MAX_FILE_BYTES, Entry, Mode, TreeError, normal_directory, readable, too_large

_ROW = re.compile(rb"([0-7]+) ([^\0]*)\0(.{20})", re.DOTALL)
_DEEPEST = 100
_DIRECTORY, _LINK, _SUBMODULE = 0o040000, 0o120000, 0o160000


class GitTree:
    """The files of one commit. Listing reads every tree object once, reading a file one blob."""

    def __init__(self, repository: pygit2.Repository, root: pygit2.Oid) -> None:
        self._repository = repository
        self._root = root

    @property
    def id(self) -> str:
        """Git's id of the root tree."""
        return str(self._root)

    def files(self) -> Mapping[str, Entry]:
        return self._entries

    def read(self, path: str) -> bytes:
        oid = readable(self._entries, path).oid
        size = self._repository.odb.read_header(oid)[1]
        if size > MAX_FILE_BYTES:
            raise too_large(path, size)
        return self._repository.odb.read(oid)[1]

    def tree_id(self, directory: str) -> str | None:
        found = self._object(directory)
        return str(found.id) if found is not None and found.type == ObjectType.TREE else None

    def object_id(self, path: str) -> str | None:
        """Git's id of the file or directory at a path, None where there is nothing. Reads only the trees above it."""
        found = self._object(path)
        return None if found is None else str(found.id)

    def _object(self, path: str) -> pygit2.Object | None:
        root = self._repository[self._root].peel(pygit2.Tree)
        path = normal_directory(path)
        if not path:
            return root
        return root[path] if path in root else None  # noqa: SIM401 — a pygit2 tree has no get

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        return dict(sorted((entry.path, entry) for entry in self._walk(self._root, "", 0)))

    def _walk(self, tree: pygit2.Oid, prefix: str, depth: int) -> Iterator[Entry]:
        if depth > _DEEPEST:
            raise TreeError("tree.path", prefix, f"more than {_DEEPEST} directories deep")
        for row in _ROW.finditer(self._repository.odb.read(tree)[1]):
            name, mode = os.fsdecode(row[2]), int(row[1], 8)
            path = prefix + name
            if name in ("", ".", "..") or "/" in name or name.lower() == ".git":
                # Git refuses to make such entries; somebody made one by hand to reach outside the repository.
                raise TreeError("tree.path", path, "not a path inside a repository")
            if mode & 0o170000 == _DIRECTORY:
                yield from self._walk(pygit2.Oid(row[3]), f"{path}/", depth + 1)
            else:
                yield Entry(path, _mode(mode), row[3].hex())


def _mode(mode: int) -> Mode:
    """Old programs wrote more permission bits than Git's two; a file is executable when its owner may run it."""
    kind = mode & 0o170000
    if kind in (_LINK, _SUBMODULE):
        return Mode(kind)
    return Mode.EXECUTABLE if mode & 0o100 else Mode.FILE
