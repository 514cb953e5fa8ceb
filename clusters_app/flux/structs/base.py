"""What all documents share, and the kinds of Kubernetes itself that are read: Deployments and Leases."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta, Struct, field

from ..identity import ObjectRef


class Document(Struct, frozen=True, rename="camel"):
    """How every document is read: values, and names as JSON spells them."""


class Annotations(Document, frozen=True):
    """The annotations that matter; the last applied configuration, which repeats the whole object, is not read."""

    requested_at: str | None = field(default=None, name="reconcile.fluxcd.io/requestedAt")
    reconcile: str | None = field(default=None, name="kustomize.toolkit.fluxcd.io/reconcile")


class Owned(Document, frozen=True):
    """`{}`: the field is owned."""


class OwnedSpec(Document, frozen=True):
    suspend: Owned | None = field(default=None, name="f:suspend")


class OwnedFields(Document, frozen=True):
    spec: OwnedSpec | None = field(default=None, name="f:spec")


class ManagedField(Document, frozen=True):
    """Who wrote what when; of all fields only whether `spec.suspend` is among them is read."""

    manager: str | None = None
    time: str | None = None
    fields: OwnedFields | None = field(default=None, name="fieldsV1")

    @property
    def is_suspension(self) -> bool:
        return bool(self.fields and self.fields.spec and self.fields.spec.suspend is not None)


class Metadata(Document, frozen=True):
    name: Annotated[str, Meta(min_length=1)]
    namespace: str | None = None
    uid: str | None = None
    generation: int | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    finalizers: tuple[str, ...] | None = None
    labels: dict[str, str | None] | None = None
    annotations: Annotations | None = None
    managed_fields: tuple[ManagedField, ...] | None = None


class Condition(Document, frozen=True):
    type: str | None = None
    status: str | None = None
    reason: str | None = None
    message: str | None = None
    observed_generation: int | None = None
    last_transition_time: str | None = None


class Artifact(Document, frozen=True):
    revision: str | None = None
    digest: str | None = None
    last_update_time: str | None = None
    metadata: dict[str, str | None] | None = None


class Reference(Document, frozen=True):
    """A reference to another object; an absent namespace is the referrer's own, an absent kind the field's default."""

    name: str | None = None
    kind: str | None = None
    namespace: str | None = None


class Spec(Document, frozen=True):
    suspend: bool | None = None
    interval: str | None = None
    timeout: str | None = None


class Status(Document, frozen=True):
    conditions: tuple[Condition, ...] | None = None
    observed_generation: int | None = None
    last_handled_reconcile_at: str | None = None


class Resource(Document, frozen=True):
    """What every observed object has. `ref` is its identity; the struct of each kind adds its own spec and status."""

    KIND: ClassVar[str] = ""

    metadata: Metadata
    api_version: str | None = None

    @property
    def kind(self) -> str:
        return self.KIND

    @property
    def ref(self) -> ObjectRef:
        metadata = self.metadata
        return ObjectRef(self.KIND or self.kind, metadata.namespace or "", metadata.name)


class Container(Document, frozen=True):
    name: str | None = None
    image: str | None = None
    args: tuple[str, ...] | None = None


class PodSpec(Document, frozen=True):
    containers: tuple[Container, ...] | None = None


class PodTemplate(Document, frozen=True):
    spec: PodSpec | None = None


class DeploymentSpec(Document, frozen=True):
    replicas: int | None = None
    template: PodTemplate | None = None


class Deployment(Resource, frozen=True):
    """The controllers themselves, and Flux v1, which is a Deployment and nothing else."""

    KIND = "Deployment"

    spec: DeploymentSpec | None = None
    status: Status | None = None


class LeaseSpec(Document, frozen=True):
    holder_identity: str | None = None
    renew_time: str | None = None
    lease_duration_seconds: int | None = None


class Lease(Resource, frozen=True):
    KIND = "Lease"

    spec: LeaseSpec | None = None
