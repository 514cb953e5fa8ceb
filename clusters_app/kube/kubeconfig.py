"""Reads a kubeconfig that somebody pasted, by a strict list of what is allowed in it; it is never given to a loader.

The clients' own loaders run `exec` plugins and read any file that the document names.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clusters_app import safe_yaml
from clusters_app.ingest import IngestError, JsonValue, clean_line
from clusters_app.secret import Secret

from .connection import Connection, InvalidServer

type _Entry = Mapping[str, JsonValue]

_TOP = {"apiVersion", "kind", "preferences", "extensions", "clusters", "users", "contexts", "current-context"}
_CLUSTER = {"server", "certificate-authority-data", "tls-server-name", "extensions", "disable-compression"}
_USER = {"token", "client-certificate-data", "client-key-data", "extensions"}
_CONTEXT = {"cluster", "user", "namespace", "extensions"}

_CREATE_ONE = "create a token instead: kubectl create token flotilla-reader -n flotilla-system"
_FLATTEN = "embed the data instead: kubectl config view --raw --flatten"
_WHY_NOT = {
    "exec": f"it would run a program here; {_CREATE_ONE}",
    "auth-provider": f"it would run a sign-in here; {_CREATE_ONE}",
    "username": f"passwords are not supported; {_CREATE_ONE}",
    "password": f"passwords are not supported; {_CREATE_ONE}",
    "tokenFile": "it names a file of another machine; paste the token itself",
    "certificate-authority": f"it names a file of another machine; {_FLATTEN}",
    "client-certificate": f"it names a file of another machine; {_FLATTEN}",
    "client-key": f"it names a file of another machine; {_FLATTEN}",
    "proxy-url": "clusters are called directly; use an agent for a cluster that cannot be reached",
    "insecure-skip-tls-verify": "certificates are always verified; give certificate-authority-data",
}


class KubeconfigRefused(Exception):
    """The document is not taken. `field` is the path of what is wrong; no value of it is repeated."""

    def __init__(self, code: str, field: str, message: str) -> None:
        self.code = code
        self.field = field
        self.message = message
        super().__init__(f"{field}: {message}" if field else message)


@dataclass(frozen=True, slots=True)
class ContextOffer:
    """One context to choose from: its server, and what it can offer ("token", "client certificate") or why nothing."""

    name: str
    server: str
    offers: str
    refusal: str


class ContextNotChosen(Exception):
    """More than one context could be meant, or none is usable: show `offers` and ask."""

    def __init__(self, offers: tuple[ContextOffer, ...]) -> None:
        self.offers = offers
        super().__init__("choose a context")


def parse_kubeconfig(text: str, context: str | None = None) -> Connection:
    """The connection of the chosen context: `context`, else `current-context`, else the only usable one.

    Opens no file, starts no process, connects nowhere. Raises `KubeconfigRefused`, or `ContextNotChosen`.
    """
    document = _document(text)
    clusters, users = _entries(document, "clusters", "cluster"), _entries(document, "users", "user")
    contexts = _entries(document, "contexts", "context")
    name = context or _text(document, "current-context", "current-context")
    if name:
        if name not in contexts:
            raise KubeconfigRefused(
                "kubeconfig.unknown-context", "current-context", "names a context that is not there"
            )
        return _connection(name, contexts[name], clusters, users)
    return _only_usable(contexts, clusters, users)


def _document(text: str) -> _Entry:
    if not text.strip():
        raise KubeconfigRefused("kubeconfig.empty", "", "the kubeconfig is empty")
    try:
        document = safe_yaml.load_network(text)
    except IngestError as error:
        where = f"line {error.line}" if error.line else ""
        raise KubeconfigRefused("kubeconfig.unreadable", where, error.message) from error
    top = _mapping(document, "kubeconfig")
    if top.get("kind") not in (None, "", "Config"):
        raise KubeconfigRefused("kubeconfig.not-a-kubeconfig", "kind", "must be Config")
    _allow_only(top, _TOP, "")
    return top


def _entries(document: _Entry, section: str, inner: str) -> dict[str, _Entry]:
    """`clusters`, `users` or `contexts` by name. Contents are not judged yet: an unused entry harms nobody."""
    found: dict[str, _Entry] = {}
    for index, entry in enumerate(_list(document.get(section), section)):
        here = f"{section}[{index}]"
        named = _mapping(entry, here)
        _allow_only(named, {"name", inner}, here)
        name = _text(named, "name", f"{here}.name")
        if not name:
            raise KubeconfigRefused("kubeconfig.nameless", f"{here}.name", "must not be empty")
        if name in found:
            raise KubeconfigRefused(
                "kubeconfig.duplicate-name", f"{here}.name", "is used twice, so it is unclear which is meant"
            )
        found[name] = _mapping(named.get(inner) or {}, f"{here}.{inner}")
    return found


def _only_usable(
    contexts: Mapping[str, _Entry], clusters: Mapping[str, _Entry], users: Mapping[str, _Entry]
) -> Connection:
    if not contexts:
        raise KubeconfigRefused("kubeconfig.no-context", "contexts", "there is no context in it")
    if len(contexts) == 1:
        return _connection(*next(iter(contexts.items())), clusters, users)
    usable: list[Connection] = []
    offers: list[ContextOffer] = []
    for name, context in contexts.items():
        try:
            usable.append(_connection(name, context, clusters, users))
            offers.append(_offer(name, context, clusters, usable[-1]))
        except KubeconfigRefused as refused:
            offers.append(_offer(name, context, clusters, refused))
    if len(usable) == 1:
        return usable[0]
    raise ContextNotChosen(tuple(offers))


def _offer(
    name: str, context: _Entry, clusters: Mapping[str, _Entry], outcome: Connection | KubeconfigRefused
) -> ContextOffer:
    if isinstance(outcome, Connection):
        return ContextOffer(clean_line(name), outcome.server, "token" if outcome.token else "client certificate", "")
    server = clusters.get(str(context.get("cluster")), {}).get("server")
    return ContextOffer(clean_line(name), clean_line(server) if isinstance(server, str) else "", "", str(outcome))


def _connection(name: str, context: _Entry, clusters: Mapping[str, _Entry], users: Mapping[str, _Entry]) -> Connection:
    here = f"contexts[{clean_line(name)}].context"
    _allow_only(context, _CONTEXT, here)
    cluster_name, user_name = _text(context, "cluster", f"{here}.cluster"), _text(context, "user", f"{here}.user")
    if cluster_name not in clusters:
        raise KubeconfigRefused("kubeconfig.unknown-cluster", f"{here}.cluster", "names a cluster that is not there")
    if user_name not in users:
        raise KubeconfigRefused("kubeconfig.unknown-user", f"{here}.user", "names a user that is not there")
    cluster, cluster_at = clusters[cluster_name], f"clusters[{clean_line(cluster_name)}].cluster"
    user, user_at = users[user_name], f"users[{clean_line(user_name)}].user"
    _allow_only(cluster, _CLUSTER, cluster_at)
    _allow_only(user, _USER, user_at)
    token, certificate, key = _credential(user, user_at)
    try:
        return Connection(
            server=_https(cluster, cluster_at),
            ca_pem=_pem(cluster, "certificate-authority-data", cluster_at, "CERTIFICATE") or None,
            tls_server_name=_text(cluster, "tls-server-name", f"{cluster_at}.tls-server-name") or None,
            token=Secret(token) if token else None,
            client_certificate_pem=certificate or None,
            client_key=Secret(key) if key else None,
        )
    except InvalidServer as error:
        raise KubeconfigRefused("kubeconfig.bad-server", f"{cluster_at}.server", str(error)) from error


def _https(cluster: _Entry, here: str) -> str:
    server = _text(cluster, "server", f"{here}.server")
    if not server.startswith("https://"):
        raise KubeconfigRefused("kubeconfig.bad-server", f"{here}.server", "must start with https://")
    return server


def _credential(user: _Entry, here: str) -> tuple[str, str, str]:
    """Token, certificate and key: one kind of them, and complete."""
    token = _text(user, "token", f"{here}.token").strip()
    certificate = _pem(user, "client-certificate-data", here, "CERTIFICATE")
    key = _pem(user, "client-key-data", here, "PRIVATE KEY")
    if any(character.isspace() or not character.isascii() or not character.isprintable() for character in token):
        raise KubeconfigRefused("kubeconfig.bad-token", f"{here}.token", "holds a character that no token has")
    if bool(certificate) != bool(key):
        missing = "client-key-data" if certificate else "client-certificate-data"
        raise KubeconfigRefused("kubeconfig.half-a-certificate", f"{here}.{missing}", "is missing")
    if token and certificate:
        raise KubeconfigRefused(
            "kubeconfig.two-credentials", here, "has a token and a client certificate; keep one of them"
        )
    if not token and not certificate:
        raise KubeconfigRefused("kubeconfig.no-credential", here, "has neither token nor client certificate")
    return token, certificate, key


def _pem(entry: _Entry, field: str, here: str, label: str) -> str:
    """The PEM text behind a base64 field, which may be broken over lines; "" when absent."""
    encoded = "".join(_text(entry, field, f"{here}.{field}").split())
    if not encoded:
        return ""
    try:
        text = base64.b64decode(encoded, validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise KubeconfigRefused("kubeconfig.not-base64", f"{here}.{field}", "is not base64 of a PEM text") from error
    if "-----BEGIN " not in text or f"{label}-----" not in text:
        raise KubeconfigRefused("kubeconfig.not-pem", f"{here}.{field}", f"holds no PEM block of a {label.lower()}")
    if label == "CERTIFICATE" and "PRIVATE KEY" in text:
        raise KubeconfigRefused(
            "kubeconfig.key-in-certificate", f"{here}.{field}", "holds a private key; give certificates alone"
        )
    return text


def _allow_only(entry: _Entry, allowed: set[str], here: str) -> None:
    for field, value in entry.items():
        if field in allowed or (field == "insecure-skip-tls-verify" and value is False):
            continue
        where = f"{here}.{clean_line(field)}".lstrip(".")
        raise KubeconfigRefused("kubeconfig.field-refused", where, _WHY_NOT.get(field, "is not supported"))


def _mapping(value: JsonValue, here: str) -> _Entry:
    if not isinstance(value, Mapping):
        raise KubeconfigRefused("kubeconfig.wrong-type", here, "must be a mapping")
    return value


def _list(value: JsonValue, here: str) -> Sequence[JsonValue]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise KubeconfigRefused("kubeconfig.wrong-type", here, "must be a list")
    return value


def _text(entry: _Entry, field: str, here: str) -> str:
    value = entry.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise KubeconfigRefused("kubeconfig.wrong-type", here, "must be text")
    return value
