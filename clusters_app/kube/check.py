"""The check at registration, line by line: can it be reached, is it the right one, may we read, and no more than read.

Each line says what was found and, when it failed, what to do. Nothing is stored and nothing is written to the cluster.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from clusters_app.egress import Policy
from clusters_app.flux.resources import KindSpec

from . import loop, reviews
from .client import Client, Limits
from .connection import Connection
from .discovery import kubernetes_version
from .errors import KubeError
from .expiry import expires_at
from .faults import FAULTS
from .kinds import STANDARD_KINDS
from .manifest import token_command
from .observe import Observation, observe
from .official import api_client
from .rights import PROBES, extra_reads, needed, powers

if TYPE_CHECKING:
    from kubernetes.client import ApiClient


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


type CheckState = Literal["ok", "failed", "warning"]

_EXPIRY_NOTICE = timedelta(days=14)
_MOST_NAMESPACES = 30
_APPLY_ROLE = _("Apply the current read role to the cluster, then check again.")
_USE_ROLE = _("Use a token of the read role: %(command)s")


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One result. `message` and `advice` are templates over `params`, for translation; `text` and `remedy` are English.

    `value` is what the line found, for whoever stores it: the identity, the version, the end of the credential.
    """

    code: str
    state: CheckState
    message: str
    advice: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    value: str = ""

    @property
    def text(self) -> str:
        return self.message % self.params

    @property
    def remedy(self) -> str:
        return self.advice % self.params


def check(
    connection: Connection,
    policy: Policy,
    *,
    now: datetime,
    kinds: Mapping[str, KindSpec] = STANDARD_KINDS,
    flux_namespace: str = "flux-system",
    limits: Limits | None = None,
) -> Iterator[CheckLine]:
    """Lines in the order in which they are found; the last one is failed when there is no point in going on.

    Codes: credential, reachable, certificate, host-name, authenticated, version, rights-enough, rights-excess, flux,
    identity, reading. Blocks; takes about 40 small requests and one round. Raises nothing for what the cluster does.
    """
    yield (line := _credential(connection, now))
    if line.state == "failed":
        return
    try:
        client = loop.run(_open(connection, policy, limits or Limits()), timeout_seconds=10)
    except KubeError as error:
        yield from _transport_lines(connection, error)
        return
    try:
        yield from _checked(client, kinds, flux_namespace, now)
    finally:
        loop.run(client.close(), timeout_seconds=10)


async def _open(connection: Connection, policy: Policy, limits: Limits) -> Client:
    return Client(connection, policy, limits)


def _checked(client: Client, kinds: Mapping[str, KindSpec], namespace: str, now: datetime) -> Iterator[CheckLine]:
    place = {"host": client.place}
    try:
        version = loop.run(kubernetes_version(client), timeout_seconds=60)
    except KubeError as error:
        yield from _before_the_version(client.connection, error)
        return
    yield from _transport_lines(client.connection, None)
    official = api_client(client)
    try:
        yield _authenticated(official)
    except KubeError as error:
        yield _failed("authenticated", error)
        return
    yield CheckLine(
        "version", "ok", _("%(host)s runs Kubernetes %(version)s."), params=place | {"version": version}, value=version
    )
    seen = loop.run(observe(client, now=now, kinds=kinds, flux_namespace=namespace), timeout_seconds=60)
    yield _enough(official, kinds, namespace, seen)
    yield _excess(official, kinds, _namespaces(seen, namespace))
    yield from _found(seen, place)


def _credential(connection: Connection, now: datetime) -> CheckLine:
    """An expired one is refused before anybody is asked; one that ends soon is loudly warned about."""
    if not connection.token and not (connection.client_certificate_pem and connection.client_key):
        return CheckLine("credential", "failed", _("There is no credential."), _USE_ROLE, {"command": token_command()})
    ends = expires_at(connection)
    if ends is None:
        return CheckLine("credential", "ok", _("The credential does not say when it ends."))
    params = {"ends": f"{ends:%Y-%m-%d %H:%M} UTC", "command": token_command()}
    if ends <= now:
        return CheckLine(
            "credential", "failed", _("The credential ended on %(ends)s."), _USE_ROLE, params, ends.isoformat()
        )
    if ends - now < _EXPIRY_NOTICE:
        message = _("The credential ends soon, on %(ends)s; then the cluster can no longer be read.")
        return CheckLine("credential", "warning", message, _("A longer one: %(command)s"), params, ends.isoformat())
    return CheckLine("credential", "ok", _("The credential is valid until %(ends)s."), "", params, ends.isoformat())


_CERTIFICATE_CODES = {
    "kube.certificate-expired",
    "kube.certificate-not-yet-valid",
    "kube.certificate-unknown-authority",
    "kube.tls-failed",
    "kube.authority-unusable",
}


def _transport_lines(connection: Connection, error: KubeError | None) -> Iterator[CheckLine]:
    """Three lines out of one attempt: the connection, the certificate, the name on it. They end with the failed one."""
    params = {"host": connection.place, "name": connection.tls_server_name or connection.host}
    lines = (
        CheckLine("reachable", "ok", _("%(host)s answers."), "", params),
        CheckLine("certificate", "ok", _("Its certificate is valid and from the registered authority."), "", params),
        CheckLine("host-name", "ok", _("Its certificate is made out to %(name)s."), "", params),
    )
    if error is None:
        yield from lines
        return
    broken = {"kube.certificate-wrong-name": 2} | dict.fromkeys(_CERTIFICATE_CODES, 1)
    at = broken.get(error.code, 0)
    yield from lines[:at]
    yield _failed(lines[at].code, error)


