"""One fake cluster: its objects, the versions that it serves, who may read it, and the faults that it plays."""

import base64
import gzip
import json
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from aiohttp import web

from . import objects
from .objects import Object

type FaultAnswer = Callable[[web.Request, "FakeCluster"], Awaitable[web.StreamResponse | None]]

#: Answers below this size are not compressed by the real server.
_COMPRESSED_FROM = 128 * 1024
_DISCOVERY = {"verbs": ["get"], "nonResourceURLs": ["/api", "/api/*", "/apis", "/apis/*", "/healthz", "/version"]}
_SELF = {
    "verbs": ["create"],
    "apiGroups": ["authorization.k8s.io", "authentication.k8s.io"],
    "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"],
}
#: What the system grants to everybody who is authenticated.
BASIC_RULES: tuple[Object, ...] = (_SELF, _DISCOVERY)


class FakeCluster:
    """Objects and behaviour; `FakeApi` serves it under `/k8s/clusters/<name>`."""

    def __init__(self, name: str, *, token: str = "", flux_version: str = "v2.9.5") -> None:
        self.name = name
        self.token = token or f"token-of-{name}-0123456789"
        self.uid = str(uuid.uuid5(uuid.NAMESPACE_DNS, name))
        self.kubernetes_version = "v1.36.3"
        self.clock_offset = timedelta(0)
        self.rules: list[Object] = list(BASIC_RULES)
        self.requests: list[str] = []
        self._faults: list[tuple[str, FaultAnswer]] = []
        self._revision = 1000
        self._objects: dict[str, dict[str, Object]] = {kind: {} for kind in objects.SHARES}
        self._served: dict[str, tuple[str, str, tuple[str, ...]]] = {
            kind: (group, plural, (version,)) for kind, (group, version, plural, _) in objects.SHARES.items()
        }
        self._written: dict[tuple[str, str], tuple[bytes, ...]] = {}
        self.namespaced: dict[str, list[Object]] = {
            "leases": [objects.lease("kustomize-controller-leader-election", renewed_at=datetime.now(UTC))],
            "deployments": [objects.controller("kustomize-controller", flux_version)],
        }

    def fill(self, *, count: int) -> Self:
        """Put `count` generated objects in."""
        for kind, document in objects.fleet_objects(count):
            self.put(kind, document)
        return self

    def put(self, kind: str, document: Object) -> None:
        """Create or replace an object; like every write it moves the cluster's resource version."""
        self._revision += 1
        metadata = document["metadata"]
        metadata["resourceVersion"] = str(self._revision)
        self._objects[kind][f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"] = document
        self._forget(kind)

    def get(self, kind: str, namespace: str, name: str) -> Object:
        return self._objects[kind][f"{namespace}/{name}"]

    def delete(self, kind: str, namespace: str, name: str) -> None:
        self._revision += 1
        del self._objects[kind][f"{namespace}/{name}"]
        self._forget(kind)

    def touch(self) -> None:
        """A write somewhere else in the cluster: no object of ours changes, every list's resource version does."""
        self._revision += 1

    def kinds(self) -> tuple[str, ...]:
        return tuple(self._served)

    def objects(self) -> Iterator[tuple[str, Object]]:
        return ((kind, document) for kind, found in self._objects.items() for document in found.values())

    def count(self) -> int:
        return sum(len(found) for found in self._objects.values())

    def serve(self, kind: str, *versions: str) -> None:
        """The versions in which a kind is served; none takes it away. A group goes with its last kind."""
        group, plural, _ = self._served[kind]
        self._served[kind] = (group, plural, versions)
        self._forget(kind)

    @contextmanager
    def playing(self, fault: FaultAnswer, *, on: str = "") -> Iterator[None]:
        """Answer requests whose path holds `on` by a fault of `faults.py`, for as long as the block lasts."""
        entry = (on, fault)
        self._faults.append(entry)
        try:
            yield
        finally:
            self._faults.remove(entry)

    # --- answers ----------------------------------------------------------------------------------------------------

    async def answer(self, request: web.Request, path: str) -> web.StreamResponse:
        self.requests.append(path)
        for on, fault in list(self._faults):
            if on in path and (answer := await fault(request, self)):
                return answer
        shown = request.headers.get("Authorization")
        if shown != f"Bearer {self.token}" and (shown or path != "/version"):
            return self.refusal(401, "Unauthorized")
        if path == "/version":
            return self.document({"gitVersion": self.kubernetes_version, "major": "1", "minor": "36"})
        return await self._authenticated(request, path)

    async def _authenticated(self, request: web.Request, path: str) -> web.Response:
        if path.startswith("/apis/auth") and request.method == "POST":
            if request.content_type != "application/json":
                return self.refusal(415, "UnsupportedMediaType")
            return self.document(self._review(path.rpartition("/")[2], await request.json()), status=201)
        match path.strip("/").split("/"):
            case ["api", "v1", "namespaces", "kube-system"]:
                metadata = {"name": "kube-system", "uid": self.uid}
                answer = self.document({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
            case ["apis", group]:
                answer = self._group(group)
            case ["apis", group, version]:
                answer = self._resources(group, version)
            case ["apis", group, version, "namespaces", "flux-system", "leases" | "deployments" as plural]:
                answer = self._built_in(group, version, plural)
            case ["apis", group, version, plural]:
                answer = self._list(request, group, version, plural)
            case _:
                answer = self._not_found()
        return answer

    def _group(self, group: str) -> web.Response:
        versions = sorted({version for name, _, served in self._served.values() if name == group for version in served})
        if not versions:
            return self._not_found()
        entries = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]
        return self.document({"kind": "APIGroup", "apiVersion": "v1", "name": group, "versions": entries})

    def _resources(self, group: str, version: str) -> web.Response:
        found = [
            {"name": plural, "kind": kind, "namespaced": True, "verbs": ["get", "list", "watch"]}
            for kind, (name, plural, versions) in self._served.items()
            if name == group and version in versions
        ]
        return self.document({"kind": "APIResourceList", "groupVersion": f"{group}/{version}", "resources": found})

    def _built_in(self, group: str, version: str, plural: str) -> web.Response:
        kind = {"leases": "LeaseList", "deployments": "DeploymentList"}[plural]
        metadata = {"resourceVersion": str(self._revision)}
        items = self.namespaced[plural]
        return self.document({"kind": kind, "apiVersion": f"{group}/{version}", "metadata": metadata, "items": items})

    def _list(self, request: web.Request, group: str, version: str, plural: str) -> web.Response:
        for kind, (served_group, served_plural, versions) in self._served.items():
            if (served_group, served_plural) == (group, plural) and version in versions:
                body = self.list_body(
                    kind, version, int(request.query.get("limit", 0)), request.query.get("continue", "")
                )
                return self.body(request, body)
        return self._not_found()

    def list_body(self, kind: str, version: str, limit: int = 0, token: str = "") -> bytes:
        """The list as the real server writes one of custom resources: apiVersion, items, kind, metadata."""
        written = self._items(kind, version)
        start = int(base64.urlsafe_b64decode(token)) if token else 0
        end = start + limit if limit else len(written)
        metadata: Object = {"resourceVersion": str(self._revision)}
        if end < len(written):
            metadata["continue"] = base64.urlsafe_b64encode(str(end).encode()).decode()
            metadata["remainingItemCount"] = len(written) - end
        group, _, _ = self._served[kind]
        head = f'{{"apiVersion":"{group}/{version}","items":['.encode()
        tail = f'],"kind":"{kind}List","metadata":'.encode() + _json(metadata, ordered=True) + b"}\n"
        return head + b",".join(written[start:end]) + tail

    def _items(self, kind: str, version: str) -> tuple[bytes, ...]:
        if (kind, version) not in self._written:
            group, _, _ = self._served[kind]
            documents = (found | {"apiVersion": f"{group}/{version}"} for found in self._objects[kind].values())
            self._written[kind, version] = tuple(_json(document, ordered=True) for document in documents)
        return self._written[kind, version]

    def _forget(self, kind: str) -> None:
        self._written = {key: value for key, value in self._written.items() if key[0] != kind}

    def document(self, document: Mapping[str, Any], status: int = 200) -> web.Response:
        return web.Response(
            body=_json(document) + b"\n", status=status, content_type="application/json", headers=self._date()
        )

    def body(self, request: web.Request, body: bytes) -> web.Response:
        headers = self._date()
        if len(body) >= _COMPRESSED_FROM and "gzip" in request.headers.get("Accept-Encoding", ""):
            headers["Content-Encoding"] = "gzip"
            body = gzip.compress(body, compresslevel=4, mtime=0)
        return web.Response(body=body, content_type="application/json", headers=headers)

    def refusal(
        self, code: int, reason: str, headers: Mapping[str, str] | None = None, status: int = 0
    ) -> web.Response:
        """A `Status` document, with its own HTTP status unless told otherwise."""
        document = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code}
        answer = self.document(document | {"message": reason}, status=status or code)
        answer.headers.update(headers or {})
        return answer

    def _not_found(self) -> web.Response:
        return web.Response(text="404 page not found\n", status=404, headers=self._date())

    def moment(self, later: timedelta = timedelta(0)) -> str:
        """A moment of this cluster's clock, as HTTP writes it."""
        return (datetime.now(UTC) + self.clock_offset + later).strftime("%a, %d %b %Y %H:%M:%S GMT")

    def _date(self) -> dict[str, str]:
        return {"Date": self.moment()}

    # --- self reviews -----------------------------------------------------------------------------------------------

    def _review(self, plural: str, review: Object) -> Object:
        if plural == "selfsubjectreviews":
            name = "system:serviceaccount:flotilla-system:flotilla-reader"
            return review | {"status": {"userInfo": {"username": name}}}
        if plural == "selfsubjectrulesreviews":
            namespace = review["spec"]["namespace"]
            here = [rule for rule in self.rules if rule.get("namespace", namespace) == namespace]
            resource_rules = [rule for rule in here if "resources" in rule]
            paths = [rule for rule in here if "nonResourceURLs" in rule]
            status = {"incomplete": False, "resourceRules": resource_rules, "nonResourceRules": paths}
            return review | {"status": status}
        return review | {"status": {"allowed": self.allows(review["spec"]["resourceAttributes"])}}

    def allows(self, asked: Object) -> bool:
        """RBAC over `rules`; a rule with `namespace` counts in that namespace alone."""
        resource = "/".join(filter(None, (asked.get("resource"), asked.get("subresource"))))
        return any(
            {"*", asked["verb"]} & set(rule["verbs"])
            and {"*", asked.get("group", "")} & set(rule.get("apiGroups", ()))
            and {"*", resource} & set(rule.get("resources", ()))
            and (not rule.get("resourceNames") or asked.get("name") in rule["resourceNames"])
            and rule.get("namespace", asked.get("namespace", "")) == asked.get("namespace", "")
            for rule in self.rules
        )


def _json(document: object, *, ordered: bool = False) -> bytes:
    return json.dumps(document, sort_keys=ordered, separators=(",", ":"), ensure_ascii=False).encode()
