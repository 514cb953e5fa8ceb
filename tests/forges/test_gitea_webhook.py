"""A webhook says what to read again, and only to whoever holds the secret."""

import hashlib
import hmac
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusters_app.forges.gitea_webhook import Hint, is_signed, read_hint
from clusters_app.secret import Secret

SECRET = Secret("a-secret-of-a-hook")
PUSH = json.dumps({"ref": "refs/heads/main", "repository": {"clone_url": "https://git.lab/a/b.git"}}).encode()


def signature(body: bytes, secret: str = "a-secret-of-a-hook") -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def test_the_right_signature_of_the_raw_body_is_taken_under_any_spelling_of_the_header() -> None:
    for name in ("X-Gitea-Signature", "x-gitea-signature", "X-GITEA-SIGNATURE"):
        assert is_signed(SECRET, {name: signature(PUSH)}, PUSH)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Gitea-Signature": ""},
        {"X-Gitea-Signature": signature(PUSH, "another")},
        {"X-Gitea-Signature": signature(PUSH + b" ")},
        {"X-Gitea-Signature": f"sha256={signature(PUSH)}"},
        {"X-Gitea-Signature": "ы"},
        {"X-Hub-Signature-256": f"sha256={signature(PUSH)}", "X-Gogs-Signature": signature(PUSH)},
    ],
)
def test_anything_else_is_not(headers: dict[str, str]) -> None:
    assert not is_signed(SECRET, headers, PUSH)


def test_a_push_names_its_branch_and_a_pull_request_its_number() -> None:
    headers = {"X-Gitea-Delivery": "f6266f16-1bf3-46a5-9ea4-602e06ead473"}
    assert read_hint(headers, PUSH) == Hint(headers["X-Gitea-Delivery"], "https://git.lab/a/b.git", branch="main")
    event = {"action": "closed", "number": 7, "pull_request": {"number": 7}, "repository": {"clone_url": "u"}}
    assert read_hint({}, json.dumps(event).encode()) == Hint("", "u", number=7)
    tag = {"ref": "refs/tags/v1", "repository": {"clone_url": "u"}}
    assert read_hint({}, json.dumps(tag).encode()) == Hint("", "u")


@given(st.binary())
def test_any_other_body_is_unreadable_and_nothing_worse(body: bytes) -> None:
    assert read_hint({}, body) is None
