"""The table of addresses, the operator's allow-list, and names that change their mind."""

import ipaddress
import socket
import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusters_app.egress import EgressPermanent, EgressTransient, Policy, PolicyError, Session, resolve_checked
from clusters_app.egress.addresses import TABLE, refusal
from tests.doors.servers import Authority, answering, ok, read_request, serving

NOTHING = Policy()


def allowing(*networks: str) -> Policy:
    return Policy.from_settings({"EGRESS_ALLOW_NETWORKS": ",".join(networks)})


def is_refused(address: str, policy: Policy = NOTHING) -> bool:
    return refusal(ipaddress.ip_address(address), policy) is not None


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("0.0.0.0", "this network"),
        ("0.1.2.3", "this network"),
        ("10.0.0.1", "private"),
        ("172.31.255.255", "private"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "shared"),
        ("100.127.255.255", "shared"),
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("169.254.1.1", "link-local"),
        ("169.254.169.254", "metadata"),
        ("169.254.170.2", "metadata"),
        ("169.254.170.23", "metadata"),
        ("100.100.100.200", "metadata"),
        ("168.63.129.16", "metadata"),
        ("192.0.0.192", "metadata"),
        ("192.0.0.1", "protocol"),
        ("192.0.2.1", "documentation"),
        ("198.51.100.7", "documentation"),
        ("203.0.113.9", "documentation"),
        ("192.88.99.1", "6to4"),
        ("198.18.0.1", "benchmarking"),
        ("198.19.255.255", "benchmarking"),
        ("224.0.0.1", "multicast"),
        ("239.255.255.250", "multicast"),
        ("240.0.0.1", "reserved"),
        ("255.255.255.255", "broadcast"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("::7f00:1", "IPv4-compatible"),
        ("::ffff:0:127.0.0.1", "translated"),
        ("fe80::1", "link-local"),
        ("fe80::a9fe:a9fe", "metadata"),
        ("fec0::1", "site-local"),
        ("fc00::1", "unique local"),
        ("fd00::1", "unique local"),
        ("fd00:ec2::254", "metadata"),
        ("fd00:ec2::23", "metadata"),
        ("fd20:ce::254", "metadata"),
        ("ff02::1", "multicast"),
        ("2001::1", "Teredo"),
        ("2001:20::1", "ORCHID"),
        ("2001:2::1", "benchmarking"),
        ("2001:db8::1", "documentation"),
        ("3fff::1", "documentation"),
        ("2002:7f00:1::", "6to4"),
        ("2002:0808:0808::1", "6to4"),
        ("64:ff9b:1::1", "local NAT64"),
        ("100::1", "discard"),
        ("5f00::1", "segment routing"),
        ("4000::1", "outside"),
        ("1::1", "outside"),
        # The IPv4 address inside decides.
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:10.0.0.1", "private"),
        ("::ffff:169.254.169.254", "metadata"),
        ("64:ff9b::127.0.0.1", "loopback"),
        ("64:ff9b::a9fe:a9fe", "metadata"),
        ("64:ff9b::10.1.2.3", "private"),
    ],
)
def test_special_addresses_are_refused_by_name(address: str, name: str) -> None:
    assert name in (refusal(ipaddress.ip_address(address), NOTHING) or "")


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "9.255.255.255",
        "11.0.0.0",
        "172.15.0.1",
        "172.32.0.1",
        "100.63.255.255",
        "100.128.0.0",
        "223.255.255.255",
        "192.0.1.1",
        "2606:4700::1111",
        "2a00:1450::8a",
        "::ffff:1.1.1.1",
        "64:ff9b::1.1.1.1",
        "2003::1",
        "2001:200::1",
    ],
)
def test_public_addresses_are_reached(address: str) -> None:
    assert not is_refused(address)


