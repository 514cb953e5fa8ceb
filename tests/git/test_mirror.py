"""A mirror brings a real server's branches and puts commits there, exactly where it was told and nowhere else."""

from pathlib import Path

import pytest

from clusters_app.egress import Policy
from clusters_app.git.credentials import Remote
from clusters_app.git.errors import GitPermanent, GitTransient
from clusters_app.git.mirror import Mirror

from .conftest import message
from .server import GitServer, git


def test_an_empty_repository_has_no_refs_and_takes_a_first_commit(
    mirror: Mirror, remote: Remote, policy: Policy, server: GitServer
) -> None:
    assert mirror.ls_remote(remote, policy) == {}
    assert mirror.default_branch(remote, policy) in (None, "main")
    assert mirror.fetch(remote, policy).branches == {}

    sha = mirror.commit(None, {"README.md": b"# Fleet\n"}, message("Begin"))
    mirror.push(remote, policy, "main", sha, None)

    assert mirror.ls_remote(remote, policy) == {"HEAD": sha, "refs/heads/main": sha}
    assert mirror.default_branch(remote, policy) == "main"
    assert git("--git-dir", str(server.root / "acme/fleet.git"), "show", "main:README.md") == "# Fleet"


def test_a_fetch_follows_moved_new_and_deleted_branches(
    mirror: Mirror, remote: Remote, policy: Policy, first: str, tmp_path: Path
) -> None:
    other = Mirror.open(tmp_path / "other.git")
    other.fetch(remote, policy)
    second = other.commit(first, {"README.md": b"# More\n"}, message("More"))
    other.push(remote, policy, "main", second, first)
    other.push(remote, policy, "a", second, None)
    assert mirror.fetch(remote, policy).branches == {"a": second, "main": second}
    assert mirror.tree(second).read("README.md") == b"# More\n"

    other.delete_branch(remote, policy, "a", second)
    other.push(remote, policy, "a/b", second, None)
    assert mirror.fetch(remote, policy).branches == {"a/b": second, "main": second}


def test_a_push_to_a_name_that_exists_is_refused_unless_it_is_there_already(
    mirror: Mirror, remote: Remote, policy: Policy, first: str
) -> None:
    ours = mirror.commit(first, {"README.md": b"ours\n"}, message("Ours"))
    theirs = mirror.commit(first, {"README.md": b"theirs\n"}, message("Theirs"))
    mirror.push(remote, policy, "flotilla/prod.app", theirs, None)
    mirror.push(remote, policy, "flotilla/prod.app", theirs, None)
    with pytest.raises(GitPermanent) as refused:
        mirror.push(remote, policy, "flotilla/prod.app", ours, None)
    assert refused.value.code == "git.push.stale"
    assert mirror.ls_remote(remote, policy)["refs/heads/flotilla/prod.app"] == theirs


def test_a_branch_is_replaced_only_when_it_is_what_we_last_wrote(
    mirror: Mirror, remote: Remote, policy: Policy, first: str
) -> None:
    one = mirror.commit(first, {"README.md": b"1\n"}, message("One"))
    two = mirror.commit(first, {"README.md": b"2\n"}, message("Two"))
    mirror.push(remote, policy, "topic", one, None)
    mirror.push(remote, policy, "topic", two, one)
    with pytest.raises(GitPermanent) as refused:
        mirror.push(remote, policy, "topic", first, one)
    assert refused.value.code == "git.push.stale"
    with pytest.raises(GitPermanent) as gone:
        mirror.delete_branch(remote, policy, "topic", one)
    assert gone.value.code == "git.push.stale"
    assert mirror.ls_remote(remote, policy)["refs/heads/topic"] == two


def test_a_name_beside_its_own_ancestor_is_named_before_and_refused_by_the_server(
    mirror: Mirror, remote: Remote, policy: Policy, first: str
) -> None:
    mirror.push(remote, policy, "promote", first, None)
    sha = mirror.commit(first, {"x": b"x"}, message())
    assert mirror.branch_in_the_way(remote, policy, "promote/prod") == "promote"
    assert mirror.branch_in_the_way(remote, policy, "promote") is None
    with pytest.raises(GitPermanent) as refused:
        mirror.push(remote, policy, "promote/prod", sha, None)
    assert refused.value.code == "git.push.name-taken"


def test_a_hook_of_the_server_is_quoted(
    mirror: Mirror, remote: Remote, policy: Policy, first: str, server: GitServer
) -> None:
    hook = server.root / "acme/fleet.git/hooks/pre-receive"
    hook.write_text("#!/bin/sh\necho 'Every commit needs a ticket' >&2\nexit 1\n")
    hook.chmod(0o755)
    sha = mirror.commit(first, {"x": b"x"}, message())
    with pytest.raises(GitPermanent) as refused:
        mirror.push(remote, policy, "topic", sha, None)
    assert refused.value.code == "git.push.hook"
    assert "Every commit needs a ticket" in refused.value.problem


def test_what_each_refusal_of_the_server_means(
    mirror: Mirror, remote: Remote, policy: Policy, server: GitServer
) -> None:
    codes = {}
    for status in (401, 403, 404, 301, 500, 503):
        server.fault = lambda handler, status=status: handler.answer(status, b"", {"Location": "/elsewhere"})
        with pytest.raises((GitPermanent, GitTransient)) as failed:
            mirror.ls_remote(remote, policy)
        codes[status] = (failed.type, failed.value.code)
    assert codes == {
        401: (GitPermanent, "git.auth"),
        403: (GitPermanent, "git.forbidden"),
        404: (GitPermanent, "git.not-found"),
        301: (GitPermanent, "git.moved"),
        500: (GitTransient, "git.server"),
        503: (GitTransient, "git.server"),
    }


def test_a_reader_may_fetch_and_is_told_that_it_may_not_push(
    mirror: Mirror, remote: Remote, policy: Policy, first: str, server: GitServer
) -> None:
    server.tokens["writer-token"] = False
    sha = mirror.commit(first, {"x": b"x"}, message())
    assert mirror.fetch(remote, policy).branches == {"main": first}
    with pytest.raises(GitPermanent) as refused:
        mirror.push(remote, policy, "topic", sha, None)
    assert refused.value.code == "git.forbidden"


def test_a_server_with_another_authority_is_not_trusted(mirror: Mirror, remote: Remote, policy: Policy) -> None:
    with pytest.raises(GitPermanent) as failed:
        mirror.ls_remote(Remote(remote.url, remote.credential), policy)
    assert failed.value.code == "git.tls"


def test_a_server_that_is_not_there_is_tried_again(
    mirror: Mirror, remote: Remote, policy: Policy, server: GitServer
) -> None:
    with pytest.raises(GitTransient) as failed:
        mirror.ls_remote(Remote("https://localhost:1/a/b", remote.credential, remote.ca_pem), policy)
    assert failed.value.code == "git.unreachable"
