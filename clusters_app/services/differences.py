"""Differences as pages and API show them: lines with a mark, three around each change."""

from difflib import unified_diff

from clusters_app.repo.tree import Tree, TreeError

type Lines = list[list[str]]


def text_of(tree: Tree, path: str) -> str | None:
    """The file's text; empty when it is not there, None when it is not text."""
    try:
        return text_from(tree.read(path))
    except TreeError:
        return ""


def text_from(data: bytes | None) -> str | None:
    """Content as text; empty for a file that is not there (None), None when it is not text."""
    try:
        return (data or b"").decode()
    except UnicodeDecodeError:
        return None


def diff_lines(old: str | None, new: str | None) -> Lines:
    """[[mark, text]], the mark being " ", "-", "+" or "@"; none when one side is not text."""
    if old is None or new is None:
        return []
    lines = list(unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=3))[2:]
    return [[line[:1], line[1:]] for line in lines]
