"""Every answer of Gitea that was recorded has one meaning, and an answer that was not is read before anything else."""

from collections.abc import Iterator
from ipaddress import ip_network

import pytest

from clusters_app.egress import Policy, Session
from clusters_app.forges import Access, open_gitea
from clusters_app.forges.base import Draft, Forge
from clusters_app.forges.errors import ForgeError, ForgePermanent, ForgeTransient, Meaning
from clusters_app.forges.pace import Pace
from clusters_app.forges.recognise import recognise
from clusters_app.forges.transport import Call
from clusters_app.secret import Secret

from .contract import refused
from .scripted import Asked, Said, Scripted, scripted

TOKEN = "0123456789abcdef0123456789abcdef01234567"

M = Meaning
RECORDED = [
    (401, {"message": "invalid username, password or token"}, "forge.token", M.PERMANENT),
    (403, {"message": "token does not have at least one of required scope(s)"}, "forge.scope", M.PERMANENT),
    (403, {"message": "token is public-only"}, "forge.scope", M.PERMANENT),
    (403, {"message": "User permission denied"}, "forge.forbidden", M.PERMANENT),
    (404, {"message": "The target couldn't be found."}, "forge.not-found", M.GONE),
    (423, {"message": "Repo is archived"}, "forge.archived", M.GONE),
    (301, b"", "forge.moved", M.GONE),
    (307, b"", "forge.moved", M.GONE),
    (405, {"message": "The PR is already merged"}, "forge.already-merged", M.ALREADY),
    (405, {"message": "Please try again later"}, "forge.later", M.TRANSIENT),
    (405, {"message": "Not all required status checks successful"}, "forge.waiting", M.WAIT),
    (405, {"message": "Does not have enough approvals"}, "forge.waiting", M.WAIT),
    (405, {"message": "The head branch is behind the base branch"}, "forge.waiting", M.WAIT),
    (405, {"message": "merge style is not allowed for this repository"}, "forge.style", M.PERMANENT),
    (405, {"message": "User not allowed to merge PR"}, "forge.forbidden", M.PERMANENT),
    (405, {"message": "Changed protected files"}, "forge.protected", M.PERMANENT),
    (405, {"message": "Work in progress PRs cannot be merged"}, "forge.refused", M.PERMANENT),
    (409, {"message": "pull request already exists for these targets [id: 281]"}, "forge.already-open", M.ALREADY),
    (409, {"message": "head out of date"}, "forge.head-moved", M.HEAD_MOVED),
    (409, {"message": "PushRejected: cannot lock ref 'r': is at a but expected b"}, "forge.base-moved", M.TRANSIENT),
    (409, {"message": "PushRejected: pre-receive hook declined: no tickets"}, "forge.hook", M.PERMANENT),
    (409, {"Style": "merge", "StdOut": "CONFLICT: a", "Err": "exit 1"}, "forge.conflict", M.PERMANENT),
    (422, {"message": "no changes between main and main"}, "forge.no-changes", M.PERMANENT),
    (422, {"message": "something that nobody has seen"}, "forge.refused", M.PERMANENT),
    (500, b"", "forge.server", M.TRANSIENT),
    (502, b"<html>Bad gateway</html>", "forge.server", M.TRANSIENT),
    (418, b"not json", "forge.refused", M.PERMANENT),
]  # fmt: skip


@pytest.fixture
def server() -> Iterator[Scripted]:
    with scripted() as server:
        yield server


@pytest.fixture
def session() -> Iterator[Session]:
    policy = Policy(allow_networks=(ip_network("127.0.0.0/8"),), allow_http_hosts=frozenset({"127.0.0.1"}))
    with Session(policy) as session:
        yield session


@pytest.fixture
def calls() -> list[Call]:
    return []


@pytest.fixture
def forge(server: Scripted, session: Session, calls: list[Call]) -> Forge:
    return open_gitea(Access(f"{server.url}/acme/fleet.git", session, Secret(TOKEN), Pace(), calls.append))


