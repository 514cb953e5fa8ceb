"""What a credential may do, judged from the cluster's own answers: enough to read Flux, and no more than to read.

Whoever holds a token that can write or read Secrets holds the cluster; Flotilla does not want to.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from clusters_app.flux.resources import KindSpec

_READING = {"get", "list", "watch"}
_SHELLS = {"pods/exec", "pods/attach", "pods/portforward", "pods/proxy", "services/proxy", "nodes/proxy"}
# Granted to everybody who is authenticated: asking about oneself, and the trust bundles of newer versions.
_ABOUT_ONESELF = {"selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"}
_HARMLESS_READS = {"clustertrustbundles"}


@dataclass(frozen=True, slots=True)
class Right:
    """One thing to be allowed. An empty namespace means all of them, or none for what has none."""

    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        where = f" in {self.namespace}" if self.namespace else ""
        return f"{self.verb} {resource}{where}"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as `SelfSubjectRulesReview` tells it."""

    verbs: tuple[str, ...]
    groups: tuple[str, ...]
    resources: tuple[str, ...]
    names: tuple[str, ...] = ()


def needed(kinds: Mapping[str, KindSpec], flux_namespace: str) -> tuple[Right, ...]:
    """What reading takes, kind by kind, then the identity, then the heartbeats."""
    return (
        *(Right("list", spec.group, spec.plural) for spec in kinds.values() if spec.kind != "Deployment"),
        Right("get", "", "namespaces", name="kube-system"),
        Right("list", "apps", "deployments", flux_namespace),
        Right("list", "coordination.k8s.io", "leases", flux_namespace),
    )


#: Asked one by one, since an authorizer beside RBAC need not list its rules. Each stands for a power.
PROBES: Mapping[Right, str] = {
    Right("get", "", "secrets"): "read Secrets",
    Right("list", "", "secrets"): "read Secrets",
    Right("create", "", "pods"): "write",
    Right("patch", "kustomize.toolkit.fluxcd.io", "kustomizations"): "write",
    Right("create", "rbac.authorization.k8s.io", "clusterrolebindings"): "write",
    Right("create", "", "serviceaccounts/token"): "write",
    Right("update", "*", "*"): "write",
    Right("impersonate", "", "users"): "impersonate others",
    Right("create", "", "pods/exec"): "run commands in pods",
    Right("get", "", "nodes/proxy"): "run commands in pods",
}


def powers(rules: Iterable[Rule]) -> tuple[str, ...]:
    """What these rules allow beyond reading harmless objects, in words; empty when nothing."""
    found = [power for rule in rules for power in _powers(rule)]
    return tuple(dict.fromkeys(found))


def extra_reads(rules: Iterable[Rule], kinds: Mapping[str, KindSpec]) -> tuple[str, ...]:
    """Resources that can be read though nobody needs them, as `resource.group`."""
    known = {(spec.group, spec.plural) for spec in kinds.values()}
    known |= {("", "namespaces"), ("apps", "deployments"), ("coordination.k8s.io", "leases")}
    return tuple(
        sorted(
            {
                f"{resource}.{group}" if group else resource
                for rule in rules
                if _READING & set(rule.verbs)
                for group in rule.groups
                for resource in rule.resources
                if (group, resource) not in known and resource not in _HARMLESS_READS
            }
        )
    )


def _powers(rule: Rule) -> Sequence[str]:
    verbs, resources = set(rule.verbs), set(rule.resources)
    everything = "*" in resources
    found: list[str] = []
    if resources & {"secrets", "*"} and verbs & (_READING | {"*"}) and {"", "*"} & set(rule.groups):
        found.append("read Secrets")
    if verbs - _READING - {"impersonate"} and not resources <= _ABOUT_ONESELF | _SHELLS:
        found.append("write")
    if verbs & {"impersonate", "*"} and not resources <= _ABOUT_ONESELF:
        found.append("impersonate others")
    if everything or resources & _SHELLS:
        found.append("run commands in pods")
    return found
