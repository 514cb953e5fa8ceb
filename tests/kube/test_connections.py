"""Addresses, TLS and credentials of a registration, and the connections that are kept for it."""

import socket
import ssl
import sys
from dataclasses import replace
from datetime import UTC, datetime
from ipaddress import ip_network
from pathlib import Path

import pytest

from clusters_app.egress import Policy
from clusters_app.kube import loop
from clusters_app.kube.client import Client, Clients, Limits
from clusters_app.kube.connection import Connection, InvalidServer, normalise_server, tls_context
from clusters_app.kube.errors import KubeError, KubePermanent
from clusters_app.kube.observe import observe
from clusters_app.secret import Secret
from tests.kube.conftest import LOOPBACK, QUICK
from tests.testbed.fake_api import FakeApi, FakeCluster, faults
from tests.testbed.fake_api.authority import Authority, authority


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://hub.lab/k8s/clusters/c-7qx2v", "https://hub.lab/k8s/clusters/c-7qx2v"),
        ("https://hub.lab/k8s/clusters/c-9aa1b/", "https://hub.lab/k8s/clusters/c-9aa1b"),
        ("https://HUB.Lab:443/", "https://hub.lab"),
        ("https://[2001:DB8::10]:6443", "https://[2001:db8::10]:6443"),
        ("  https://10.0.0.1:6443\n", "https://10.0.0.1:6443"),
        ("https://hub.lab/K8s/Clusters/C-1", "https://hub.lab/K8s/Clusters/C-1"),
        ("http://127.0.0.1:8080/sim/a", "http://127.0.0.1:8080/sim/a"),
    ],
)
def test_a_server_has_one_spelling(given: str, kept: str) -> None:
    """C020: the path tells clusters behind one proxy apart; case of the host and a last slash tell nothing."""
    assert normalise_server(given) == kept
    assert normalise_server(kept) == kept


@pytest.mark.parametrize(
    "given",
    [
        "",
        "hub.lab:6443",
        "ftp://hub.lab",
        "file:///etc/passwd",
        "https://",
        "https://user:word@hub.lab",
        "https://hub.lab/?x=1",
        "https://hub.lab/#x",
        "https://hub.lab/a/../b",
        "https://hub.lab/a//b",
        "https://hub.lab:70000",
        "https://hub lab",
        "https://hub.lab/a b",
        "https://хаб.lab",
        "https://[fe80::1%25eth0]:6443",
        "https://hub.lab\r\nHost: evil.lab",
    ],
)
def test_what_is_no_server_is_refused(given: str) -> None:
    with pytest.raises(InvalidServer):
        normalise_server(given)


def test_identity_changes_with_everything_that_a_credential_is_bound_to() -> None:
    base = Connection("https://hub.lab/a", ca_pem="one", token=Secret("t1"))
    assert base.identity == replace(base, token=Secret("t2"), server="https://HUB.lab/a/").identity
    others = [
        replace(base, server="https://hub.lab/b"),
        replace(base, ca_pem="two"),
        replace(base, ca_pem=None),
        replace(base, tls_server_name="x.lab"),
    ]
    assert len({base.identity, *(other.identity for other in others)}) == 5


def test_an_address_of_version_6_keeps_its_brackets() -> None:
    connection = Connection("https://[2001:db8::10]:6443")
    assert (connection.host, connection.port, connection.place) == ("2001:db8::10", 6443, "[2001:db8::10]:6443")


def test_secrets_do_not_show() -> None:
    shown = repr(Connection("https://hub.lab", token=Secret("very-secret-token"), client_key=Secret("very-secret-key")))
    assert "very-secret" not in shown


async def test_requests_go_below_the_servers_path(api: FakeApi, clients: Clients) -> None:
    one, two = api.add(FakeCluster("c-7qx2v")), api.add(FakeCluster("c-9aa1b"))
    first = await clients.client("one", api.connection(one))
    second = await clients.client("two", replace(api.connection(two), server=api.server(two) + "/"))
    now = datetime.now(UTC)
    assert (await observe(first, now=now)).cluster_uid == one.uid
    assert (await observe(second, now=now)).cluster_uid == two.uid
    assert "/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations" in one.requests


async def test_two_registrations_of_one_address_share_no_connection(api: FakeApi, clients: Clients) -> None:
    cluster = api.add(FakeCluster("c-1"))
    for key in ("mine", "theirs"):
        client = await clients.client(key, api.connection(cluster))
        await client.get("/version", what="its version")
    assert len(api.peers) == 2


async def test_a_new_credential_makes_a_new_client(api: FakeApi, clients: Clients) -> None:
    cluster = api.add(FakeCluster("c-1"))
    old = await clients.client("c-1", api.connection(cluster))
    assert await clients.client("c-1", api.connection(cluster)) is old
    cluster.token = "rotated-token-0123"
    new = await clients.client("c-1", api.connection(cluster))
    assert new is not old
    assert (await observe(new, now=datetime.now(UTC))).fault is None


def _with_certificate(connection: Connection, signed_by: Authority) -> Connection:
    certificate, key = signed_by.issue(name="reader.lab")
    return replace(connection, token=None, client_certificate_pem=certificate, client_key=Secret(key))


