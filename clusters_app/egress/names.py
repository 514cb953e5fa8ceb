"""Looking a name up once, and judging every address that it leads to."""

import ipaddress
import re
import socket
import threading

from clusters_app.egress.addresses import Address, Policy, refusal
from clusters_app.egress.errors import EgressPermanent, EgressTransient, timed_out

_HOST_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,252}")


def resolve_checked(host: str, port: int, policy: Policy, *, deadline_seconds: float = 10.0) -> tuple[Address, ...]:
    """The addresses of a host, looked up once, each of them allowed. Connect to these; do not look the name up again.

    `host` is a name or an address without brackets. One refused address refuses the host: a name that leads inside and
    outside is an attack or a mistake. Blocks for at most `deadline_seconds`. Raises `EgressPermanent` (bad name,
    address refused) or `EgressTransient` (no such name, too late).
    """
    addresses = _look_up(host, port, deadline_seconds)
    for address in addresses:
        name = refusal(address, policy)
        if name is not None:
            raise _refused(host, address, name)
    return addresses


def _refused(host: str, address: Address, name: str) -> EgressPermanent:
    leads = f"{host} is an address of the kind" if host == str(address) else f"{host} leads to {address}:"
    return EgressPermanent(
        "egress.address-refused",
        host,
        f"{leads} {name}, and no connection is made there: "
        f"check the name, or list the network in EGRESS_ALLOW_NETWORKS when this is meant",
    )


def is_host(host: str) -> bool:
    """Whether this can be the name or the address of a host. Zones (`fe80::1%eth0`) and IDNs in Unicode cannot."""
    return "%" not in host and (literal(host) is not None or _HOST_NAME.fullmatch(host) is not None)


def literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _look_up(host: str, port: int, seconds: float) -> tuple[Address, ...]:
    if not is_host(host):
        raise EgressPermanent(
            "egress.bad-url",
            "",
            "this is no host name: write letters, digits, dots and hyphens (an IDN in its xn-- form)",
        )
    address = literal(host)
    if address is not None:
        return (address,)
    question = _Question(host, port)
    question.join(seconds)
    if question.is_alive():
        raise timed_out(host, "looking up the name", seconds)
    if not question.addresses:
        raise EgressTransient(
            "egress.name-not-found", host, f"no address was found for {host}: check the spelling and the name server"
        ) from question.error
    return question.addresses


class _Question(threading.Thread):
    """One look-up. The system's resolver cannot be interrupted; a thread can be left behind."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(name="look-up", daemon=True)
        self._host = host
        self._port = port
        self.addresses: tuple[Address, ...] = ()
        self.error: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            found = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
            self.addresses = tuple(dict.fromkeys(ipaddress.ip_address(entry[4][0]) for entry in found))
        except (OSError, ValueError) as error:  # an overlong label is a UnicodeError, which is a ValueError
            self.error = error
