"""The forge is a forge: users, scoped tokens, pull requests, and Git over HTTPS with a private authority."""

import os
import subprocess

import pytest
import requests

from tests.testbed.gitea import Gitea, GiteaError, User

pytestmark = pytest.mark.testbed


@pytest.fixture(scope="module")
def owner(gitea: Gitea) -> User:
    return gitea.create_user("owner")


def git(*arguments: str, ca_file: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"GIT_SSL_CAINFO": ca_file, "GIT_TERMINAL_PROMPT": "0"}
    return subprocess.run(["git", *arguments], env=environment, capture_output=True, text=True, check=False)


def test_its_certificate_is_trusted_by_its_own_authority_only(gitea: Gitea) -> None:
    assert requests.get(gitea.url, verify=str(gitea.ca_file), timeout=10).ok
    with pytest.raises(requests.exceptions.SSLError):
        requests.get(gitea.url, timeout=10)


def test_it_reports_the_version_that_is_pinned(gitea: Gitea) -> None:
    assert gitea.api("GET", "/version") == {"version": "1.26.0"}


def test_a_token_may_do_what_its_scopes_say_and_no_more(gitea: Gitea, owner: User) -> None:
    gitea.create_repository(owner, "scoped", empty=False)
    reading = gitea.token(owner, ["read:repository"])
    assert gitea.api("GET", "/repos/owner/scoped", token=reading)["full_name"] == "owner/scoped"
    with pytest.raises(GiteaError) as refused:
        gitea.commit_files("owner/scoped", {"a.txt": "a\n"}, "Add a", token=reading)
    assert refused.value.status == 403


def test_files_are_added_changed_and_deleted_by_commits(gitea: Gitea, owner: User) -> None:
    gitea.create_repository(owner, "files", empty=False)
    gitea.commit_files("owner/files", {"a.txt": "one\n", "b/c.txt": "c\n"}, "Add")
    commit = gitea.commit_files("owner/files", {"a.txt": "two\n", "b/c.txt": None}, "Change")
    assert gitea.read_file("owner/files", "a.txt", commit) == "two\n"
    with pytest.raises(GiteaError, match="404"):
        gitea.read_file("owner/files", "b/c.txt")


def test_an_empty_repository_is_empty_and_can_be_cloned(gitea: Gitea, owner: User) -> None:
    url = gitea.create_repository(owner, "empty")
    token = gitea.token(owner)
    with_token = url.replace("https://", f"https://owner:{token}@")
    listed = git("ls-remote", with_token, ca_file=str(gitea.ca_file))
    assert (listed.returncode, listed.stdout) == (0, "")


def test_a_stranger_cannot_read_a_private_repository(gitea: Gitea, owner: User) -> None:
    url = gitea.create_repository(owner, "private", empty=False)
    stranger = gitea.create_user("stranger")
    with_token = url.replace("https://", f"https://stranger:{gitea.token(stranger)}@")
    assert git("ls-remote", with_token, ca_file=str(gitea.ca_file)).returncode != 0
    gitea.add_collaborator("owner/private", stranger, "read")
    assert "refs/heads/main" in git("ls-remote", with_token, ca_file=str(gitea.ca_file)).stdout


def test_a_pull_request_is_merged_as_a_person_does(gitea: Gitea, owner: User) -> None:
    gitea.create_repository(owner, "reviewed", empty=False)
    gitea.api("POST", "/repos/owner/reviewed/branches", {"new_branch_name": "change", "old_branch_name": "main"})
    gitea.commit_files("owner/reviewed", {"a.txt": "a\n"}, "Add a", branch="change")
    wanted = {"title": "Add a", "head": "change", "base": "main"}
    number = gitea.api("POST", "/repos/owner/reviewed/pulls", wanted)["number"]
    gitea.merge("owner/reviewed", number)
    assert gitea.api("GET", f"/repos/owner/reviewed/pulls/{number}")["merged"]
    assert gitea.read_file("owner/reviewed", "a.txt") == "a\n"
