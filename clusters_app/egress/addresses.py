"""Which addresses the way out may connect to: one explicit table, and the operator's allow-list.

`ipaddress.is_private` and its relatives are not used: they let NAT64, 6to4, shared address space, mapped addresses and
the metadata services of some clouds through, and their answers change between Python versions.
"""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Self

type Address = IPv4Address | IPv6Address
type Network = IPv4Network | IPv6Network


class PolicyError(ValueError):
    """A setting of the policy cannot be read; the message names the item and the remedy."""


@dataclass(frozen=True)
class Range:
    """A row of the table. `private` rows open to any allowed network that holds the address, the others only to an
    allowed network that lies inside the row: `0.0.0.0/0` opens 10.1.2.3, and neither loopback nor metadata."""

    network: Network
    name: str
    private: bool = False


def _rows(private: bool, *rows: tuple[str, str]) -> tuple[Range, ...]:
    return tuple(Range(ipaddress.ip_network(network), name, private) for network, name in rows)


# Sources: the IANA special-purpose registries for IPv4 and IPv6; for metadata the documentation of each cloud.
TABLE: tuple[Range, ...] = (
    *_rows(
        True,
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared address space (carrier NAT)"),
        ("172.16.0.0/12", "private"),
        ("192.168.0.0/16", "private"),
        ("fc00::/7", "unique local"),
        ("64:ff9b:1::/48", "local NAT64"),
    ),
    *_rows(
        False,
        ("0.0.0.0/8", "this network"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("192.0.0.0/24", "protocol assignments"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "6to4 relay"),
        ("198.18.0.0/15", "benchmarking"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("255.255.255.255/32", "broadcast"),
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("::/96", "IPv4-compatible"),
        ("::ffff:0:0:0/96", "IPv4-translated"),
        ("100::/64", "discard"),
        ("2001::/23", "protocol assignments (Teredo, ORCHID, benchmarking)"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "6to4"),
        ("3fff::/20", "documentation"),
        ("5f00::/16", "segment routing"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    ),
    *_rows(
        False,
        ("169.254.169.254/32", "cloud metadata"),
        ("169.254.170.2/32", "cloud metadata (AWS task credentials)"),
        ("169.254.170.23/32", "cloud metadata (AWS pod identity)"),
        ("100.100.100.200/32", "cloud metadata (Alibaba)"),
        ("168.63.129.16/32", "cloud metadata (Azure)"),
        ("192.0.0.192/32", "cloud metadata (Oracle)"),
        ("fd00:ec2::254/128", "cloud metadata (AWS)"),
        ("fd00:ec2::23/128", "cloud metadata (AWS pod identity)"),
        ("fd20:ce::254/128", "cloud metadata (Google)"),
        ("fe80::a9fe:a9fe/128", "cloud metadata (OpenStack)"),
    ),
)

# Most specific first, so that a metadata address inside a private range is judged as metadata.
_BY_PRECISION = sorted(TABLE, key=lambda row: row.network.prefixlen, reverse=True)

_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_OUTSIDE = Range(ipaddress.ip_network("::/0"), "outside global unicast")

# An address of these ranges carries an IPv4 address in its last 32 bits, and it is that address which is reached.
_CARRIERS = (ipaddress.ip_network("::ffff:0:0/96"), ipaddress.ip_network("64:ff9b::/96"))


@dataclass(frozen=True)
class Policy:
    """What the operator allows beyond public addresses and https.

    `allow_networks`: private, loopback... networks that may be reached; see `Range` for how far an entry works.
    `allow_http_hosts`: hosts that may be spoken to without TLS while they resolve to loopback: the demo and tests.
    """

    allow_networks: tuple[Network, ...] = ()
    allow_http_hosts: frozenset[str] = frozenset()

    @classmethod
    def from_settings(cls, settings: Mapping[str, str]) -> Self:
        """From plain text: `EGRESS_ALLOW_NETWORKS` and `EGRESS_ALLOW_HTTP_HOSTS`, items apart by commas or spaces.

        Raises `PolicyError` for an item that is no network. Absent and empty mean nothing is allowed.
        """
        return cls(
            allow_networks=tuple(_network(item) for item in _items(settings.get("EGRESS_ALLOW_NETWORKS", ""))),
            allow_http_hosts=frozenset(item.lower() for item in _items(settings.get("EGRESS_ALLOW_HTTP_HOSTS", ""))),
        )


def _items(text: str) -> Iterable[str]:
    return text.replace(",", " ").split()


def _network(item: str) -> Network:
    try:
        return ipaddress.ip_network(item)
    except ValueError as error:
        raise PolicyError(
            f"EGRESS_ALLOW_NETWORKS: {item!r} is not a network; write it like 10.0.0.0/8, no bits behind the prefix"
        ) from error


def refusal(address: Address, policy: Policy) -> str | None:
    """The name of the range for which this address is refused, or None when it may be reached."""
    address = _reached(address)
    row = _row_of(address)
    if row is None or any(_opens(network, row, address) for network in policy.allow_networks):
        return None
    return row.name


def is_loopback(address: Address) -> bool:
    """127.0.0.0/8 and ::1, also when written as a mapped address."""
    return _reached(address).is_loopback


def _reached(address: Address) -> Address:
    """The address where packets end: the IPv4 one inside mapped and well-known NAT64 addresses."""
    if isinstance(address, IPv6Address) and any(address in carrier for carrier in _CARRIERS):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _row_of(address: Address) -> Range | None:
    for row in _BY_PRECISION:
        if address in row.network:
            return row
    return _OUTSIDE if address.version == 6 and address not in _GLOBAL_UNICAST else None


def _opens(network: Network, row: Range, address: Address) -> bool:
    if address not in network:
        return False
    return row.private or _is_inside(network, row.network)


def _is_inside(network: Network, other: Network) -> bool:
    if isinstance(network, IPv4Network):
        return isinstance(other, IPv4Network) and network.subnet_of(other)
    return isinstance(other, IPv6Network) and network.subnet_of(other)
