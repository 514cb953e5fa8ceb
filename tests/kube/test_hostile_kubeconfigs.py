"""Two hundred hostile kubeconfigs under an audit hook: no process, no file, no connection, no crash, no localhost."""

import base64
import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import yaml

from clusters_app.kube.connection import Connection
from clusters_app.kube.kubeconfig import ContextNotChosen, KubeconfigRefused, parse_kubeconfig

WATCHED = (
    "open",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "os.listdir",
    "os.scandir",
)
WATCHED_FAMILIES = (
    "socket.",
    "subprocess.",
    "pty.",
    "ctypes.",
    "urllib.",
    "http.client.",
    "shutil.",
    "tempfile.",
    "import",
)

#: Fields with which a kubeconfig makes a client run, read or call something; each stands where clients look for it.
USER_BAIT: dict[str, Any] = {
    "exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/sh", "args": ["-c", "id"]},
    "Exec": {"command": "/bin/sh"},
    "auth-provider": {"name": "gcp", "config": {"cmd-path": "/bin/sh", "cmd-args": "-c id"}},
    "authProvider": {"name": "oidc", "config": {"idp-issuer-url": "https://evil.lab"}},
    "tokenFile": "/etc/passwd",
    "token-file": "/etc/passwd",
    "client-certificate": "/etc/passwd",
    "client-key": "/root/.ssh/id_rsa",
    "username": "admin",
    "password": "admin",
    "as": "system:admin",
    "impersonate": "system:admin",
    "as-user-extra": {"scopes": ["*"]},
    "client-key-data": base64.b64encode(b"/etc/passwd").decode(),
}
CLUSTER_BAIT: dict[str, Any] = {
    "certificate-authority": "/etc/passwd",
    "proxy-url": "http://evil.lab:3128",
    "insecure-skip-tls-verify": True,
    "insecure-skip-tls-verify ": True,
    "server": "file:///etc/passwd",
    "tls-server-name": ["a"],
    "certificate-authority-data": base64.b64encode(b"/etc/passwd").decode(),
}
SERVERS = (
    "http://prod.lab", "unix:///var/run/docker.sock", "gopher://prod.lab", "//prod.lab", "https://", "https://a@b@c",
    "https://prod.lab/../../x", "https://prod.lab?x=http://evil.lab", "https://prod.lab#@evil.lab", "https://prod.lab\\@evil.lab",
    "https://prod.lab:0x50", "https://prod.lab:99999", "https://\u202eprod.lab", "https://prod.lab\u0000.evil.lab", "",
)  # fmt: skip
PLACES = (
    "file:///etc/passwd",
    "/etc/passwd",
    "~/.kube/config",
    "$HOME/.ssh/id_rsa",
    "|sh -c id",
    "\\\\evil.lab\\share",
)
ODD_SECTIONS: tuple[Any, ...] = (
    None, 1, "text", {"a": 1}, [None], [[]], [{"name": ["a"]}], [{"name": "c"}, {"name": "c"}], [{"name": ""}],
)  # fmt: skip
RAW = (
    "!!python/object/apply:os.system ['id']",
    "a: !!python/name:os.system",
    "x: !include /etc/passwd",
    "a: &a [*a]",
    "&a {b: *a}",
    "apiVersion: v1\n---\nkind: Config",
    "a: " * 2000,
    "[" * 5000,
    "{" * 5000,
    "- " * 5000,
    "%YAML 9.9\n---\na: 1",
    "\x00\x01\x02",
    "kind: Config\nkind: Config",
    "clusters: {}\nusers: 1\ncontexts: null",
    "kind: Config\nclusters: [1, [2], null]",
    "current-context: [a]",
    "a" * 300_000,
    '"' + "\\u0000" * 100,
    "? {a: b}\n: c",
    "<<: {users: []}",
)


def _document(user: dict[str, Any], cluster: dict[str, Any], **top: Any) -> str:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": "https://prod.lab"} | cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    return yaml.safe_dump(document | top, allow_unicode=True)


def hostile_documents() -> Iterator[str]:
    token = {"token": "t-0123456789"}
    for (name, value), beside in itertools.product(USER_BAIT.items(), ({}, token)):
        yield _document({name: value} | beside, {})
    for (name, value), (other, bait) in itertools.product(CLUSTER_BAIT.items(), USER_BAIT.items()):
        yield _document(token | {other: bait}, {name: value})
    for name, value in CLUSTER_BAIT.items():
        yield _document(token, {name: value})
    for server in SERVERS:
        yield _document(token, {"server": server})
    for field, place in itertools.product(("client-certificate-data", "client-key-data", "tokenFile", "exec"), PLACES):
        yield _document({field: place}, {})
    for place in PLACES:
        yield _document(token, {"certificate-authority-data": place})
        yield _document(token, {}, **{"current-context": place})
        yield _document({"token": f"{place}\r\nHost: evil.lab"}, {})
        yield _document(token, {}, extends=place)
    for kind in ("users", "clusters", "contexts"):
        for odd in ODD_SECTIONS:
            yield _document(token, {}, **{kind: odd})
    yield from RAW


@contextmanager
def watching() -> Iterator[list[str]]:
    """What touches the outside of this process meanwhile. A hook can never be removed, only switched off."""
    seen: list[str] = []
    is_on = True

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if is_on and (event in WATCHED or event.startswith(WATCHED_FAMILIES)):
            seen.append(f"{event} {arguments!r}"[:200])

    sys.addaudithook(hook)
    try:
        yield seen
    finally:
        is_on = False


def test_there_are_two_hundred_of_them() -> None:
    assert len(set(hostile_documents())) >= 200


def test_none_of_them_does_anything() -> None:
    documents = list(hostile_documents())
    for text in documents[:3]:
        _outcome(text)
    with watching() as seen:
        outcomes = [_outcome(text) for text in documents]
    assert seen == []
    taken = [outcome for outcome in outcomes if isinstance(outcome, Connection)]
    assert len(taken) <= 4, "only what differs from an ordinary one in nothing that matters"
    assert all(connection.server == "https://prod.lab" for connection in taken)


def test_the_hook_sees_what_it_is_meant_to_see() -> None:
    with watching() as seen:
        with open("/proc/self/stat"):  # noqa: PTH123
            pass
        __import__("socket").socket().close()
    assert any(entry.startswith("open") for entry in seen)
    assert any(entry.startswith("socket") for entry in seen)


def _outcome(text: str) -> Connection | None:
    try:
        return parse_kubeconfig(text)
    except (KubeconfigRefused, ContextNotChosen):
        return None


@pytest.mark.parametrize("field", ["exec", "auth-provider"])
def test_a_plugin_is_answered_with_the_way_to_a_token(field: str) -> None:
    with pytest.raises(KubeconfigRefused, match="kubectl create token"):
        parse_kubeconfig(_document({field: USER_BAIT[field]}, {}))