@pytest.mark.parametrize(("status", "body", "code", "meaning"), RECORDED)
def test_a_recorded_answer_has_one_meaning(
    status: int, body: object, code: str, meaning: Meaning, forge: Forge, server: Scripted
) -> None:
    server.answer = lambda _: Said(status, body, {"Location": "/elsewhere"} if status < 400 else {})
    error = refused(lambda: forge.merge(7, head="a" * 40, title="x", message="y"))
    assert (error.code, error.meaning) == (code, meaning)
    assert isinstance(error, ForgeTransient if meaning is Meaning.TRANSIENT else ForgePermanent)
    assert len(server.asked) == 1


def test_a_lost_answer_to_a_write_is_not_the_same_as_an_unreachable_forge(
    forge: Forge, server: Scripted, calls: list[Call]
) -> None:
    server.answer = lambda _: Said(drop=True)
    assert refused(lambda: forge.close(7)).code == "forge.answer-lost"
    assert refused(lambda: forge.read(7)).code == "forge.unreachable"
    assert [(call.method, call.status) for call in calls] == [("PATCH", None), ("GET", None)]


@pytest.mark.parametrize(
    "body", [b"<html>Sign in</html>", b"", b"[]", {"number": "7"}, {"number": 7}, b"{", b'{"number": NaN}']
)
def test_an_answer_that_is_not_the_api_s_is_named_and_never_believed(
    body: object, forge: Forge, server: Scripted
) -> None:
    server.answer = lambda _: Said(200, body)
    assert refused(lambda: forge.read(7)).code == "forge.unreadable"


def test_a_forge_that_repeats_the_token_does_not_get_it_into_the_error(forge: Forge, server: Scripted) -> None:
    server.answer = lambda asked: Said(403, {"message": f"{asked.authorization} \x1b[31m is bad"})
    error = refused(lambda: forge.read(7))
    assert server.asked[0].authorization == f"token {TOKEN}"
    assert TOKEN not in f"{error} {error!r} {error.parameters}"
    assert "\x1b" not in str(error)


def test_names_are_quoted_whole_and_a_sub_path_is_kept(server: Scripted, session: Session) -> None:
    forge = open_gitea(Access(f"{server.url}/git/tea/acme/fleet.config.git", session))
    refused(forge.repository)
    assert server.asked[0].path == "/git/tea/api/v1/repos/acme/fleet.config"
    assert server.asked[0].authorization == ""
    refused(lambda: forge.find(head="h", base="release/1.0 & more"))
    assert "base_branch=release%2F1.0+%26+more" in server.asked[1].path


def test_one_refusal_rests_every_call_of_the_credential(session: Session, server: Scripted, calls: list[Call]) -> None:
    pace = Pace()
    first, second = (
        open_gitea(Access(f"{server.url}/acme/{name}", session, None, pace, calls.append)) for name in "ab"
    )
    server.answer = lambda _: Said(429, b"slow down", {"Retry-After": "120"})
    error = refused(first.repository)
    assert error.code == "forge.rate-limited"
    assert error.retry_after_seconds == 120
    waiting = refused(second.repository)
    assert waiting.retry_after_seconds is not None
    assert 110 < waiting.retry_after_seconds <= 120
    assert len(server.asked) == 1


def test_a_403_with_a_time_to_come_back_is_a_limit_too(forge: Forge, server: Scripted) -> None:
    server.answer = lambda _: Said(403, {"message": "secondary rate limit"}, {"Retry-After": "30"})
    assert refused(forge.repository).code == "forge.rate-limited"


def test_a_comment_is_written_once_and_then_replaced_and_a_quoted_mark_is_not_ours(
    forge: Forge, server: Scripted
) -> None:
    theirs = {"id": 1, "body": "> <!-- flotilla:7 -->\n> planned"}
    ours = {"id": 2, "body": "<!-- flotilla:7 -->\nplanned"}
    server.answer = lambda asked: Said(200, [theirs, ours] if asked.method == "GET" else {})
    forge.comment(3, key="7", body="planned")
    forge.comment(3, key="7", body="/merge\nmerged")
    assert [(asked.method, asked.path) for asked in server.asked if asked.method != "GET"] == [
        ("PATCH", "/api/v1/repos/acme/fleet/issues/comments/2")
    ]
    assert server.asked[-1].body == {"body": "<!-- flotilla:7 -->\n /merge\nmerged"}


