"""A bare copy of a repository on this machine: fetched whole, read by object, pushed to one branch at a time."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pygit2
from pygit2.enums import ConfigLevel, ObjectType

from clusters_app.egress import Policy

from . import history, operations
from .commits import Author, Changes, Commit, Message, describe, empty_tree, write_commit, write_tree
from .credentials import Remote
from .environment import local_environment
from .errors import GitError, GitPermanent, GitTransient
from .failures import remote_failure, spoken
from .lock import LastFetch, alone, read_last_fetch, write_last_fetch
from .operations import Operation
from .past import Past
from .reach import Route
from .refs import branch_in_the_way, check_branch, check_sha
from .refusals import push_refusal
from .runner import Limits, Result, run
from .trees import GitTree

# libgit2 reads configuration of the machine and of the user by itself; ours is all that counts.
for _level in (ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
    pygit2.settings.search_path[_level] = "/nonexistent"

_HEADS = "refs/heads/"
_NOTHING = Message("Nothing", Author("flotilla", "flotilla@localhost"), datetime.fromtimestamp(0, UTC))


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetch left: branches with their commits, when it started (seconds since the epoch) and how long it took.

    `shared`: another caller's fetch, which started after this one was asked for, served it.
    """

    branches: Mapping[str, str]
    started: float
    seconds: float
    shared: bool


