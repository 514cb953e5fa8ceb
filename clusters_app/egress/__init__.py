"""The one way out over HTTP: to forges, and (address check and TLS rules) to clusters and Git servers.

A URL here may come from anybody who may register a cluster or a repository, and the answer from anybody at all. So the
name is looked up once and every address checked, certificates are always verified, nothing is followed, nothing is
taken from the environment, and time and size have hard ends.
"""

from clusters_app.egress.addresses import Address, Policy, PolicyError
from clusters_app.egress.errors import EgressError, EgressPermanent, EgressTransient
from clusters_app.egress.names import resolve_checked
from clusters_app.egress.session import Answer, Session
from clusters_app.egress.trust import tls_context

__all__ = [
    "Address",
    "Answer",
    "EgressError",
    "EgressPermanent",
    "EgressTransient",
    "Policy",
    "PolicyError",
    "Session",
    "resolve_checked",
    "tls_context",
]