@given(st.ip_addresses())
def test_whatever_python_calls_special_is_refused(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    carried = getattr(address, "ipv4_mapped", None) or address
    special = carried.is_loopback or carried.is_link_local or carried.is_multicast or carried.is_unspecified
    if special or carried.is_reserved:
        well_known_nat64 = address in ipaddress.ip_network("64:ff9b::/96")
        assert well_known_nat64 or refusal(address, NOTHING) is not None


@given(st.sampled_from(TABLE), st.data())
def test_a_wide_entry_opens_private_ranges_and_nothing_else(row: object, data: st.DataObject) -> None:
    network = row.network  # type: ignore[attr-defined]
    address = data.draw(st.ip_addresses(network=str(network)))
    everything = Policy(allow_networks=(ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0")))
    private = {"private", "shared address space (carrier NAT)", "unique local", "local NAT64"}
    assert (refusal(address, everything) is None) == (refusal(address, NOTHING) in private | {None})


@pytest.mark.parametrize(
    ("policy", "address", "refused"),
    [
        (allowing("10.0.0.0/8"), "10.1.2.3", False),
        (allowing("10.0.0.0/8"), "11.1.2.3", False),
        (allowing("10.0.0.0/16"), "10.1.2.3", True),
        (allowing("127.0.0.0/8"), "127.0.0.1", False),
        (allowing("127.0.0.1/32"), "127.0.0.2", True),
        (allowing("127.0.0.1"), "127.0.0.1", False),
        (allowing("127.0.0.0/8"), "::ffff:127.0.0.1", False),
        (allowing("127.0.0.0/8"), "::1", True),
        (allowing("::1"), "::1", False),
        (allowing("169.254.0.0/16"), "169.254.9.9", False),
        (allowing("169.254.0.0/16"), "169.254.169.254", True),
        (allowing("169.254.169.254/32"), "169.254.169.254", False),
        (allowing("fc00::/7"), "fd00:ec2::254", True),
        (allowing("fc00::/7"), "fd00:ec2::253", False),
        (allowing("100.64.0.0/10"), "100.100.100.200", True),
    ],
)
def test_the_allow_list_opens_what_it_names(policy: Policy, address: str, refused: bool) -> None:
    assert is_refused(address, policy) is refused


@pytest.mark.parametrize("text", ["10.0.0.0/99", "10.0.0.1/8", "lab", "10.0.0.0/8;127.0.0.0/8", "-"])
def test_a_setting_that_is_no_network_is_named(text: str) -> None:
    with pytest.raises(PolicyError, match="EGRESS_ALLOW_NETWORKS"):
        allowing(text)


def test_an_empty_setting_allows_nothing() -> None:
    assert Policy.from_settings({"EGRESS_ALLOW_NETWORKS": " , ", "EGRESS_ALLOW_HTTP_HOSTS": ""}) == Policy()


# Names


def answers(monkeypatch: pytest.MonkeyPatch, *rounds: list[str]) -> list[str]:
    """The resolver gives these addresses in turn, the last for ever; the returned list records the questions."""
    asked: list[str] = []

    def look_up(host: str, port: int, **_: object) -> list[object]:
        asked.append(host)
        addresses = rounds[min(len(asked), len(rounds)) - 1]
        return [(socket.AF_INET6 if ":" in one else socket.AF_INET, 1, 6, "", (one, port)) for one in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


def test_one_bad_address_refuses_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, ["1.1.1.1", "169.254.169.254"])
    with pytest.raises(EgressPermanent, match=r"forge\.lab leads to 169\.254\.169\.254: cloud metadata") as caught:
        resolve_checked("forge.lab", 443, NOTHING)
    assert caught.value.code == "egress.address-refused"
    assert "EGRESS_ALLOW_NETWORKS" in caught.value.message


def test_all_addresses_are_given_in_order_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, ["2606:4700::1111", "1.1.1.1", "1.1.1.1"])
    found = resolve_checked("forge.lab", 443, NOTHING)
    assert [str(address) for address in found] == ["2606:4700::1111", "1.1.1.1"]


@pytest.mark.parametrize(
    "host", ["127.1", "0x7f.1", "2130706433", "0177.0.0.1", "localhost", "0", "127.0.0.1", "::1", "::ffff:7f00:1"]
)
def test_every_spelling_of_loopback_is_refused(host: str) -> None:
    with pytest.raises((EgressPermanent, EgressTransient)) as caught:
        resolve_checked(host, 443, NOTHING)
    assert caught.value.code in {"egress.address-refused", "egress.name-not-found"}


@pytest.mark.parametrize("host", ["", "a b", "a/b", "a:b", "[::1]", "fe80::1%eth0", "a\0b", "-a", "ф.lab", "a" * 300])
def test_what_is_no_host_is_not_looked_up(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answers(monkeypatch, ["1.1.1.1"])
    with pytest.raises(EgressPermanent) as caught:
        resolve_checked(host, 443, NOTHING)
    assert caught.value.code == "egress.bad-url"
    assert asked == []


def test_a_name_is_looked_up_once_and_the_judged_address_is_the_one_that_is_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DNS rebinding: the second answer would lead elsewhere, and nobody asks for it."""
    authority = Authority()
    seen: list[bytes] = []

    def handler(connection: socket.socket) -> None:
        seen.append(read_request(connection))
        connection.sendall(ok())

    context = authority.server_context(name="forge.lab")
    names: list[str | None] = []
    context.sni_callback = lambda _, name, __: names.append(name)
    asked = answers(monkeypatch, ["127.0.0.1"], ["169.254.169.254"])
    with serving(handler, context) as server, Session(allowing("127.0.0.1"), ca_pem=authority.pem) as session:
        session.request("GET", server.url(host="forge.lab"))
    assert asked == ["forge.lab"]
    assert names == ["forge.lab"]
    assert f"Host: forge.lab:{server.port}".encode() in seen[0]


def test_a_new_connection_is_judged_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    authority = Authority()
    context: ssl.SSLContext = authority.server_context(name="forge.lab")
    closing = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    answers(monkeypatch, ["127.0.0.1"], ["127.0.0.1", "10.0.0.1"])
    with (
        serving(answering(closing), context) as server,
        Session(allowing("127.0.0.1"), ca_pem=authority.pem) as session,
    ):
        session.request("GET", server.url(host="forge.lab"))
        with pytest.raises(EgressPermanent) as caught:
            session.request("GET", server.url(host="forge.lab"))
    assert caught.value.code == "egress.address-refused"


def test_the_second_address_is_tried_when_the_first_is_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    authority = Authority()
    answers(monkeypatch, ["127.0.0.9", "127.0.0.1"])
    context = authority.server_context(name="forge.lab")
    with (
        serving(answering(ok(b"here")), context) as server,
        Session(allowing("127.0.0.0/8"), ca_pem=authority.pem) as session,
    ):
        assert session.request("GET", server.url(host="forge.lab")).body == b"here"


def test_without_an_allow_list_the_session_does_not_even_connect() -> None:
    with serving(answering(ok())) as server, Session(NOTHING) as session:
        with pytest.raises(EgressPermanent) as caught:
            session.request("GET", server.url())
        assert server.connections == 0
    assert caught.value.code == "egress.address-refused"
