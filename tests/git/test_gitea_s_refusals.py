"""A real Gitea refuses pushes in its own words, and each is understood."""

import secrets
from datetime import UTC, datetime
from ipaddress import ip_network
from pathlib import Path

import pytest

from clusters_app.egress import Policy
from clusters_app.git.commits import Author, Message
from clusters_app.git.credentials import Remote, TokenCredential
from clusters_app.git.errors import GitError, GitPermanent
from clusters_app.git.mirror import Mirror
from clusters_app.secret import Secret
from tests.testbed.gitea import Gitea, User

pytestmark = pytest.mark.testbed

POLICY = Policy(allow_networks=(ip_network("127.0.0.0/8"),))
NOTE = Message("Change", Author("Ada", "ada@example.org"), datetime(2026, 5, 4, 12, 0, tzinfo=UTC))


@pytest.fixture(scope="module")
def bot(gitea: Gitea) -> User:
    return gitea.create_user(f"pusher-{secrets.token_hex(3)}")


@pytest.fixture
def repository(gitea: Gitea, bot: User) -> str:
    name = f"fleet-{secrets.token_hex(3)}"
    gitea.create_repository(gitea.admin, name, empty=False)
    gitea.add_collaborator(f"{gitea.admin.name}/{name}", bot, "write")
    return f"{gitea.admin.name}/{name}"


def remote_for(gitea: Gitea, repository: str, token: str) -> Remote:
    return Remote(f"{gitea.url}/{repository}.git", TokenCredential(Secret(token)), gitea.ca_pem)


@pytest.fixture
def remote(gitea: Gitea, bot: User, repository: str) -> Remote:
    return remote_for(gitea, repository, gitea.token(bot, ("write:repository",)))


@pytest.fixture
def mirror(tmp_path: Path, remote: Remote) -> Mirror:
    mirror = Mirror.open(tmp_path / "mirror.git")
    mirror.fetch(remote, POLICY)
    return mirror


@pytest.fixture
def commit(mirror: Mirror) -> str:
    return mirror.commit(mirror.head("main"), {"version.yaml": b"tag: 2\n"}, NOTE)


def push_code(mirror: Mirror, remote: Remote, branch: str, sha: str, expect: str | None = None) -> str:
    with pytest.raises(GitError) as refused:
        mirror.push(remote, POLICY, branch, sha, expect)
    return refused.value.code


def test_a_branch_is_pushed_moved_and_deleted(mirror: Mirror, remote: Remote, commit: str) -> None:
    base = mirror.head("main")
    mirror.push(remote, POLICY, "flotilla/prod.app", commit, None)
    mirror.push(remote, POLICY, "flotilla/prod.app", base, commit)
    assert mirror.ls_remote(remote, POLICY)["refs/heads/flotilla/prod.app"] == base
    assert push_code(mirror, remote, "flotilla/prod.app", commit, commit) == "git.push.stale"
    mirror.delete_branch(remote, POLICY, "flotilla/prod.app", base)
    assert mirror.fetch(remote, POLICY).branches == {"main": base}


def test_a_protected_branch_and_a_taken_name(
    gitea: Gitea, repository: str, mirror: Mirror, remote: Remote, commit: str
) -> None:
    gitea.api("POST", f"/repos/{repository}/branch_protections", {"rule_name": "main", "enable_push": False})
    assert push_code(mirror, remote, "main", commit, mirror.head("main")) == "git.push.protected"
    mirror.push(remote, POLICY, "promote", commit, None)
    assert push_code(mirror, remote, "promote/prod", commit) == "git.push.name-taken"


def test_rights_that_are_missing(gitea: Gitea, repository: str, bot: User, mirror: Mirror, commit: str) -> None:
    narrow = remote_for(gitea, repository, gitea.token(bot, ("read:repository",)))
    assert push_code(mirror, narrow, "topic", commit) == "git.forbidden"
    assert not mirror.may_push(narrow, POLICY)
    reader = gitea.create_user(f"reader-{secrets.token_hex(3)}")
    gitea.add_collaborator(repository, reader, "read")
    reading = remote_for(gitea, repository, gitea.token(reader, ("write:repository",)))
    assert push_code(mirror, reading, "topic", commit) == "git.forbidden"
    wrong = remote_for(gitea, repository, "0" * 40)
    with pytest.raises(GitPermanent) as refused:
        mirror.fetch(wrong, POLICY)
    assert refused.value.code == "git.auth"


def test_archived_moved_and_unknown_repositories(
    gitea: Gitea, repository: str, bot: User, mirror: Mirror, remote: Remote, commit: str
) -> None:
    gitea.api("PATCH", f"/repos/{repository}", {"archived": True})
    assert push_code(mirror, remote, "topic", commit) == "git.archived"
    gitea.api("PATCH", f"/repos/{repository}", {"archived": False, "name": f"moved-{secrets.token_hex(3)}"})
    with pytest.raises(GitPermanent) as moved:
        mirror.fetch(remote, POLICY)
    assert moved.value.code == "git.moved"
    with pytest.raises(GitPermanent) as unknown:
        mirror.fetch(remote_for(gitea, "nobody/nothing", gitea.token(bot)), POLICY)
    assert unknown.value.code in ("git.not-found", "git.auth")


def test_an_empty_repository_takes_its_first_commit(gitea: Gitea, bot: User, tmp_path: Path) -> None:
    name = f"empty-{secrets.token_hex(3)}"
    gitea.create_repository(gitea.admin, name)
    gitea.add_collaborator(f"{gitea.admin.name}/{name}", bot, "write")
    remote = remote_for(gitea, f"{gitea.admin.name}/{name}", gitea.token(bot, ("write:repository",)))
    mirror = Mirror.open(tmp_path / "new.git")
    assert mirror.fetch(remote, POLICY).branches == {}
    assert mirror.may_push(remote, POLICY)
    sha = mirror.commit(None, {"README.md": b"# Fleet\n"}, NOTE)
    mirror.push(remote, POLICY, "main", sha, None)
    # Read by another mirror: for a second or two this server's own pages fall over a repository that was just empty.
    assert Mirror.open(tmp_path / "second.git").fetch(remote, POLICY).branches == {"main": sha}
