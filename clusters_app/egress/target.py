"""What is asked: a URL and headers, checked in form before anything leaves."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from clusters_app.egress.addresses import Policy
from clusters_app.egress.errors import EgressPermanent
from clusters_app.egress.names import is_host
from clusters_app.secret import Secret

_PORTS = {"https": 443, "http": 80}
_URL = re.compile(r"[!-\[\]-~]{1,8192}")  # printable ASCII without space and backslash


@dataclass(frozen=True)
class Target:
    """A URL that may be asked as far as its form and scheme go; its addresses are judged when connecting."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host.rstrip(".")
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @classmethod
    def parse(cls, url: str, policy: Policy) -> Self:
        """Raises `EgressPermanent` (`egress.bad-url`, `egress.https-only`) with the reason, never with the URL."""
        if not _URL.fullmatch(url):
            raise _bad_url("it is empty, too long, or holds characters that must be percent-encoded")
        try:
            parts = urlsplit(url)
            host, port = (parts.hostname or "").lower(), parts.port
        except ValueError as error:
            raise _bad_url("host or port cannot be read") from error
        if parts.scheme not in _PORTS:
            raise _bad_url("it must begin with https://")
        if "@" in parts.netloc:
            raise _bad_url("it holds a user name: put the credential into its own field")
        if parts.fragment:
            raise _bad_url("it ends in a #fragment")
        if not is_host(host) or ("[" in parts.netloc) != (":" in host) or port == 0:
            raise _bad_url("it has no valid host and port")
        if parts.scheme == "http" and host not in policy.allow_http_hosts:
            raise https_only(host)
        path = parts.path or "/"
        return cls(
            scheme=parts.scheme,
            host=host,
            port=port or _PORTS[parts.scheme],
            path=f"{path}?{parts.query}" if parts.query else path,
        )


def _bad_url(why: str) -> EgressPermanent:
    return EgressPermanent("egress.bad-url", "", f"the URL is refused: {why}")


def https_only(host: str) -> EgressPermanent:
    return EgressPermanent("egress.https-only", host, f"{host} was to be asked over http: write https")


_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]{0,16384}")
_OURS = {"host", "accept-encoding", "content-length", "transfer-encoding", "connection"}


def sendable(given: Mapping[str, str | Secret], target: Target) -> dict[str, str]:
    """The headers as they go out, with ours added. Raises `EgressPermanent` naming the header, never its value.

    Checked here because the error of `http.client` for a line break in a token shows the token.
    """
    headers = {"Host": target.authority, "Accept-Encoding": "gzip", "User-Agent": "flotilla"}
    for name, value in given.items():
        text = value.reveal() if isinstance(value, Secret) else value
        if name.lower() in _OURS or not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(text):
            raise EgressPermanent(
                "egress.bad-header",
                target.host,
                f"the header {name!r} for {target.host} cannot be sent: "
                f"look for line breaks and letters outside ASCII in the credential",
            )
        headers[name] = text
    return headers
