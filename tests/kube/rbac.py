"""What a manifest grants, evaluated as the API server evaluates RBAC: for the table of all verbs and resources."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import yaml

type Document = dict[str, Any]

VERBS = (
    "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection",
    "impersonate", "bind", "escalate", "approve", "sign", "use", "proxy",
)  # fmt: skip


class Access(NamedTuple):
    verb: str
    group: str
    resource: str
    namespace: str
    name: str = ""


@cache
def documents(manifest: str) -> tuple[Document, ...]:
    return tuple(yaml.safe_load_all(manifest))


def of_kind(manifest: str, kind: str) -> list[Document]:
    return [document for document in documents(manifest) if document["kind"] == kind]


def allows(manifest: str, access: Access) -> bool:
    """Whether the manifest's account has this access; its roles are bound to nobody else."""
    return any(
        _matches(rule, access)
        for kind in ("ClusterRole", "Role")
        for role in of_kind(manifest, kind)
        if kind == "ClusterRole" or role["metadata"]["namespace"] == access.namespace
        for rule in role["rules"]
    )


def _matches(rule: Mapping[str, Any], access: Access) -> bool:
    return (
        _has(rule["verbs"], access.verb)
        and _has(rule["apiGroups"], access.group)
        and _has(rule["resources"], access.resource)
        and (not rule.get("resourceNames") or access.name in rule["resourceNames"])
    )


def _has(values: list[str], value: str) -> bool:
    return "*" in values or value in values


def table(resources: Mapping[str, tuple[str, ...]], namespaces: tuple[str, ...]) -> Iterator[Access]:
    """Every verb on every resource in every namespace ("" stands for the cluster as a whole)."""
    for group, plurals in resources.items():
        for plural in plurals:
            for verb in VERBS:
                for namespace in namespaces:
                    yield Access(verb, group, plural, namespace)
