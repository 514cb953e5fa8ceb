"""Flotilla's own branches: put where they belong by an exact push, never over somebody's commit."""

from django.utils.translation import gettext as _

from clusters_app.git.mirror import Mirror
from clusters_app.models import Repository

from .authorship import FLOTILLA
from .errors import ServiceError
from .outside import policy
from .remotes import remote_of


def push_our_branch(*, repository: Repository, mirror: Mirror, branch: str, head: str, mark: str) -> None:
    """The remote's `branch` is at `head` afterwards; nothing happens when it is already.

    `mark` is a line that our commits on this branch carry. Raises ServiceError when the name cannot be had, or when the
    branch holds a commit that is not ours; GitError from the push itself.
    """
    remote = remote_of(repository)
    there = mirror.ls_remote(remote, policy()).get(f"refs/heads/{branch}")
    if there == head:
        return
    if there is None and (other := mirror.branch_in_the_way(remote, policy(), branch)):
        raise ServiceError(
            "branch.name-taken",
            _("The branch %(branch)s cannot be made beside %(other)s.") % {"branch": branch, "other": other},
            remedy=_("Rename or delete that branch."),
        )
    if there is not None and not is_our_commit(repository=repository, mirror=mirror, sha=there, mark=mark):
        raise ServiceError(
            "branch.taken",
            _("The branch %(branch)s holds somebody's commit.") % {"branch": branch},
            remedy=_("Merge or delete that branch, then retry."),
        )
    mirror.push(remote, policy(), branch, head, there)


def is_our_commit(*, repository: Repository, mirror: Mirror, sha: str, mark: str) -> bool:
    """Whether Flotilla made this commit for this purpose, perhaps in a worker that died before it wrote that down."""
    if not mirror.has(sha):
        mirror.fetch(remote_of(repository), policy())
    if not mirror.has(sha):
        return False
    commit = mirror.describe(sha)
    return commit.author == FLOTILLA and mark in commit.message.splitlines()
