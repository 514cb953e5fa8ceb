"""The role that reading a cluster takes, as a manifest to apply there: explicit resources, three verbs, no wildcard.

No secrets, config maps, logs or events, nothing that writes. Raise `ROLE_VERSION` with every change of the rights.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby

import yaml

from clusters_app.flux.resources import KindSpec

from .kinds import STANDARD_KINDS

type _Document = dict[str, object]

ROLE_VERSION = 1
ACCOUNT = "flotilla-reader"
NAMESPACE = "flotilla-system"
TOKEN_SECRET = "flotilla-reader-token"  # noqa: S105 - the name of an object

_READ = ["get", "list", "watch"]
_VERSION_LABEL = "flotilla/read-role-version"


def read_role_manifest(
    *,
    kinds: Mapping[str, KindSpec] = STANDARD_KINDS,
    flux_namespace: str = "flux-system",
    has_token_secret: bool = False,
) -> str:
    """YAML for `kubectl apply -f -`: namespace, service account, roles and their bindings.

    With `has_token_secret` also a Secret in which the cluster keeps a token that does not expire; without it
    `token_command()` makes one that does, which is the better way.
    """
    documents = [
        _object("v1", "Namespace", NAMESPACE, namespace=None),
        _object("v1", "ServiceAccount", ACCOUNT) | {"automountServiceAccountToken": False},
        _object(_RBAC, "ClusterRole", ACCOUNT, namespace=None) | {"rules": cluster_rules(kinds)},
        _binding("ClusterRoleBinding", "ClusterRole", namespace=None),
        _object(_RBAC, "Role", ACCOUNT, namespace=flux_namespace) | {"rules": flux_namespace_rules()},
        _binding("RoleBinding", "Role", namespace=flux_namespace),
    ]
    if has_token_secret:
        documents.append(_token_secret())
    head = f"# Flotilla's read role, version {ROLE_VERSION}: the state of Flux, no Secrets, nothing that writes.\n"
    return head + yaml.safe_dump_all(
        documents, sort_keys=False, explicit_start=True, default_flow_style=None, width=120
    )


def token_command(*, hours: int = 720) -> str:
    """What to run in the cluster to get a token for the account of the manifest."""
    return f"kubectl create token {ACCOUNT} --namespace {NAMESPACE} --duration {hours}h"


def secret_token_command() -> str:
    """What prints the token that the cluster keeps in the optional Secret."""
    path = "jsonpath={.data.token}"
    return f"kubectl get secret {TOKEN_SECRET} --namespace {NAMESPACE} --output '{path}' | base64 --decode"


def cluster_rules(kinds: Mapping[str, KindSpec] = STANDARD_KINDS) -> list[_Document]:
    """The kinds that are read, group by group, and the one namespace whose UID is the cluster's identity."""
    specs = sorted((spec for spec in kinds.values() if spec.kind != "Deployment"), key=lambda spec: spec.group)
    rules = [_rule(group, _READ, (spec.plural for spec in found)) for group, found in groupby(specs, lambda s: s.group)]
    return [*rules, _rule("", ["get"], ["namespaces"]) | {"resourceNames": ["kube-system"]}]


def flux_namespace_rules() -> list[_Document]:
    """The controllers and their heartbeats."""
    return [_rule("apps", ["get", "list"], ["deployments"]), _rule("coordination.k8s.io", ["get", "list"], ["leases"])]


_RBAC = "rbac.authorization.k8s.io/v1"


def _rule(group: str, verbs: list[str], plurals: Iterable[str]) -> _Document:
    return {"apiGroups": [group], "resources": sorted(plurals), "verbs": list(verbs)}


def _object(
    api_version: str,
    kind: str,
    name: str,
    namespace: str | None = NAMESPACE,
    annotations: Mapping[str, str] | None = None,
) -> _Document:
    metadata: _Document = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    metadata["labels"] = {"app.kubernetes.io/managed-by": "flotilla", _VERSION_LABEL: str(ROLE_VERSION)}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


def _binding(kind: str, role: str, namespace: str | None) -> _Document:
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": ACCOUNT}
    return _object(_RBAC, kind, ACCOUNT, namespace) | {"roleRef": reference, "subjects": [subject]}


def _token_secret() -> _Document:
    secret = _object("v1", "Secret", TOKEN_SECRET, annotations={"kubernetes.io/service-account.name": ACCOUNT})
    return secret | {"type": "kubernetes.io/service-account-token"}
