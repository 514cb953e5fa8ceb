"""A simulated cluster's answers over the Kubernetes API: only what a reader with the read role may ask."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hmac import compare_digest

from clusters_app.flux.resources import KINDS, KindSpec
from clusters_app.simulation.cluster import SimulatedCluster
from clusters_app.simulation.controllers import deployments, leases
from clusters_app.simulation.documents import documents_of
from clusters_app.simulation.faults import Silent
from clusters_app.simulation.parts import Document, uid_of

KUBERNETES_VERSION = "v1.36.3"
#: What the usual installation brings: no image automation, so those kinds are missing.
SERVED: Mapping[str, KindSpec] = {
    kind: spec
    for kind, spec in KINDS.items()
    if spec.group
    in {
        "kustomize.toolkit.fluxcd.io",
        "helm.toolkit.fluxcd.io",
        "source.toolkit.fluxcd.io",
        "notification.toolkit.fluxcd.io",
    }
}
_KEPT = timedelta(seconds=30)
_READ = ["get", "list", "watch"]
_ACCOUNT = "system:serviceaccount:flotilla-system:flotilla-reader"
_ABOUT_ONESELF: Document = {
    "verbs": ["create"],
    "apiGroups": ["authorization.k8s.io", "authentication.k8s.io"],
    "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"],
}
_IN_FLUX_NAMESPACE = {("apps", "deployments"), ("coordination.k8s.io", "leases")}


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a JSON body."""

    status: int
    body: bytes


