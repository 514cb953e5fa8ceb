"""Nothing that a person or a server can say becomes an option, a protocol, a path or a ref that we did not mean."""

from pathlib import Path

import pytest

from clusters_app.egress import Policy
from clusters_app.git.credentials import Remote, parse_address
from clusters_app.git.errors import GitPermanent
from clusters_app.git.mirror import Mirror
from clusters_app.git.refs import branch_in_the_way, check_branch, check_sha

HOSTILE_URLS = [
    "ext::sh -c 'touch /tmp/owned'",
    "ext::sh%20-c%20id",
    "fd::17/foo",
    "file:///etc",
    "/etc",
    "../other",
    "C:\\repos\\fleet",
    "git://host/a/b",
    "ftp://host/a/b",
    "http://host/a/b",
    "--upload-pack=touch /tmp/owned",
    "-oProxyCommand=id",
    "ssh://-oProxyCommand=id/a",
    "ssh://git@-oProxyCommand=id/a",
    "ssh://-l@host/a/b",
    "-oProxyCommand=id:a/b",
    "git@-oProxyCommand=id:a/b",
    "ssh://git@host:99999/a",
    "https://user:secret@host/a/b",
    "https://token@host/a/b",
    "https://host/a/b?service=x",
    "https://host/a/b#x",
    "https://host/a/../../etc",
    "https://ho st/a",
    "https://host",
    "https://host/a\nb",
    "https://host/a\0b",
    " https://host/a/b",
    "https://[::1/a",
    "https:///a/b",
    "",
    "https://" + "a" * 3000,
]


@pytest.mark.parametrize("url", HOSTILE_URLS)
def test_a_url_that_is_not_plainly_a_remote_starts_nothing(
    url: str, mirror: Mirror, policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clusters_app.git.mirror.run", _must_not_run)
    with pytest.raises(GitPermanent) as refused:
        mirror.fetch(Remote(url), policy)
    assert refused.value.code in ("git.url", "git.address-refused")
    assert "secret" not in str(refused.value)


HOSTILE_BRANCHES = [
    *("-x", "--force", "+main", "HEAD", "", "a b", "a..b", "a~1", "a^", "a:b", "a*", "a?", "a[", "a\\b", "a@{1}"),
    *(".a", "a/.b", "a.lock", "a.lock/b", "a.", "a/", "/a", "a//b", "refs/../x", "a\n", "a\0", "ветка", "x" * 201),
]


@pytest.mark.parametrize("branch", HOSTILE_BRANCHES)
def test_a_ref_that_git_or_we_do_not_take_is_refused(branch: str) -> None:
    with pytest.raises(GitPermanent, match="is not a branch name"):
        check_branch(branch)


@pytest.mark.parametrize("branch", ["main", "flotilla/prod.app", "release-1.2", "a/b/c", "v1.0.0", "x_y"])
def test_ordinary_branches_are_taken(branch: str) -> None:
    assert check_branch(branch) == branch


@pytest.mark.parametrize("sha", ["", "main", "HEAD", "-" * 40, "a" * 39, "A" * 40, "a" * 40 + "\n", "--output=x"])
def test_only_a_full_commit_id_is_one(sha: str, mirror: Mirror) -> None:
    with pytest.raises(GitPermanent, match="is not a full commit id"):
        check_sha(sha)
    with pytest.raises(GitPermanent):
        mirror.is_ancestor(sha, "a" * 40)


@pytest.mark.parametrize("hostile", ["--upload-pack=id", "-c", "x:refs/heads/main", "a..b"])
def test_every_variable_of_a_push_is_checked(
    hostile: str, mirror: Mirror, remote: Remote, policy: Policy, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clusters_app.git.mirror.run", _must_not_run)
    for branch, sha, expect in [(hostile, first, None), ("topic", hostile, None), ("topic", first, hostile)]:
        with pytest.raises(GitPermanent):
            mirror.push(remote, policy, branch, sha, expect)


def test_addresses_are_checked_before_git_starts(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clusters_app.git.mirror.run", _must_not_run)
    for host in ("127.0.0.1", "169.254.169.254", "[::1]", "10.0.0.7"):
        with pytest.raises(GitPermanent) as refused:
            mirror.ls_remote(Remote(f"https://{host}/a/b"), Policy())
        assert refused.value.code == "git.address-refused"


def test_a_file_is_a_remote_only_where_that_was_allowed(mirror: Mirror, policy: Policy, tmp_path: Path) -> None:
    served = tmp_path / "other.git"
    theirs = Mirror.open(served)
    assert Mirror.open(mirror.path, allow_file=True).ls_remote(Remote(f"file://{served}"), policy) == {}
    with pytest.raises(GitPermanent, match="only https:// and ssh://"):
        mirror.ls_remote(Remote(f"file://{theirs.path}"), policy)


def test_the_url_that_reaches_git_is_put_together_anew() -> None:
    spelled = {
        "git@github.com:acme/fleet.git": "ssh://git@github.com/acme/fleet.git",
        "ssh://ada@git.lab:2222/a/b": "ssh://ada@git.lab:2222/a/b",
        "https://Git.Lab:443/a/b.git": "https://git.lab/a/b.git",
        "https://dev.azure.com/acme/Pay Ops/_git/fleet": "https://dev.azure.com/acme/Pay%20Ops/_git/fleet",
        "https://[2001:db8::1]:8443/a": "https://[2001:db8::1]:8443/a",
    }
    assert {url: parse_address(url).url for url in spelled} == spelled


def test_a_branch_is_never_planned_beside_its_own_prefix() -> None:
    branches = ["main", "promote/prod", "release/1.0/x"]
    assert branch_in_the_way("promote", branches) == "promote/prod"
    assert branch_in_the_way("promote/prod/eu", branches) == "promote/prod"
    assert branch_in_the_way("release/1.0", branches) == "release/1.0/x"
    assert branch_in_the_way("promote/pro", branches) is None
    assert branch_in_the_way("main", branches) is None


def _must_not_run(*_: object, **__: object) -> None:
    raise AssertionError("git was started")
