"""Which kinds exist, and how a list or a document becomes typed resources.

A bad object becomes `Unreadable` with its identity and the path of the field; it never breaks its list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

import msgspec
from msgspec import Struct

from .identity import ObjectRef
from .structs import (
    Alert,
    Application,
    ArtifactGenerator,
    Bucket,
    Canary,
    Deployment,
    ExternalArtifact,
    GenericResource,
    GitRepository,
    HelmChart,
    HelmRelease,
    HelmRepository,
    ImagePolicy,
    ImageRepository,
    ImageUpdateAutomation,
    Kustomization,
    Lease,
    Module,
    ModuleConfig,
    NodeGroup,
    OCIRepository,
    Provider,
    Receiver,
    Resource,
    Terraform,
)

SOURCE, KUSTOMIZE, HELM = "source.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io"
IMAGE, NOTIFICATION = "image.toolkit.fluxcd.io", "notification.toolkit.fluxcd.io"
ADD_ON, OPERATOR, EXTENSIONS = "infra.contrib.fluxcd.io", "fluxcd.controlplane.io", "source.extensions.fluxcd.io"
DECKHOUSE, CERTIFICATES, SECRETS, CLUSTERS = (
    "deckhouse.io",
    "cert-manager.io",
    "external-secrets.io",
    ("cluster.x-k8s.io"),
)


class KindSpec(Struct, frozen=True):
    """One observed kind: where it is served, who works on it, by which rule it is judged.

    `versions` are all that Flux 2.0 to 2.10 (or the add-on) serves, newest first. `controller` is the prefix of the
    Lease that its controller holds in the Flux namespace; empty means that no Lease is known, so none can be missed.
    """

    kind: str
    group: str
    plural: str
    versions: tuple[str, ...]
    struct: type[Resource] = GenericResource
    controller: str = ""
    rule: str = "conditions"
    namespaced: bool = True

    def serves(self, api_version: str) -> bool:
        group, _, _ = api_version.rpartition("/")
        return group == self.group


_V = ("v1", "v1beta2", "v1beta1")
_A = ("v1alpha1",)
_N = ("v1", "v1beta3", "v1beta2", "v1beta1")
_SC, _KC, _HC, _NC = "source-controller", "kustomize-controller", "helm-controller", "notification-controller"
_RC, _AC, _WC = "image-reflector-controller", "image-automation-controller", "source-watcher"
_SPECS = (
    KindSpec("GitRepository", SOURCE, "gitrepositories", _V, GitRepository, _SC, "flux"),
    KindSpec("OCIRepository", SOURCE, "ocirepositories", _V[:2], OCIRepository, _SC, "flux"),
    KindSpec("Bucket", SOURCE, "buckets", _V, Bucket, _SC, "flux"),
    KindSpec("HelmRepository", SOURCE, "helmrepositories", _V, HelmRepository, _SC, "flux"),
    KindSpec("HelmChart", SOURCE, "helmcharts", _V, HelmChart, _SC, "flux"),
    KindSpec("ExternalArtifact", SOURCE, "externalartifacts", ("v1",), ExternalArtifact, "", "flux"),
    KindSpec("ArtifactGenerator", EXTENSIONS, "artifactgenerators", _V[2:], ArtifactGenerator, _WC, "flux"),
    KindSpec("Kustomization", KUSTOMIZE, "kustomizations", _V, Kustomization, _KC, "flux"),
    KindSpec("HelmRelease", HELM, "helmreleases", ("v2", "v2beta2", "v2beta1"), HelmRelease, _HC, "flux"),
    KindSpec("ImageRepository", IMAGE, "imagerepositories", _V, ImageRepository, _RC, "flux"),
    KindSpec("ImagePolicy", IMAGE, "imagepolicies", _V, ImagePolicy, _RC, "flux"),
    KindSpec("ImageUpdateAutomation", IMAGE, "imageupdateautomations", _V, ImageUpdateAutomation, _AC, "flux"),
    KindSpec("Receiver", NOTIFICATION, "receivers", _V, Receiver, _NC, "flux"),
    KindSpec("Alert", NOTIFICATION, "alerts", _N, Alert, _NC, "static"),
    KindSpec("Provider", NOTIFICATION, "providers", _N, Provider, _NC, "static"),
    KindSpec("FluxInstance", OPERATOR, "fluxinstances", ("v1",)),
    KindSpec("ResourceSet", OPERATOR, "resourcesets", ("v1",)),
    KindSpec("ResourceSetInputProvider", OPERATOR, "resourcesetinputproviders", ("v1",)),
    KindSpec("Terraform", ADD_ON, "terraforms", ("v1alpha2", "v1alpha1"), Terraform, "", "terraform"),
    KindSpec("Canary", "flagger.app", "canaries", ("v1beta1",), Canary, "", "canary"),
    KindSpec("ModuleConfig", DECKHOUSE, "moduleconfigs", _A, ModuleConfig, "", "module-config", namespaced=False),
    KindSpec("Module", DECKHOUSE, "modules", _A, Module, "", "module", namespaced=False),
    KindSpec("NodeGroup", DECKHOUSE, "nodegroups", ("v1", "v1alpha2"), NodeGroup, "", "node-group", namespaced=False),
    KindSpec("IngressNginxController", DECKHOUSE, "ingressnginxcontrollers", _V[:1], namespaced=False),
    KindSpec("Application", "argoproj.io", "applications", _A, Application, "", "argo"),
    KindSpec("Certificate", CERTIFICATES, "certificates", ("v1",)),
    KindSpec("Issuer", CERTIFICATES, "issuers", ("v1",)),
    KindSpec("ClusterIssuer", CERTIFICATES, "clusterissuers", ("v1",), namespaced=False),
    KindSpec("ExternalSecret", SECRETS, "externalsecrets", ("v1", "v1beta1")),
    KindSpec("SecretStore", SECRETS, "secretstores", ("v1", "v1beta1")),
    KindSpec("ClusterSecretStore", SECRETS, "clustersecretstores", ("v1", "v1beta1"), namespaced=False),
    KindSpec("Cluster", CLUSTERS, "clusters", ("v1beta2", "v1beta1")),
    KindSpec("MachineDeployment", CLUSTERS, "machinedeployments", ("v1beta2", "v1beta1")),
    KindSpec("Deployment", "apps", "deployments", ("v1",), Deployment, "", "deployment"),
)  # fmt: skip

KINDS: dict[str, KindSpec] = {spec.kind: spec for spec in _SPECS}
"""Every kind that has a rule. Adding one: a struct in `structs/` when conditions do not suffice, and a row here."""

FLUX_KINDS = frozenset(kind for kind, spec in KINDS.items() if spec.group.endswith(".fluxcd.io"))
LEASE = KindSpec("Lease", "coordination.k8s.io", "leases", ("v1",), Lease, rule="static")


class Unreadable(Struct, frozen=True):
    """An object that is there but whose document is odd; `field` is the path that could not be read."""

    ref: ObjectRef
    field: str
    problem: str
    api_version: str = ""


class ObjectList(Struct, frozen=True):
    """`resource_version` moves with any write in the cluster: never compare it."""

    items: list[Resource | Unreadable]
    api_version: str = ""
    resource_version: str = ""
    continue_token: str = ""


class NotAList(ValueError):
    """The body is no Kubernetes list of that kind; the message says what it is instead."""


class _ListMeta(Struct, rename="camel"):
    resource_version: str | None = None
    continue_: str | None = msgspec.field(default=None, name="continue")


class _RawList(Struct, rename="camel"):
    kind: str | None = None
    api_version: str | None = None
    metadata: _ListMeta | None = None
    items: list[msgspec.Raw] | None = None


@cache
def _list_decoder(struct: type[Resource]) -> msgspec.json.Decoder[_RawList]:
    fields = [
        ("kind", str | None, None),
        ("api_version", str | None, None),
        ("metadata", _ListMeta | None, None),
        ("items", list[struct] | None, None),  # type: ignore[valid-type]
    ]
    return msgspec.json.Decoder(msgspec.defstruct("TypedList", fields, rename="camel"))


@cache
def _item_decoder(struct: type[Resource]) -> msgspec.json.Decoder[Resource]:
    return msgspec.json.Decoder(struct)


_raw_list = msgspec.json.Decoder(_RawList)


def decode_list(kind: str, raw: bytes) -> ObjectList:
    """A Kubernetes list of one kind. Raises NotAList when it is none; odd items become Unreadable.

    One typed pass over the bytes; only a list that holds an odd item is read a second time, item by item.
    """
    spec = KINDS.get(kind) or (LEASE if kind == "Lease" else KindSpec(kind, "", "", ()))
    items: Sequence[Resource | Unreadable]
    try:
        page = _list_decoder(spec.struct).decode(raw)
        items = page.items or ()  # type: ignore[assignment]
    except (msgspec.ValidationError, UnicodeDecodeError):
        page = _decode_page(kind, raw)
        items = [_read_item(spec, item, number) for number, item in enumerate(page.items or ())]
    except msgspec.DecodeError as error:
        raise NotAList(f"the answer for {kind} is not JSON: {error}") from error
    if page.items is None or (page.kind or "") not in {f"{kind}List", "List"}:
        raise NotAList(f"the answer for {kind} is {_described(page.kind)}")
    items = [_with_kind(item, spec) for item in items] if spec.struct is GenericResource else list(items)
    metadata = page.metadata or _ListMeta()
    return ObjectList(items, page.api_version or "", metadata.resource_version or "", metadata.continue_ or "")


def _described(kind: str | None) -> str:
    return f"a {kind[:80]}" if kind else "no Kubernetes object"


def _decode_page(kind: str, raw: bytes) -> _RawList:
    try:
        return _raw_list.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise NotAList(f"the answer for {kind} is no list: {error}") from error


def _read_item(spec: KindSpec, raw: msgspec.Raw, number: int) -> Resource | Unreadable:
    try:
        return _item_decoder(spec.struct).decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return _unreadable(spec.kind, _plain(raw), error, number=number)


def _plain(raw: msgspec.Raw) -> object:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _with_kind(item: Resource | Unreadable, spec: KindSpec) -> Resource | Unreadable:
    """Built-in kinds, and some servers for all, leave `kind` out of the items of a list."""
    if isinstance(item, GenericResource) and item.document_kind != spec.kind:
        return msgspec.structs.replace(item, document_kind=spec.kind)
    return item


def decode_object(document: Mapping[str, object], *, number: int = 0) -> Resource | Unreadable:
    """One document by its own `apiVersion` and `kind`; a kind without a rule of its own is read by its conditions.

    `number` keeps nameless documents of one input apart.
    """
    kind, api_version = _text(document.get("kind")) or "Object", _text(document.get("apiVersion"))
    struct = spec_of(kind, api_version).struct
    try:
        return msgspec.convert(document, struct)
    except msgspec.ValidationError as error:
        return _unreadable(kind, document, error, number=number)


def spec_of(kind: str, api_version: str | None) -> KindSpec:
    """The row of a document; one of another group that happens to share the kind's name is read generically."""
    if kind == "Lease" and LEASE.serves(api_version or ""):
        return LEASE
    spec = KINDS.get(kind)
    if spec and (not api_version or spec.serves(api_version)):
        return spec
    group, _, version = (api_version or "").rpartition("/")
    return KindSpec(kind, group, "", (version,) if version else ())


_AT = re.compile(r" - at `\$\.?(?P<path>.*?)`$")
_MISSING = re.compile(r"missing required field `(?P<name>\w+)`")


def _unreadable(kind: str, document: object, error: Exception, *, number: int = 0) -> Unreadable:
    names = document if isinstance(document, Mapping) else {}
    problem, path = str(error), []
    if at := _AT.search(problem):
        path.append(at["path"])
    if missing := _MISSING.search(problem):
        path.append(missing["name"])
    ref = _ref_of(kind, names, number)
    return Unreadable(ref, ".".join(path), _AT.sub("", problem), _text(names.get("apiVersion")) or "")


def _ref_of(kind: str, document: Mapping[str, object], number: int) -> ObjectRef:
    """The identity as far as it can be read; the number keeps nameless objects of one list apart."""
    metadata = document.get("metadata")
    names = metadata if isinstance(metadata, Mapping) else {}
    return ObjectRef(kind, _text(names.get("namespace")) or "", _text(names.get("name")) or f"(item {number})")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