_ANSWERED = {"kube.unauthorized": "authenticated", "kube.forbidden": "authenticated"}
_ANSWERED |= dict.fromkeys(("kube.rate-limited", "kube.server-error"), "version")


def _before_the_version(connection: Connection, error: KubeError) -> Iterator[CheckLine]:
    """A refusal came over a connection that is fine; everything else says that there is none to an API server."""
    if error.code not in _ANSWERED:
        yield from _transport_lines(connection, error)
        return
    yield from _transport_lines(connection, None)
    yield _failed(_ANSWERED[error.code], error)


def _authenticated(client: "ApiClient") -> CheckLine:
    """Raises `KubeError`."""
    name = reviews.user_name(client)
    if name is None:
        return CheckLine("authenticated", "ok", _("The credential is accepted; this version does not say for whom."))
    params = {"name": name, "command": token_command()}
    if name == "system:anonymous":
        return CheckLine("authenticated", "failed", _("The cluster takes us for nobody."), _USE_ROLE, params)
    return CheckLine("authenticated", "ok", _("Signed in as %(name)s."), "", params, name)


def _enough(client: "ApiClient", kinds: Mapping[str, KindSpec], namespace: str, seen: Observation) -> CheckLine:
    """Every kind that is installed can be listed, and the identity and the heartbeats can be read."""
    installed = {kind: spec for kind, spec in kinds.items() if seen.lists[kind].state != "missing"}
    try:
        lacking = [right for right in needed(installed, namespace) if not reviews.is_allowed(client, right)]
    except KubeError as error:
        return _unknown("rights-enough", error)
    if lacking:
        params = {"rights": ", ".join(map(str, lacking))}
        return CheckLine("rights-enough", "failed", _("The credential may not: %(rights)s."), _APPLY_ROLE, params)
    return CheckLine("rights-enough", "ok", _("The credential may read everything that is needed."))


def _excess(client: "ApiClient", kinds: Mapping[str, KindSpec], namespaces: tuple[str, ...]) -> CheckLine:
    try:
        rules = [rule for namespace in namespaces for rule in reviews.rules_in(client, namespace)]
        probed = [power for right, power in PROBES.items() if reviews.is_allowed(client, right)]
    except KubeError as error:
        return _unknown("rights-excess", error)
    found = tuple(dict.fromkeys((*powers(rules), *probed)))
    if found:
        params = {"powers": ", ".join(found), "command": token_command()}
        return CheckLine("rights-excess", "failed", _("The credential can do too much: %(powers)s."), _USE_ROLE, params)
    reads = extra_reads(rules, kinds)
    if reads:
        params = {"resources": ", ".join(reads[:8]), "command": token_command()}
        message = _("The credential can read more than is needed: %(resources)s.")
        return CheckLine("rights-excess", "warning", message, _USE_ROLE, params)
    return CheckLine("rights-excess", "ok", _("The credential can read Flux and nothing else; it cannot write."))


def _namespaces(seen: Observation, flux_namespace: str) -> tuple[str, ...]:
    """Where a role could hide: the usual places, and the namespaces in which Flux has objects."""
    items = [item for found in seen.lists.values() for item in found.items or ()]
    used = {item.ref.namespace for item in items} - {""}
    return tuple(dict.fromkeys((flux_namespace, "kube-system", "default", *sorted(used))))[:_MOST_NAMESPACES]


def _found(seen: Observation, place: dict[str, str]) -> Iterator[CheckLine]:
    if seen.fault is not None:
        yield _failed("reading", seen.fault)
        return
    yield _flux(seen, place)
    if seen.cluster_uid:
        params = {"uid": seen.cluster_uid}
        yield CheckLine(
            "identity", "ok", _("The cluster's identity is %(uid)s."), params=params, value=seen.cluster_uid
        )
    yield _reading(seen, place)


def _flux(seen: Observation, place: dict[str, str]) -> CheckLine:
    installed = [kind for kind, found in seen.lists.items() if found.state in {"ok", "unchanged"}]
    if not installed:
        advice = _("Bootstrap Flux on the cluster, then check again.")
        return CheckLine("flux", "warning", _("Flux is not installed on %(host)s."), advice, place)
    version = seen.flux_version or ""
    message = (
        _("Flux %(version)s is installed.") if version else _("Flux is installed; its controllers carry no version.")
    )
    return CheckLine("flux", "ok", message, params={"version": version}, value=version)


def _reading(seen: Observation, place: dict[str, str]) -> CheckLine:
    failed = [found.error for found in seen.lists.values() if found.error and found.state in {"failed", "forbidden"}]
    if failed:
        return _failed("reading", failed[0])
    count = sum(len(found.items or ()) for found in seen.lists.values())
    return CheckLine(
        "reading", "ok", _("The first reading found %(count)s objects."), params=place | {"count": str(count)}
    )


def _failed(code: str, error: KubeError) -> CheckLine:
    cause = FAULTS[error.code]
    return CheckLine(code, "failed", cause.text, cause.remedy, error.params, error.code)


def _unknown(code: str, error: KubeError) -> CheckLine:
    message = _("The cluster does not tell what the credential may do: %(cause)s")
    return CheckLine(code, "warning", message, _USE_ROLE, {"cause": str(error), "command": token_command()})
