"""A remote as the `local` forge needs it: branches, and a merge that is a push with an exact lease."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from clusters_app.egress import Policy

from .commits import Author, Message
from .credentials import Remote
from .errors import GitPermanent
from .mirror import Mirror

_HEADS = "refs/heads/"


@dataclass(frozen=True, slots=True)
class RemoteRepository:
    """One remote through its mirror. Who merges, and when, is what a merge commit will say."""

    mirror: Mirror
    remote: Remote
    policy: Policy
    author: Author
    now: datetime

    def heads(self) -> Mapping[str, str]:
        """Branches of the remote with their commits, now. One call of the network."""
        found = self.mirror.ls_remote(self.remote, self.policy)
        return {ref.removeprefix(_HEADS): sha for ref, sha in found.items() if ref.startswith(_HEADS)}

    def default_branch(self) -> str | None:
        """The branch that the remote's HEAD names."""
        return self.mirror.default_branch(self.remote, self.policy)

    def may_push(self) -> bool:
        """Whether the credential may write. Nothing changes on the remote."""
        return self.mirror.may_push(self.remote, self.policy)

    def contains(self, sha: str, head: str) -> bool:
        """Whether the history of `sha` holds `head`; fetches what the mirror lacks."""
        self._have(sha, head)
        return self.mirror.is_ancestor(head, sha)

    def merge_commit(self, base: str, head: str, message: str) -> str | None:
        """A merge commit in the mirror, None when the two conflict."""
        self._have(base, head)
        try:
            return self.mirror.merge_commit(base, head, Message(message, self.author, self.now))
        except GitPermanent as error:
            if error.code == "git.conflict":
                return None
            raise

    def advance(self, branch: str, sha: str, expect: str) -> bool:
        """Move the remote's branch from `expect` to `sha`; False when it has moved meanwhile."""
        try:
            self.mirror.push(self.remote, self.policy, branch, sha, expect)
        except GitPermanent as error:
            if error.code == "git.push.stale":
                return False
            raise
        return True

    def _have(self, *commits: str) -> None:
        if not all(map(self.mirror.has, commits)):
            self.mirror.fetch(self.remote, self.policy)
