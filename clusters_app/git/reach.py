"""Whether git may go to a remote, and how: the same rules as for everything else that leaves."""

from contextlib import AbstractContextManager
from dataclasses import dataclass

from clusters_app.egress import EgressError, EgressTransient, Policy, resolve_checked

from .credentials import Address, Remote, parse_address
from .environment import Addresses, Environment, remote_environment
from .errors import GitPermanent, GitTransient


@dataclass(frozen=True, slots=True)
class Route:
    """A remote whose URL was found harmless, and the policy that decides whether its host may be reached."""

    remote: Remote
    address: Address
    policy: Policy

    @classmethod
    def to(cls, remote: Remote, policy: Policy, *, allow_file: bool) -> "Route":
        """GitPermanent `git.url` for everything that is not https or ssh, or an allowed file or plain http."""
        address = parse_address(remote.url)
        if address.scheme == "file" and not allow_file:
            raise GitPermanent("git.url", reason="only https:// and ssh:// are read")
        return cls(remote, address, policy)

    def open(self, *, slow_seconds: int) -> AbstractContextManager[Environment]:
        """The environment for one git program, with the host looked up and checked now."""
        addresses = checked_addresses(self.address, self.policy)
        return remote_environment(self.remote, self.address, addresses, slow_seconds=slow_seconds)


def checked_addresses(address: Address, policy: Policy) -> Addresses:
    """The addresses that git may connect to; empty for a file. One look-up, so that nothing can change its answer.

    Raises GitPermanent `git.address-refused`, GitTransient `git.unreachable`.
    """
    if address.scheme == "file":
        return ()
    if address.scheme == "http":
        _allow_plain(address, policy)
    try:
        addresses = resolve_checked(address.host, address.port, policy)
    except EgressTransient as error:
        raise GitTransient("git.unreachable", host=address.host, said=str(error)) from error
    except EgressError as error:
        raise GitPermanent("git.address-refused", host=address.host, reason=str(error)) from error
    if address.scheme == "http" and not all(found.is_loopback for found in addresses):
        raise GitPermanent("git.address-refused", host=address.host, reason="plain http goes to this machine only")
    return addresses


def _allow_plain(address: Address, policy: Policy) -> None:
    """Without TLS a token travels readable, so only where an operator names the host."""
    if address.host not in policy.allow_http_hosts:
        raise GitPermanent("git.url", reason="only https:// and ssh:// are read")