async def test_a_client_certificate_is_shown_and_its_key_never_touches_the_disk(
    api: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = api.add(FakeCluster("c-1"))
    opened: list[str] = []
    is_watched = True
    sys.addaudithook(lambda event, args: opened.append(str(args[0])) if is_watched and event == "open" else None)
    async with Client(_with_certificate(api.connection(cluster), authority()), LOOPBACK, QUICK) as client:
        is_watched = False
        await client.get("/version", what="its version")
    assert [path for path in opened if not path.startswith("/proc/self/fd/")] == []
    assert not _memory_files(), "it is closed"


def _memory_files() -> list[Path]:
    return [name for name in Path("/proc/self/fd").iterdir() if "memfd:client" in _target(name)]


def _target(descriptor: Path) -> str:
    try:
        return str(descriptor.readlink())
    except OSError:
        return ""


async def test_a_certificate_and_a_key_that_do_not_belong_together_are_refused(connection: Connection) -> None:
    certificate, _ = authority().issue(name="reader.lab")
    _, other_key = authority().issue(name="other.lab")
    wrong = replace(connection, token=None, client_certificate_pem=certificate, client_key=Secret(other_key))
    with pytest.raises(KubePermanent, match="cannot be used") as caught:
        tls_context(wrong)
    assert "PRIVATE" not in str(caught.value)


def test_an_authority_that_is_no_certificate_is_refused(connection: Connection) -> None:
    with pytest.raises(KubePermanent, match="certificate authority") as caught:
        tls_context(replace(connection, ca_pem="hello"))
    assert caught.value.code == "kube.authority-unusable"


def test_certificates_are_always_verified_and_old_authorities_are_fine(connection: Connection) -> None:
    context = tls_context(connection)
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert not context.verify_flags & ssl.VERIFY_X509_STRICT


async def test_the_environment_has_no_say(
    api: FakeApi, cluster: FakeCluster, clients: Clients, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No proxy variable, no netrc, no kubeconfig of the machine."""
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login eve password eve\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nowhere"))
    client = await clients.client("c-1", api.connection(cluster))
    assert (await observe(client, now=datetime.now(UTC))).fault is None


async def test_a_name_that_leads_somewhere_forbidden_is_refused(
    connection: Connection, clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the name resolves to is checked, and one bad address refuses the name."""

    def answer(*_: object, **__: object) -> list[tuple[object, ...]]:
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in ("127.0.0.1", "169.254.169.254")
        ]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    client = await clients.client("c-1", replace(connection, server="https://rebind.lab"))
    with pytest.raises(KubePermanent) as caught:
        await client.get("/version", what="its version")
    assert caught.value.code == "kube.address-refused"
    assert "cloud metadata" in str(caught.value)


async def test_http_is_for_named_hosts_on_loopback_alone(connection: Connection) -> None:
    plain = replace(connection, server="http://127.0.0.1:1")
    with pytest.raises(KubePermanent, match="without TLS"):
        Client(plain, LOOPBACK, QUICK)
    wide = Policy(allow_networks=(ip_network("10.0.0.0/8"),), allow_http_hosts=frozenset({"10.0.0.1"}))
    async with Client(replace(plain, server="http://10.0.0.1"), wide, QUICK) as client:
        with pytest.raises(KubePermanent, match="http is for loopback alone"):
            await client.get("/version", what="its version")


async def test_compression_is_asked_for_and_understood(api: FakeApi, clients: Clients) -> None:
    cluster = api.add(FakeCluster("c-1").fill(count=300))
    zipped = await clients.client("zipped", api.connection(cluster))
    path = "/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations"
    answer = await zipped.get(path, what="Kustomization")
    assert answer.headers["Content-Encoding"] == "gzip"
    plain = Clients(LOOPBACK, Limits(is_compressed=False))
    other = await (await plain.client("plain", api.connection(cluster))).get(path, what="Kustomization")
    assert "Content-Encoding" not in other.headers
    assert answer.body == other.body
    await plain.close()


async def test_damaged_compression_is_said(client: Client, cluster: FakeCluster) -> None:
    with cluster.playing(faults.damaged_gzip()), pytest.raises(KubeError, match="damaged gzip"):
        await client.get("/version", what="its version")


def test_the_loop_outlives_its_tasks(api: FakeApi) -> None:
    """Two tasks, one connection: what a worker process does between two messages."""
    cluster = api.add(FakeCluster("c-1"))
    clients = Clients(LOOPBACK, replace(QUICK, connections=1))

    async def task() -> str | None:
        client = await clients.client("c-1", api.connection(cluster))
        return (await observe(client, now=datetime.now(UTC))).cluster_uid

    assert loop.run(task(), timeout_seconds=10) == cluster.uid
    assert loop.run(task(), timeout_seconds=10) == cluster.uid
    assert len(api.peers) == 1
    loop.run(clients.close(), timeout_seconds=10)


def test_a_task_that_takes_too_long_is_ended(api: FakeApi, cluster: FakeCluster) -> None:
    clients = Clients(LOOPBACK, QUICK)

    async def task() -> None:
        client = await clients.client("c-1", api.connection(cluster))
        await client.get("/version", what="its version")

    with cluster.playing(faults.endless(b" ", 0.05)), pytest.raises(TimeoutError):
        loop.run(task(), timeout_seconds=0.3)
    loop.run(clients.close(), timeout_seconds=10)
