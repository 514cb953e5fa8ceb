"""Where a repository is and what opens it: values that the runner turns into an environment, never into arguments."""

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, urlsplit

from clusters_app.secret import Secret

from .errors import GitPermanent

SCHEMES = ("https", "http", "ssh", "file")
DEFAULT_PORTS = {"https": 443, "http": 80, "ssh": 22}

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|[0-9A-Fa-f:.]+")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_SCP = re.compile(r"(?P<user>[A-Za-z0-9_][A-Za-z0-9._-]*)@(?P<host>[A-Za-z0-9][A-Za-z0-9.-]*):(?P<path>[^/:][^:]*)")


@dataclass(frozen=True, slots=True)
class TokenCredential:
    """A token or password over HTTP. Forges take the token as the password of any user name that is not empty."""

    token: Secret
    username: str = "flotilla"


@dataclass(frozen=True, slots=True)
class SshCredential:
    """A private key in OpenSSH's format without a passphrase. The user is the one that the URL names."""

    private_key: Secret


GitCredential = TokenCredential | SshCredential


@dataclass(frozen=True, slots=True)
class Remote:
    """A repository as git reaches it. `ca_pem`: the one authority to trust instead of the system's. `known_hosts`:
    lines of that file's format; an ssh host whose key is not among them is refused."""

    url: str
    credential: GitCredential | None = None
    ca_pem: str | None = None
    known_hosts: str = ""


@dataclass(frozen=True, slots=True)
class Address:
    """A remote's URL taken apart and found harmless; `url` is the only spelling that reaches git's arguments."""

    scheme: str
    user: str
    host: str
    port: int
    path: str

    @property
    def url(self) -> str:
        """The URL for git, without a password and with the port only where it is not the usual one."""
        if self.scheme == "file":
            return f"file://{self.path}"
        user = f"{self.user}@" if self.scheme == "ssh" else ""
        return f"{self.scheme}://{user}{self.netloc}{self.path}"

    @property
    def origin(self) -> str:
        """Scheme, host and port: the part of the URL that a credential is good for."""
        return f"{self.scheme}://{self.netloc}/"

    @property
    def netloc(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS.get(self.scheme) else f"{host}:{self.port}"


def parse_address(url: str) -> Address:
    """`https://`, `ssh://`, `user@host:path` (as ssh) or `file:///…`, strictly; GitPermanent `git.url` says why not.

    Git itself reads far more: `ext::sh -c …`, `-u…`, a path on this machine. None of that passes here.
    """
    _refuse_control_characters(url)
    if scp := _SCP.fullmatch(url):
        return Address("ssh", scp["user"], scp["host"].lower(), 22, "/" + scp["path"])
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise GitPermanent("git.url", reason="it is not a URL") from error
    _refuse_parts(parts)
    if parts.scheme == "file":
        return Address("file", "", "", 0, parts.path)
    host = (parts.hostname or "").lower()
    if not _HOST.fullmatch(host):
        raise GitPermanent("git.url", reason="the host is not a host name")
    path = quote(parts.path, safe="/%:@!$&'()*+,;=~")
    return Address(parts.scheme, parts.username or "git", host, port or DEFAULT_PORTS[parts.scheme], path)


def _refuse_control_characters(url: str) -> None:
    if not url.isprintable() or url != url.strip() or "\\" in url or len(url) > 2000:
        raise GitPermanent("git.url", reason="it holds characters that no repository URL has")


def _refuse_parts(parts: SplitResult) -> None:
    if parts.scheme not in SCHEMES:
        raise GitPermanent("git.url", reason="only https:// and ssh:// are read")
    if parts.password is not None or (parts.username and parts.scheme in ("https", "http")):
        raise GitPermanent("git.url", reason="it holds a user name or password; give them as the credential")
    if parts.username and not _USER.fullmatch(parts.username):
        raise GitPermanent("git.url", reason="the user name has characters that no user name has")
    if parts.query or parts.fragment:
        raise GitPermanent("git.url", reason="a repository URL has no query and no fragment")
    if parts.scheme == "file" and parts.netloc:
        raise GitPermanent("git.url", reason="a file URL names no host")
    if len(parts.path) < 2 or ".." in parts.path.split("/"):
        raise GitPermanent("git.url", reason="the path names no repository")
