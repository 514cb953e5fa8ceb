"""A real Gitea keeps the contract, and its oddities are what the client was written for."""

import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from ipaddress import ip_network

import pytest

from clusters_app.egress import Policy, Session
from clusters_app.forges import FORGES, Access, Forge, ForgeKind, recognise
from clusters_app.forges.base import State
from clusters_app.forges.errors import ForgePermanent, ForgeTransient, Meaning
from clusters_app.forges.once import ensure_open
from clusters_app.forges.transport import Call
from clusters_app.secret import Secret
from tests.testbed.gitea import Gitea, User

from .contract import ForgeContract, Stage, patiently, refused

pytestmark = pytest.mark.testbed

POLICY = Policy(allow_networks=(ip_network("127.0.0.0/8"),))


class GiteaPerson:
    """Somebody who works with the repository through Gitea's own API."""

    def __init__(self, gitea: Gitea, repository: str) -> None:
        self._gitea = gitea
        self._repository = repository

    def commit(self, branch: str, files: dict[str, str], *, base: str = "main") -> str:
        if branch not in self.heads():
            body = {"new_branch_name": branch, "old_branch_name": base}
            self._gitea.api("POST", f"/repos/{self._repository}/branches", body)
        return self._gitea.commit_files(self._repository, files, "Change", branch=branch)

    def heads(self) -> dict[str, str]:
        branches = self._gitea.api("GET", f"/repos/{self._repository}/branches?limit=50") or []
        return {branch["name"]: branch["commit"]["id"] for branch in branches}

    def contains(self, sha: str, head: str) -> bool:
        commits = self._gitea.api("GET", f"/repos/{self._repository}/commits?sha={sha}&stat=false&files=false")
        return head in {commit["sha"] for commit in commits}


@pytest.fixture(scope="module")
def bot(gitea: Gitea) -> User:
    return gitea.create_user(f"bot-{secrets.token_hex(3)}")


@pytest.fixture(scope="module")
def session(gitea: Gitea) -> Iterator[Session]:
    with Session(POLICY, ca_pem=gitea.ca_pem) as session:
        yield session


@pytest.fixture
def repository(gitea: Gitea, bot: User) -> str:
    name = f"fleet-{secrets.token_hex(3)}"
    gitea.create_repository(gitea.admin, name, empty=False)
    gitea.add_collaborator(f"{gitea.admin.name}/{name}", bot, "write")
    return f"{gitea.admin.name}/{name}"


def forge_at(gitea: Gitea, session: Session, repository: str, token: str, calls: list[Call] | None = None) -> Forge:
    record = (lambda _: None) if calls is None else calls.append
    return FORGES[ForgeKind.GITEA](Access(f"{gitea.url}/{repository}.git", session, Secret(token), record=record))


@pytest.fixture
def stage(gitea: Gitea, bot: User, session: Session, repository: str) -> Stage:
    token = gitea.token(bot, ("write:repository", "write:issue"))
    return Stage(forge_at(gitea, session, repository, token), GiteaPerson(gitea, repository))


class TestGitea(ForgeContract):
    pass


def test_it_is_recognised_by_its_answer_and_a_plain_server_is_not(gitea: Gitea, session: Session) -> None:
    found = recognise(f"{gitea.url}/acme/fleet.config.git", session)
    assert found is not None
    assert (found.kind, found.root, found.owner, found.name) == (ForgeKind.GITEA, gitea.url, "acme", "fleet.config")
    assert recognise(f"{gitea.url}/sub/acme/fleet", session) is None


def test_each_right_that_the_token_lacks_is_named(gitea: Gitea, bot: User, session: Session, repository: str) -> None:
    def missing(*scopes: str) -> list[str]:
        forge = forge_at(gitea, session, repository, gitea.token(bot, scopes))
        return [each.code for each in forge.rights().missing]

    assert missing("write:repository", "write:issue") == []
    assert missing("read:repository", "write:issue") == ["right.pull-request"]
    assert missing("write:repository") == ["right.comment"]
    assert missing("read:repository") == ["right.pull-request", "right.comment"]
    assert missing("all") == []

    stranger = gitea.create_user(f"reader-{secrets.token_hex(3)}")
    gitea.add_collaborator(repository, stranger, "read")
    reader = forge_at(
        gitea, session, repository, gitea.token(stranger, ("write:repository", "write:issue", "read:user"))
    )
    rights = reader.rights()
    assert [each.code for each in rights.missing] == ["right.push"]
    assert rights.login == stranger.name


