"""Which names may become branches, and which branches cannot stand beside each other."""

import re
from collections.abc import Iterable

from .errors import GitPermanent

_ALLOWED = re.compile(r"[A-Za-z0-9._/-]+")
_SHA = re.compile(r"[0-9a-f]{40}")


def check_branch(branch: str) -> str:
    """The branch's name when Git and we accept it, else GitPermanent `git.ref`.

    Stricter than `git check-ref-format`: ASCII letters, digits, `.`, `_`, `/`, `-`, and no leading `-`.
    """
    parts = branch.split("/")
    good = (
        _ALLOWED.fullmatch(branch)
        and len(branch) <= 200
        and not branch.startswith("-")
        and ".." not in branch
        and branch != "HEAD"
        and all(part and not part.startswith(".") and not part.endswith((".", ".lock")) for part in parts)
    )
    if not good:
        raise GitPermanent("git.ref", name=branch[:80])
    return branch


def check_sha(sha: str) -> str:
    """A full commit id in lower-case hexadecimal, else GitPermanent `git.sha`."""
    if not _SHA.fullmatch(sha):
        raise GitPermanent("git.sha", name=sha[:80])
    return sha


def branch_in_the_way(branch: str, branches: Iterable[str]) -> str | None:
    """The branch beside which `branch` cannot exist: Git holds `a` or `a/b`, never both. Itself does not count."""
    for other in sorted(branches):
        if other.startswith(f"{branch}/") or branch.startswith(f"{other}/"):
            return other
    return None
