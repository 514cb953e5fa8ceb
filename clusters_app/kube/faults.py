"""The catalogue of everything that can go wrong between us and an API server: code, exact text, remedy.

Texts are English with named parameters, so that a layer that knows languages can translate the same sentence.
"""

from dataclasses import dataclass
from typing import Literal

#: What the connection of a cluster becomes; the words are those of the cluster's status.
ConnectionState = Literal["Connected", "Degraded", "AuthExpired", "Forbidden", "Unreachable", "Replaced"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to fail. `is_transient` decides between "try again" and "a person must act"."""

    text: str
    remedy: str
    connection: ConnectionState
    is_transient: bool = True
    #: The next request would fare the same: asking on would only be a storm.
    ends_round: bool = False


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


_NETWORK = _("Check that the API server runs and that a firewall lets this machine reach %(host)s.")
_NEW_CREDENTIAL = _(
    "Make a new token in the cluster and store it on the cluster's page: "
    "kubectl create token flotilla-reader -n flotilla-system --duration 720h"
)
_PROXY = _("Check the server's address and path, and what stands between this machine and %(host)s.")

FAULTS: dict[str, Fault] = {
    "kube.address-refused": Fault(
        _("%(host)s has an address that must not be called: %(detail)s."),
        _("Ask an operator to allow the network of this cluster, or correct the server's address."),
        "Unreachable",
        is_transient=False,
        ends_round=True,
    ),
    "kube.name-not-resolved": Fault(
        _("The name %(host)s cannot be resolved."),
        _("Check the server's name and the DNS of this machine."),
        "Unreachable",
        ends_round=True,
    ),
    "kube.connection-refused": Fault(_("%(host)s refuses connections."), _NETWORK, "Unreachable", ends_round=True),
    "kube.network-unreachable": Fault(
        _("There is no route to %(host)s: %(detail)s."), _NETWORK, "Unreachable", ends_round=True
    ),
    "kube.connect-timeout": Fault(
        _("%(host)s does not answer: no connection within %(seconds)s s."), _NETWORK, "Unreachable", ends_round=True
    ),
    "kube.tls-timeout": Fault(
        _("%(host)s accepts connections but does not finish the TLS handshake within %(seconds)s s."),
        _("Check the load balancer or proxy in front of the API server; it answers in the server's place."),
        "Unreachable",
        ends_round=True,
    ),
    "kube.answer-timeout": Fault(
        _("%(host)s did not finish its answer within %(seconds)s s."),
        _("Check the load of the API server and the bandwidth between it and this machine."),
        "Unreachable",
    ),
    "kube.round-timeout": Fault(
        _("%(host)s is too slow: the round was ended before everything was read."),
        _("Check the load of the API server and the bandwidth between it and this machine."),
        "Unreachable",
    ),
    "kube.disconnected": Fault(
        _("%(host)s closed the connection in the middle of an answer."), _NETWORK, "Unreachable"
    ),
    "kube.certificate-expired": Fault(
        _("The certificate of %(host)s has expired."),
        _("Renew the API server's certificate (kubeadm certs renew apiserver, or the provider's way)."),
        "Unreachable",
        is_transient=False,
        ends_round=True,
    ),
    "kube.certificate-not-yet-valid": Fault(
        _("The certificate of %(host)s is not valid yet."),
        _("Compare the clocks of this machine and of the API server."),
        "Unreachable",
        is_transient=False,
        ends_round=True,
    ),
    "kube.certificate-unknown-authority": Fault(
        _("The certificate of %(host)s is not signed by the certificate authority that was registered."),
        _("If the cluster's authority was replaced on purpose, register the new one; if not, somebody else answers."),
        "Unreachable",
        is_transient=False,
        ends_round=True,
    ),
    "kube.certificate-wrong-name": Fault(
        _("The certificate of %(host)s is made out to another name: %(detail)s."),
        _("Correct the server's address, or set tls-server-name to a name that the certificate carries."),
        "Unreachable",
        is_transient=False,
        ends_round=True,
    ),
    "kube.tls-failed": Fault(
        _("No TLS connection to %(host)s: %(detail)s."),
        _("Check that the address is the API server's https port."),
        "Unreachable",
        ends_round=True,
    ),
    "kube.client-certificate-unusable": Fault(
        _("The client certificate for %(host)s cannot be used: %(detail)s."),
        _("Store the certificate and the key that belongs to it again, both as PEM text."),
        "AuthExpired",
        is_transient=False,
    ),
    "kube.authority-unusable": Fault(
        _("The certificate authority for %(host)s cannot be used: %(detail)s."),
        _("Paste the authority's certificate as PEM text (certificate-authority-data of the kubeconfig, decoded)."),
        "Unreachable",
        is_transient=False,
    ),
    "kube.unauthorized": Fault(
        _("%(host)s does not accept the credential (401)."),
        _NEW_CREDENTIAL,
        "AuthExpired",
        is_transient=False,
        ends_round=True,
    ),
    "kube.forbidden": Fault(
        _("%(host)s forbids reading %(what)s (403)."),
        _("Apply the current read role to the cluster again."),
        "Forbidden",
        is_transient=False,
    ),
    "kube.rate-limited": Fault(
        _("%(host)s asks to slow down (429)%(detail)s."),
        _("Nothing to do: reading goes on by itself. If it lasts, look at the API server's flow schemas."),
        "Degraded",
        ends_round=True,
    ),
    "kube.server-error": Fault(
        _("%(host)s fails with status %(status)s while reading %(what)s."),
        _("Look at the API server's log and at etcd."),
        "Degraded",
    ),
    "kube.list-expired": Fault(
        _("The list of %(what)s on %(host)s expired twice while it was read (410)."),
        _("Nothing to do unless it lasts: then the API server compacts its history faster than the list can be read."),
        "Degraded",
    ),
    "kube.not-found": Fault(
        _("%(host)s does not know %(what)s (404)."),
        _("Check the path in the server's address."),
        "Unreachable",
        is_transient=False,
    ),
    "kube.not-installed": Fault(
        _("%(what)s is not installed on %(host)s."),
        _("Install the Flux component that brings it, if the cluster should have it."),
        "Connected",
        is_transient=False,
    ),
    "kube.version-unknown": Fault(
        _("%(host)s serves %(what)s only in versions that are not known here: %(detail)s."),
        _("Upgrade Flotilla."),
        "Degraded",
        is_transient=False,
    ),
    "kube.not-kubernetes": Fault(
        _("%(host)s answers, but not as a Kubernetes API: %(detail)s."), _PROXY, "Unreachable", is_transient=False
    ),
    "kube.web-page": Fault(
        _("%(host)s answers %(what)s with a web page instead of JSON (status %(status)s)."), _PROXY, "Degraded"
    ),
    "kube.redirected": Fault(
        _("%(host)s redirects %(what)s elsewhere (status %(status)s); redirects are not followed."),
        _PROXY,
        "Unreachable",
        is_transient=False,
    ),
    "kube.not-json": Fault(_("%(host)s answers %(what)s with broken JSON: %(detail)s."), _PROXY, "Degraded"),
    "kube.wrong-kind": Fault(
        _("%(host)s answers %(what)s with something else: %(detail)s."), _PROXY, "Degraded", is_transient=False
    ),
    "kube.answer-too-large": Fault(
        _("The answer of %(host)s about %(what)s is larger than %(limit)s."),
        _("Find the objects that are that large, or raise the limit."),
        "Degraded",
        is_transient=False,
    ),
    "kube.unexpected-status": Fault(
        _("%(host)s answers %(what)s with status %(status)s."), _PROXY, "Degraded", is_transient=False
    ),
    "kube.cluster-replaced": Fault(
        _("Another cluster answers at %(host)s: the UID of its kube-system is %(found)s, registered was %(expected)s."),
        _("If the cluster was rebuilt on purpose, confirm its new identity; until then nothing of it is stored."),
        "Replaced",
        is_transient=False,
    ),
}