def test_a_bad_token_a_foreign_repository_and_a_missing_scope_read_differently(
    gitea: Gitea, bot: User, session: Session, repository: str
) -> None:
    bad = refused(forge_at(gitea, session, repository, "0" * 40).rights)
    assert (bad.code, bad.meaning) == ("forge.token", Meaning.PERMANENT)
    stranger = gitea.create_user(f"stranger-{secrets.token_hex(3)}")
    foreign = refused(forge_at(gitea, session, repository, gitea.token(stranger)).repository)
    assert (foreign.code, foreign.meaning) == ("forge.not-found", Meaning.GONE)
    scope = refused(forge_at(gitea, session, repository, gitea.token(bot, ("read:user",))).repository)
    assert scope.code == "forge.scope"
    assert "read:repository" in scope.problem


def test_eight_workers_at_once_leave_one_pull_request(stage: Stage) -> None:
    """This server accepts all of them; only looking again afterwards makes one of eight."""
    stage.branches.commit("flotilla/prod.app", {"a.yaml": "1\n"})

    def work(_: int) -> None:
        # Two workers that close one surplus request at one moment: this server answers 500 to one of them.
        with suppress(ForgeTransient):
            ensure_open(stage.forge, stage.draft(), lambda: True)

    with ThreadPoolExecutor(8) as workers:
        list(workers.map(work, range(8)))
    stage.open()
    found = stage.forge.find(head="flotilla/prod.app", base="main")
    assert len([each for each in found if each.state is State.OPEN]) == 1


def test_an_archived_repository_takes_nothing(gitea: Gitea, stage: Stage, repository: str) -> None:
    head = stage.branches.commit("flotilla/prod.app", {"a.yaml": "1\n"})
    number = stage.open()
    gitea.api("PATCH", f"/repos/{repository}", {"archived": True})
    assert stage.forge.repository().is_archived
    assert "right.archived" in [each.code for each in stage.forge.rights().missing]
    for call in (
        lambda: stage.forge.merge(number, head=head, title="x", message="y"),
        lambda: stage.forge.comment(number, key="k", body="b"),
    ):
        assert refused(call).code == "forge.archived"


def test_a_renamed_repository_is_moved_and_no_write_follows(gitea: Gitea, stage: Stage, repository: str) -> None:
    stage.branches.commit("flotilla/prod.app", {"a.yaml": "1\n"})
    gitea.api("PATCH", f"/repos/{repository}", {"name": f"moved-{secrets.token_hex(3)}"})
    for call in (stage.forge.repository, stage.open, lambda: stage.forge.create(stage.draft())):
        error = refused(call)
        assert (error.code, error.meaning) == ("forge.moved", Meaning.GONE)


def test_a_protected_branch_waits_for_its_reviews(gitea: Gitea, stage: Stage, repository: str) -> None:
    gitea.api("POST", f"/repos/{repository}/branch_protections", {"rule_name": "main", "required_approvals": 1})
    head = stage.branches.commit("flotilla/prod.app", {"a.yaml": "1\n"})
    number = stage.open()
    error = refused(lambda: patiently(lambda: stage.forge.merge(number, head=head, title="x", message="y")))
    assert (error.code, error.meaning) == ("forge.waiting", Meaning.WAIT)


def test_an_empty_repository_is_empty_and_has_no_pull_requests(gitea: Gitea, bot: User, session: Session) -> None:
    name = f"empty-{secrets.token_hex(3)}"
    gitea.create_repository(gitea.admin, name)
    gitea.add_collaborator(f"{gitea.admin.name}/{name}", bot, "write")
    forge = forge_at(gitea, session, f"{gitea.admin.name}/{name}", gitea.token(bot))
    assert forge.repository().is_empty
    assert forge.rights().missing == ()
    assert forge.find(head="a", base="main") == []


def test_the_merge_message_carries_its_trailers(gitea: Gitea, stage: Stage, repository: str) -> None:
    head = stage.branches.commit("flotilla/prod.app", {"a.yaml": "1\n"})
    number = stage.open()
    message = "One line\n\nFlotilla-Promotion: 7"
    merged = patiently(lambda: stage.forge.merge(number, head=head, title="Promote app", message=message))
    text = gitea.api("GET", f"/repos/{repository}/git/commits/{merged}")["commit"]["message"]
    assert text.startswith("Promote app")
    assert "\nFlotilla-Promotion: 7" in text


def test_every_call_is_recorded_without_its_secret(gitea: Gitea, bot: User, session: Session, repository: str) -> None:
    calls: list[Call] = []
    token = gitea.token(bot)
    forge_at(gitea, session, repository, token, calls).repository()
    assert [(call.method, call.path, call.status) for call in calls] == [("GET", f"/repos/{repository}", 200)]
    assert token not in repr(calls)


def test_a_server_that_is_gone_is_tried_again(gitea: Gitea, session: Session) -> None:
    forge = FORGES[ForgeKind.GITEA](Access("https://127.0.0.1:1/a/b", session, Secret("x" * 40)))
    with pytest.raises(ForgeTransient) as error:
        forge.repository()
    assert error.value.code == "forge.unreachable"
    assert not isinstance(error.value, ForgePermanent)