def test_a_pull_request_from_a_fork_with_our_branch_s_name_is_not_ours(forge: Forge, server: Scripted) -> None:
    def request(number: int, head_repository: int) -> dict[str, object]:
        side = {"label": "flotilla/prod.app", "sha": "a" * 40, "repo_id": head_repository}
        base = {"label": "main", "sha": "b" * 40, "repo_id": 1}
        return {"number": number, "html_url": "u", "state": "open", "title": "t", "head": side, "base": base}

    server.answer = lambda _: Said(200, [request(5, 1), request(6, 2)])
    assert [found.number for found in forge.find(head="flotilla/prod.app", base="main")] == [5]


def test_the_merge_names_the_head_and_carries_the_message(forge: Forge, server: Scripted) -> None:
    side = {"label": "h", "sha": "a" * 40, "repo_id": 1}
    done = {
        "number": 7,
        "html_url": "u",
        "state": "closed",
        "merged": True,
        "merge_commit_sha": "c" * 40,
        "title": "t",
        "head": side,
        "base": side,
    }
    server.answer = lambda asked: Said(200, b"" if asked.method == "POST" else done)
    assert forge.merge(7, head="a" * 40, title="T", message="M\n\nFlotilla-Promotion: 7") == "c" * 40
    assert server.asked[0].body == {
        "Do": "merge",
        "head_commit_id": "a" * 40,
        "MergeTitleField": "T",
        "MergeMessageField": "M\n\nFlotilla-Promotion: 7",
        "delete_branch_after_merge": False,
    }


def test_labels_are_found_by_name_and_made_when_they_are_missing(forge: Forge, server: Scripted) -> None:
    def answer(asked: Asked) -> Said:
        if asked.method == "GET":
            return Said(200, [{"id": 9, "name": "flotilla"}, {"id": 4, "name": "flotilla"}])
        return Said(201, {"id": 11, "name": "prod"} if asked.path.endswith("/repos/acme/fleet/labels") else {})

    server.answer = answer
    forge.add_labels(3, ["flotilla", "prod"])
    assert server.asked[-1].body == {"labels": [4, 11]}


def test_a_body_gets_its_mark_when_it_is_opened(forge: Forge, server: Scripted) -> None:
    server.answer = lambda _: Said(409, {"message": "pull request already exists"})
    refused(lambda: forge.create(Draft("7", "h", "main", "T", "Body")))
    assert server.asked[0].body == {
        "head": "h", "base": "main", "title": "T", "body": "<!-- flotilla:7 -->\nBody", "labels": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://github.com/acme/fleet.git", "github"),
        ("https://gitlab.com/a/b/c", "gitlab"),
        ("https://acme@dev.azure.com/acme/Pay Ops/_git/fleet", "azure"),
        ("https://acme.visualstudio.com/x/_git/y", "azure"),
        ("https://bitbucket.org/a/b", "bitbucket-cloud"),
        ("https://codeberg.org/a/b", "gitea"),
    ],
)
def test_well_known_hosts_are_recognised_without_a_call(url: str, kind: str, session: Session) -> None:
    found = recognise(url, session)
    assert found is not None
    assert found.kind == kind


def test_an_unknown_server_is_asked_and_may_be_nothing(session: Session, server: Scripted) -> None:
    assert recognise(f"{server.url}/acme/fleet", session) is None
    assert all(asked.authorization == "" for asked in server.asked)
    server.answer = lambda asked: (
        Said(200, {"version": "12.0.1+gitea-1.22"}) if asked.path == "/sub/api/v1/version" else Said(404)
    )
    found = recognise(f"{server.url}/sub/acme/fleet.git", session)
    assert found is not None
    assert (found.kind, found.root, found.owner, found.name) == ("gitea", f"{server.url}/sub", "acme", "fleet")
    server.answer = lambda asked: Said(401, b"{}", {"X-Gitlab-Meta": "{}"} if "/api/v4/" in asked.path else {})
    gitlab = recognise(f"{server.url}/acme/fleet.git", session)
    assert gitlab is not None
    assert gitlab.kind == "gitlab"
    assert recognise("git@host:a/b", session) is None


def test_every_code_that_is_raised_has_its_texts() -> None:
    error = ForgeError("forge.rate-limited", host="h", seconds=3)
    assert "h limits the rate" in error.problem
    assert "3 seconds" in error.remedy
