"""The whole environment that git gets: nothing of this machine's, and the credential where no argument shows it."""

import base64
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from tempfile import NamedTemporaryFile

from clusters_app.secret import Secret

from .credentials import Address, Remote, SshCredential, TokenCredential
from .errors import GitPermanent

Addresses = Sequence[IPv4Address | IPv6Address]

_FIXED = {
    "HOME": "/nonexistent",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "never",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_SSH_VARIANT": "ssh",
}

_CONFIG = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.askPass": "",
    "credential.helper": "",
    "fetch.recurseSubmodules": "false",
    "transfer.bundleURI": "false",
    "gc.autoDetach": "false",
    "pack.threads": "1",
    "pack.windowMemory": "64m",
    "core.bigFileThreshold": "16m",
    "http.followRedirects": "false",
    "http.sslVerify": "true",
    "http.proxy": "",
    "http.lowSpeedLimit": "1000",
}

SSH_OPTIONS = (
    "BatchMode=yes", "StrictHostKeyChecking=yes", "GlobalKnownHostsFile=/dev/null", "UpdateHostKeys=no",
    "IdentitiesOnly=yes", "IdentityAgent=none", "PreferredAuthentications=publickey", "ForwardAgent=no",
    "ClearAllForwardings=yes", "PermitLocalCommand=no", "ControlMaster=no", "ControlPath=none",
    "ConnectTimeout=15", "ServerAliveInterval=10", "ServerAliveCountMax=3",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Environment:
    """Variables for git. `secrets` are kept alive while git runs, so that what it says is masked of them."""

    variables: Mapping[str, str] = field(repr=False)
    secrets: tuple[Secret, ...] = ()


def local_environment() -> Environment:
    """For operations inside a mirror: no protocol is allowed at all."""
    return Environment(_FIXED | {"GIT_ALLOW_PROTOCOL": "none"} | _as_variables(_CONFIG))


@contextmanager
def remote_environment(
    remote: Remote, address: Address, addresses: Addresses, *, slow_seconds: int
) -> Iterator[Environment]:
    """For operations with a remote, which is reached at the checked `addresses` only.

    The certificate authority and a private key are files in memory that live as long as the context.
    """
    config = _CONFIG | {"http.lowSpeedTime": str(slow_seconds)}
    variables = _FIXED | {"GIT_ALLOW_PROTOCOL": address.scheme}
    with ExitStack() as files:
        if address.scheme in ("https", "http"):
            config |= _http_config(remote, address, addresses, files)
            config |= _authorization(remote, address)
        elif address.scheme == "ssh":
            variables["GIT_SSH_COMMAND"] = _ssh_command(remote, address, addresses, files)
        yield Environment(variables | _as_variables(config), _secrets(remote, config))


def _http_config(remote: Remote, address: Address, addresses: Addresses, files: ExitStack) -> dict[str, str]:
    targets = ",".join(f"[{found}]" if found.version == 6 else str(found) for found in addresses)
    # An address written in the URL needs no look-up, and one with colons would not parse here.
    config = {} if ":" in address.host else {"http.curloptResolve": f"{address.host}:{address.port}:{targets}"}
    if remote.ca_pem is not None:
        config["http.sslCAInfo"] = files.enter_context(_file_in_memory("ca", remote.ca_pem))
    return config


def _authorization(remote: Remote, address: Address) -> dict[str, str]:
    match remote.credential:
        case TokenCredential(token, username):
            pair = base64.b64encode(f"{username}:{token.reveal()}".encode()).decode()
            # Only for this origin: a server that names another one gets nothing.
            return {f"http.{address.origin}.extraHeader": f"Authorization: Basic {pair}"}
        case SshCredential():
            raise GitPermanent("git.credential", host=address.host, reason="an ssh key opens no https URL")
    return {}


def _secrets(remote: Remote, config: Mapping[str, str]) -> tuple[Secret, ...]:
    """The credential as it was given, and as it travels: servers repeat what they refuse."""
    headers = [value for key, value in config.items() if key.endswith(".extraHeader")]
    encoded = tuple(Secret(header.rpartition(" ")[2]) for header in headers)
    match remote.credential:
        case TokenCredential(token, _):
            return (token, *encoded)
        case SshCredential(private_key):
            return (private_key,)
    return ()


def _ssh_command(remote: Remote, address: Address, addresses: Addresses, files: ExitStack) -> str:
    if not isinstance(remote.credential, SshCredential):
        raise GitPermanent("git.credential", host=address.host, reason="an ssh URL needs a private key")
    key = files.enter_context(_file_in_memory("key", remote.credential.private_key.reveal()))
    known = files.enter_context(_file_in_memory("known-hosts", remote.known_hosts))
    options = [
        *SSH_OPTIONS,
        f"UserKnownHostsFile={known}",
        f"HostName={addresses[0]}",
        f"HostKeyAlias={_known_name(address)}",
    ]
    words = [shutil.which("ssh") or "ssh", "-F", "none", "-i", key]
    for option in options:
        words += ["-o", option]
    return shlex.join(words)


def _known_name(address: Address) -> str:
    return address.host if address.port == 22 else f"[{address.host}]:{address.port}"


@contextmanager
def _file_in_memory(name: str, text: str) -> Iterator[str]:
    """A path under which our children read `text`. Where the system has no such files, a private temporary one.

    ssh closes the descriptors that it inherits, so the path goes through this process and not through the child.
    """
    if not hasattr(os, "memfd_create"):
        with NamedTemporaryFile("w", prefix=f"flotilla-{name}-") as file:
            file.write(text)
            file.flush()
            yield file.name
        return
    descriptor = os.memfd_create(name)
    try:
        os.fchmod(descriptor, 0o600)
        with os.fdopen(os.dup(descriptor), "w") as file:
            file.write(text)
        yield str(Path("/proc", str(os.getpid()), "fd", str(descriptor)))
    finally:
        os.close(descriptor)


def _as_variables(config: Mapping[str, str]) -> dict[str, str]:
    """Configuration in variables, so that it is neither an argument that `ps` shows nor a file."""
    variables = {"GIT_CONFIG_COUNT": str(len(config))}
    for number, (key, value) in enumerate(config.items()):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables
