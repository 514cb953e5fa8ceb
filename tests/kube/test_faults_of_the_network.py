"""Faults below HTTP: the exact text of each, the kind of error, what the connection becomes, how little is tried."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from clusters_app.kube.connection import Connection
from clusters_app.kube.errors import KubeError, KubePermanent, KubeTransient
from clusters_app.kube.observe import Observation
from tests.kube.conftest import Read
from tests.testbed.fake_api import FakeApi, FakeCluster
from tests.testbed.fake_api.authority import Authority, authority
from tests.testbed.fake_api.network import black_hole, refusing, silent, speaking

type AtPort = Callable[[int], Connection]


def fault_of(seen: Observation) -> KubeError:
    """The fault, having checked that nothing is claimed to be known."""
    assert seen.fault is not None
    assert seen.leases is None
    assert seen.controllers is None
    assert {found.state for found in seen.lists.values()} == {"failed"}
    assert all(found.items is None and found.error == seen.fault for found in seen.lists.values())
    return seen.fault


async def test_a_refused_connection(read: Read, at_port: AtPort) -> None:
    with refusing() as port:
        seen = await read(at_port(port))
    fault = fault_of(seen)
    assert str(fault) == f"127.0.0.1:{port} refuses connections."
    assert isinstance(fault, KubeTransient)
    assert seen.connection == "Unreachable"


async def test_a_name_that_does_not_exist(read: Read, connection: Connection) -> None:
    seen = await read(replace(connection, server="https://no-such-cluster.invalid:6443"))
    assert str(fault_of(seen)) == "The name no-such-cluster.invalid:6443 cannot be resolved."
    assert isinstance(seen.fault, KubeTransient)


async def test_a_black_hole_is_told_from_a_tls_stall(read: Read, at_port: AtPort) -> None:
    with black_hole() as port:
        seen = await read(at_port(port))
    assert str(fault_of(seen)) == f"127.0.0.1:{port} does not answer: no connection within 0.6 s."
    with silent() as port:
        seen = await read(at_port(port))
    text = f"127.0.0.1:{port} accepts connections but does not finish the TLS handshake within 0.6 s."
    assert str(fault_of(seen)) == text
    assert isinstance(seen.fault, KubeTransient)
    assert seen.connection == "Unreachable"


async def test_a_port_without_tls(read: Read, at_port: AtPort) -> None:
    with speaking(b"220 mail.lab ESMTP\r\n") as port:
        seen = await read(at_port(port))
    assert fault_of(seen).code == "kube.tls-failed"
    assert str(seen.fault).startswith(f"No TLS connection to 127.0.0.1:{port}: ")


async def test_an_expired_certificate(read: Read) -> None:
    cluster = FakeCluster("c-1")
    with FakeApi([cluster], tls=authority().server_context(days=(-30, -1))) as api:
        seen = await read(api.connection(cluster))
        assert str(fault_of(seen)) == f"The certificate of 127.0.0.1:{api.port} has expired."
    assert isinstance(seen.fault, KubePermanent)
    assert "certs renew" in seen.fault.remedy
    assert seen.connection == "Unreachable"


async def test_a_certificate_that_is_not_valid_yet(read: Read) -> None:
    cluster = FakeCluster("c-1")
    with FakeApi([cluster], tls=authority().server_context(days=(1, 30))) as api:
        seen = await read(api.connection(cluster))
        assert str(fault_of(seen)) == f"The certificate of 127.0.0.1:{api.port} is not valid yet."


async def test_a_changed_authority(read: Read) -> None:
    cluster = FakeCluster("c-1")
    with FakeApi([cluster], tls=Authority("somebody-else").server_context()) as api:
        seen = await read(api.connection(cluster))
        place = f"127.0.0.1:{api.port}"
    text = f"The certificate of {place} is not signed by the certificate authority that was registered."
    assert str(fault_of(seen)) == text
    assert isinstance(seen.fault, KubePermanent)
    assert not cluster.requests, "no credential may go to a server that is not trusted"


async def test_a_certificate_for_another_name(read: Read) -> None:
    cluster = FakeCluster("c-1")
    with FakeApi([cluster], tls=authority().server_context(name="10.0.0.1")) as api:
        seen = await read(api.connection(cluster))
        place = f"127.0.0.1:{api.port}"
    assert str(fault_of(seen)).startswith(
        f"The certificate of {place} is made out to another name: IP address mismatch"
    )
    assert "tls-server-name" in fault_of(seen).remedy
    assert not cluster.requests


async def test_the_name_may_be_given_by_tls_server_name(read: Read) -> None:
    cluster = FakeCluster("c-1")
    with FakeApi([cluster], tls=authority().server_context(name="kubernetes.default.svc")) as api:
        connection = replace(api.connection(cluster), tls_server_name="kubernetes.default.svc")
        seen = await read(connection)
    assert seen.fault is None


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        ("https://169.254.169.254", "169.254.169.254 is cloud metadata"),
        ("https://10.1.2.3:6443", "10.1.2.3 is private"),
        ("https://[::ffff:10.1.2.3]:6443", "::ffff:10.1.2.3 is private"),
    ],
)
async def test_an_address_that_is_not_allowed_is_never_called(
    read: Read, connection: Connection, server: str, reason: str
) -> None:
    seen = await read(replace(connection, server=server))
    assert fault_of(seen).code == "kube.address-refused"
    assert reason in str(seen.fault)
    assert isinstance(seen.fault, KubePermanent)


async def test_one_attempt_a_round_and_no_more(read: Read, at_port: AtPort) -> None:
    """A cluster that cannot be reached takes one slot for one time-out, whatever the number of kinds."""
    with black_hole() as port:
        seen = await read(at_port(port))
    assert (seen.received_at - seen.started_at).total_seconds() < 1.5