class Mirror:
    """One repository's mirror. Cheap to open; every method may be called from any process.

    What starts git takes the mirror's lock, so there is never more than one git program in it.
    """

    def __init__(self, path: Path, repository: pygit2.Repository, *, limits: Limits, allow_file: bool) -> None:
        self.path = path
        self.limits = limits
        self._repository = repository
        self._allow_file = allow_file

    @classmethod
    def open(cls, path: Path, *, limits: Limits | None = None, allow_file: bool = False) -> "Mirror":
        """The mirror at `path`, made (empty) when it is not there. `allow_file`: file:// remotes, demo and tests."""
        if not (path / "HEAD").exists():
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            pygit2.init_repository(path, bare=True)
        return cls(path, pygit2.Repository(str(path)), limits=limits or Limits(), allow_file=allow_file)

    # The network

    def fetch(self, remote: Remote, policy: Policy) -> Fetched:
        """Bring every branch of the remote. Callers that wait for the lock are served by the next fetch that starts."""
        asked = time.time()
        route = self._route(remote, policy)
        with alone(self.path, wait_seconds=self.limits.seconds) as lock:
            last = read_last_fetch(self.path)
            if shared := last is not None and last.serves(route.address.url, asked):
                if failure := last.failure():
                    raise failure
            else:
                last = self._fetch(route, lock)
        return Fetched(self.branches(), last.started, last.ended - last.started, shared)

    def _fetch(self, route: Route, lock: int) -> LastFetch:
        started = time.time()
        url = route.address.url
        try:
            self._run_to_success(operations.fetch(self.path, route.address), route, lock)
        except GitError as error:
            transient = isinstance(error, GitTransient)
            write_last_fetch(self.path, LastFetch(started, time.time(), url, error.code, transient, error.parameters))
            raise
        fetched = LastFetch(started, time.time(), url)
        write_last_fetch(self.path, fetched)
        return fetched

    def ls_remote(self, remote: Remote, policy: Policy) -> dict[str, str]:
        """Full ref names of the remote's branches and `HEAD` with their commits; empty for an empty repository."""
        rows = (line.partition("\t") for line in self._list(remote, policy) if not line.startswith("ref: "))
        return {name: check_sha(sha) for sha, _, name in rows}

    def default_branch(self, remote: Remote, policy: Policy) -> str | None:
        """The branch that the remote's HEAD names; None where it names none, or one without a commit."""
        for line in self._list(remote, policy):
            target, _, name = line.partition("\t")
            if name == "HEAD" and target.startswith(f"ref: {_HEADS}"):
                return target.removeprefix(f"ref: {_HEADS}")
        return None

    def _list(self, remote: Remote, policy: Policy) -> list[str]:
        route = self._route(remote, policy)
        return self._run_to_success(operations.list_remote(route.address), route, None).output.splitlines()

    def push(self, remote: Remote, policy: Policy, branch: str, sha: str, expect: str | None) -> None:
        """Put the branch at `sha`, which the mirror holds. `expect`: where it must be now, None: it must not exist.

        Succeeds when the remote has the branch at `sha` already. Raises GitPermanent `git.push.stale` when somebody
        else wrote to it, `git.push.name-taken` where Git cannot hold the name; the other codes are in `errors`.
        """
        self._commit_object(sha)
        route = self._route(remote, policy)
        self._push(operations.push(self.path, route.address, branch, sha, expect), route, branch)

    def may_push(self, remote: Remote, policy: Policy) -> bool:
        """Whether the credential may write branches. Asks the server and changes nothing there."""
        route = self._route(remote, policy)
        nothing = write_commit(self._repository, empty_tree(self._repository), (), _NOTHING)
        try:
            self._run_to_success(operations.try_push(self.path, route.address, nothing), route, None)
        except GitPermanent as error:
            if error.code == "git.forbidden":
                return False
            raise
        return True

    def delete_branch(self, remote: Remote, policy: Policy, branch: str, expect: str) -> None:
        """Delete the remote's branch if it is at `expect`; GitPermanent `git.push.stale` if it is not, or is gone."""
        route = self._route(remote, policy)
        self._push(operations.delete(self.path, route.address, branch, expect), route, branch)

    def branch_in_the_way(self, remote: Remote, policy: Policy, branch: str) -> str | None:
        """The remote's branch beside which `branch` cannot exist. Asked before a push: servers word it in many ways."""
        names = (ref.removeprefix(_HEADS) for ref in self.ls_remote(remote, policy) if ref != "HEAD")
        return branch_in_the_way(check_branch(branch), names)

    # Reading

    def branches(self) -> dict[str, str]:
        """The mirror's branches with their commits, as of the last fetch."""
        references = self._repository.references
        names = sorted(name for name in references if name.startswith(_HEADS))
        return {name.removeprefix(_HEADS): str(references[name].target) for name in names}

    def head(self, branch: str) -> str:
        """The commit of a branch, as of the last fetch. GitPermanent `git.branch.missing`."""
        reference = self._repository.references.get(f"{_HEADS}{check_branch(branch)}")
        if reference is None:
            raise GitPermanent("git.branch.missing", name=branch)
        return str(reference.target)

    def has(self, sha: str) -> bool:
        """Whether the mirror holds this commit."""
        return check_sha(sha) in self._repository and self._repository[sha].type == ObjectType.COMMIT

    def tree(self, sha: str) -> GitTree:
        """The files of a commit."""
        return GitTree(self._repository, self._commit_object(sha).tree_id)

    def describe(self, sha: str) -> Commit:
        """Author, date, message and parents of a commit."""
        return describe(self._commit_object(sha))

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """Whether the first is the second or among its ancestors. False where the mirror lacks one of them."""
        if not (self.has(ancestor) and self.has(descendant)):
            return False
        return ancestor == descendant or self._repository.descendant_of(descendant, ancestor)

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor, None for unrelated histories."""
        found = self._repository.merge_base(self._commit_object(one).id, self._commit_object(other).id)
        return None if found is None else str(found)

    def log(self, base: str | None, head: str, paths: Sequence[str] = (), *, limit: int = 1000) -> list[Commit]:
        """Commits that `head` has and `base` lacks, newest first, at most `limit`; with `paths` those that changed one.

        A path is a file or a directory. A merge counts when it differs from each of its parents there.
        """
        until = None if base is None else self._commit_object(base)
        return history.log(self._repository, until, self._commit_object(head), paths, limit)

    def past(self, head: str) -> Past:
        """The history behind a commit as a promotion's plan reads it; unlike `log` it counts a merge for its branch."""
        return Past(self._repository, str(self._commit_object(head).id))

    def changed_paths(self, base: str, head: str) -> list[str]:
        """Paths that differ between two commits: old and new name of a moved file are two."""
        return history.changed_paths(self._commit_object(base), self._commit_object(head))

    # Writing objects

    def commit(self, base: str | None, changes: Changes, message: Message) -> str:
        """A commit on `base` with these files written or (None) removed; a first commit when `base` is None.

        The same arguments give the same id, in any mirror, at any time. No branch moves: push it.
        """
        root = None if base is None else self._commit_object(base).tree_id
        tree = write_tree(self._repository, root, changes)
        return write_commit(self._repository, tree, () if base is None else (base,), message)

    def merge_conflicts(self, base: str, head: str) -> tuple[str, ...]:
        """Paths in which a merge of two commits conflicts; empty when it is clean."""
        return self._merge(base, head)[1]

    def merge_commit(self, base: str, head: str, message: Message) -> str:
        """A merge commit of `head` into `base`. GitPermanent `git.conflict` names the paths."""
        tree, conflicts = self._merge(base, head)
        if conflicts:
            raise GitPermanent("git.conflict", paths=", ".join(conflicts[:10]))
        return write_commit(self._repository, pygit2.Oid(hex=tree), (base, head), message)

    def _merge(self, base: str, head: str) -> tuple[str, tuple[str, ...]]:
        self._commit_object(base)
        self._commit_object(head)
        result = self._run_here(operations.merge_trees(self.path, base, head))
        if result.status not in (0, 1) or not result.output:
            raise GitTransient("git.failed", said=spoken(result.errors))
        tree, *conflicts = result.output.rstrip("\0").split("\0")
        return tree, tuple(conflicts)

    def maintain(self) -> None:
        """Let git pack what many fetches and commits left loose. Minutes on a big repository."""
        result = self._run_here(operations.maintain(self.path))
        if result.status:
            raise GitTransient("git.failed", said=spoken(result.errors))

    # Inside

    def _commit_object(self, sha: str) -> pygit2.Commit:
        if not self.has(sha):
            raise GitPermanent("git.commit.missing", name=sha)
        return self._repository[sha].peel(pygit2.Commit)

    def _route(self, remote: Remote, policy: Policy) -> Route:
        return Route.to(remote, policy, allow_file=self._allow_file)

    def _push(self, operation: Operation, route: Route, branch: str) -> None:
        with alone(self.path, wait_seconds=self.limits.seconds) as lock:
            result = self._run(operation, route, lock)
        if result.status:
            raise push_refusal(result, branch) or remote_failure(result, route.address)

    def _run_to_success(self, operation: Operation, route: Route, lock: int | None) -> Result:
        result = self._run(operation, route, lock)
        if result.status:
            raise remote_failure(result, route.address)
        return result

    def _run(self, operation: Operation, route: Route, lock: int | None) -> Result:
        with route.open(slow_seconds=self.limits.slow_seconds) as environment:
            return run(operation, environment, self.limits, held=() if lock is None else (lock,))

    def _run_here(self, operation: Operation) -> Result:
        with alone(self.path, wait_seconds=self.limits.seconds) as lock:
            return run(operation, local_environment(), self.limits, held=(lock,))