class ClusterApi:
    """Answers for one cluster. Lists are written once for each state of the cluster."""

    def __init__(self, cluster: SimulatedCluster, token: str) -> None:
        self.cluster = cluster
        self._token = token
        self._lists: dict[str, bytes] = {}
        self._written_at: tuple[int, datetime] | None = None

    def is_silent(self) -> bool:
        return any(True for _ in self.cluster.fault_of(Silent))

    def answer(self, method: str, path: str, authorization: str, body: bytes, now: datetime) -> Answer:
        """`path` is below the cluster's own prefix, without a query."""
        self.cluster.advance(now)
        if not compare_digest(authorization.encode(), f"Bearer {self._token}".encode()):
            return _refused(401, "Unauthorized", "Unauthorized")
        parts = path.strip("/").split("/")
        if method == "POST":
            return self._review(parts, body)
        if method != "GET":
            return _refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
        return self._read(parts, now)

    def _read(self, parts: list[str], now: datetime) -> Answer:
        match parts:
            case ["version"]:
                answer = _answer({"gitVersion": KUBERNETES_VERSION, "major": "1", "minor": "36"})
            case ["api", "v1", "namespaces", "kube-system"]:
                metadata = {"name": "kube-system", "uid": uid_of(self.cluster.name, "Namespace/kube-system")}
                answer = _answer({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
            case ["apis", group]:
                answer = _group(group)
            case ["apis", group, version]:
                answer = _resources(group, version)
            case ["apis", "coordination.k8s.io", "v1", "namespaces", "flux-system", "leases"]:
                answer = self._list("coordination.k8s.io/v1", "Lease", leases(self.cluster, now))
            case ["apis", "apps", "v1", "namespaces", "flux-system", "deployments"]:
                answer = self._list("apps/v1", "Deployment", deployments(self.cluster))
            case ["apis", group, version, plural]:
                answer = self._kind(group, version, plural)
            case _:
                answer = _not_found()
        return answer

    def _kind(self, group: str, version: str, plural: str) -> Answer:
        spec = next((each for each in SERVED.values() if (each.group, each.plural) == (group, plural)), None)
        if spec is None or version != spec.versions[0]:
            return _not_found()
        if not self._is_written():
            self._write_lists()
        return Answer(200, self._lists[spec.kind])

    def _is_written(self) -> bool:
        """Heartbeats in the documents move though nothing else does, hence the age."""
        if self._written_at is None:
            return False
        version, at = self._written_at
        return version == self.cluster.version and self.cluster.clock - at < _KEPT

    def _write_lists(self) -> None:
        items: dict[str, list[Document]] = {kind: [] for kind in SERVED}
        for kind, document in documents_of(self.cluster):
            items[kind].append(document)
        self._lists = {
            kind: self._list(f"{spec.group}/{spec.versions[0]}", kind, items[kind]).body
            for kind, spec in SERVED.items()
        }
        self._written_at = self.cluster.version, self.cluster.clock

    def _list(self, api_version: str, kind: str, items: list[Document]) -> Answer:
        """In the order in which the real server writes a list of custom resources."""
        metadata = {"continue": "", "resourceVersion": str(1000 + self.cluster.version)}
        return _answer({"apiVersion": api_version, "items": items, "kind": f"{kind}List", "metadata": metadata})

    # --- what a credential asks about itself ------------------------------------------------------------------------

    def _review(self, parts: list[str], body: bytes) -> Answer:
        try:
            asked = json.loads(body)
        except ValueError:
            return _refused(400, "BadRequest", "the body of the request is no JSON")
        match parts:
            case ["apis", "authentication.k8s.io", "v1", "selfsubjectreviews"]:
                status: Document = {"userInfo": {"username": _ACCOUNT, "groups": ["system:authenticated"]}}
            case ["apis", "authorization.k8s.io", "v1", "selfsubjectaccessreviews"]:
                status = {"allowed": _is_allowed(asked)}
            case ["apis", "authorization.k8s.io", "v1", "selfsubjectrulesreviews"]:
                status = {"incomplete": False, "nonResourceRules": [], "resourceRules": _rules(asked)}
            case _:
                return _not_found()
        return _answer({**asked, "status": status}, status=201)


def _is_allowed(review: Document) -> bool:
    asked = _attributes(review)
    group, resource, verb = asked.get("group", ""), asked.get("resource", ""), asked.get("verb", "")
    if asked.get("subresource") or verb not in _READ:
        return False
    if (group, resource) in _IN_FLUX_NAMESPACE:
        return asked.get("namespace") == "flux-system"
    if (group, resource) == ("", "namespaces"):
        return verb == "get" and asked.get("name") == "kube-system"
    return any((spec.group, spec.plural) == (group, resource) for spec in SERVED.values())


def _attributes(review: Document) -> dict[str, str]:
    spec = review.get("spec")
    found = spec.get("resourceAttributes") if isinstance(spec, dict) else None
    return {key: str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def _rules(review: Document) -> list[Document]:
    by_group: dict[str, list[str]] = {}
    for kind in SERVED.values():
        by_group.setdefault(kind.group, []).append(kind.plural)
    rules = [_ABOUT_ONESELF]
    rules += [{"verbs": _READ, "apiGroups": [group], "resources": plurals} for group, plurals in by_group.items()]
    rules.append({"verbs": ["get"], "apiGroups": [""], "resources": ["namespaces"], "resourceNames": ["kube-system"]})
    spec = review.get("spec")
    if isinstance(spec, dict) and spec.get("namespace") == "flux-system":
        rules += [
            {"verbs": ["get", "list"], "apiGroups": [group], "resources": [plural]}
            for group, plural in sorted(_IN_FLUX_NAMESPACE)
        ]
    return rules


# --- discovery ----------------------------------------------------------------------------------------------------


def _group(group: str) -> Answer:
    versions = sorted({spec.versions[0] for spec in SERVED.values() if spec.group == group})
    if not versions:
        return _not_found()
    entries = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]
    return _answer({"apiVersion": "v1", "kind": "APIGroup", "name": group, "versions": entries})


def _resources(group: str, version: str) -> Answer:
    found = [
        {"kind": spec.kind, "name": spec.plural, "namespaced": True, "verbs": _READ}
        for spec in SERVED.values()
        if (spec.group, spec.versions[0]) == (group, version)
    ]
    if not found:
        return _not_found()
    return _answer({"kind": "APIResourceList", "groupVersion": f"{group}/{version}", "resources": found})


def _answer(document: Document, status: int = 200) -> Answer:
    return Answer(status, json.dumps(document, separators=(",", ":")).encode())


def _not_found() -> Answer:
    return _refused(404, "NotFound", "the server could not find the requested resource")


def _refused(code: int, reason: str, message: str) -> Answer:
    status: Document = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code}
    return _answer({**status, "message": message}, status=code)
