"""Messages of the apply step and of health checks: what the API server or the objects themselves said."""

from __future__ import annotations

import re

from ..case import Case
from .rule import APPLIERS, DOCS, KUSTOMIZATION, rule

_BUILT_IN = frozenset({"apps", "batch", "policy", "autoscaling", "extensions", "core"})
_BUILT_IN_DOTTED = frozenset(
    f"{name}.k8s.io"
    for name in (
        "admissionregistration apiextensions apiregistration authentication authorization certificates coordination discovery events "
        "flowcontrol.apiserver networking node rbac.authorization resource scheduling storage internal.apiserver"
    ).split()
)


def _is_served_group(case: Case, match: re.Match[str]) -> bool:
    """The group is there (built in, Flux's own, or seen in this cluster), so it is the version that is gone."""
    group, _, _ = match["version"].rpartition("/")
    if not group or group in _BUILT_IN or group in _BUILT_IN_DOTTED:
        return True
    known = {item.api_version.rpartition("/")[0] for ref, item in case.objects.items() if item.api_version and ref.kind == match["kind_name"]}
    return group in known


def _has_kubeconfig(case: Case, _: re.Match[str]) -> bool:
    return getattr(getattr(case.resource, "spec", None), "kube_config", None) is not None


_FORBIDDEN = (
    r"(?P<object>[\w.]+ \"[^\"]*\") is forbidden: User \"(?P<user>[^\"]+)\" cannot (?P<verb>\w+) resource \"(?P<resource>[^\"]+)\""
    r" in API group \"(?P<group>[^\"]*)\"(?: (?:in the namespace \"(?P<namespace>[^\"]*)\"|at the cluster scope))?"
)

RULES = (
    rule(
        "kubeconfig-missing",
        r"unable to read KubeConfig secret '(?P<missing>[^']+)'|KubeConfig secret '(?P<empty>[^']+)' (?:doesn't|does not) contain",
        "{me} applies to another cluster, and the Secret with its kubeconfig ({missing}{empty}) cannot be used.",
        "Create the Secret with the key value (or value.yaml) that holds a kubeconfig, or correct spec.kubeConfig.",
        "kubectl -n {ns} get secret",
        f"{KUSTOMIZATION}#kubeconfig-remote-clusters",
    ),
    rule(
        "webhook-unreachable",
        r"failed calling webhook \"(?P<webhook>[^\"]+)\"|failed to call webhook",
        "The API server has to ask the admission webhook {webhook} and cannot reach it: {first_line}",
        "Repair the webhook's Deployment or Service; if it is gone for good, delete its WebhookConfiguration.",
        "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations",
        "https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/",
        kinds=APPLIERS,
    ),
    rule(
        "admission-denied",
        r"admission webhook \"(?P<webhook>[^\"]+)\" denied the request:?\s*(?P<why>[^\n]*)|ValidatingAdmissionPolicy '(?P<policy>[^']+)'.*denied request:?\s*(?P<because>[^\n]*)"
        r"|violates PodSecurity (?P<level>\"[^\"]+\")",
        "A policy of the cluster ({webhook}{policy}{level}) does not allow an object: {why}{because}",
        "Change the manifest so that it obeys the policy, or ask the policy's owner for an exception.",
        "{reconcile}",
        "https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/",
    ),
    rule(
        "quota-exceeded",
        r"exceeded quota: (?P<quota>[^,]+), requested: (?P<requested>.+?), used: (?P<used>.+?), limited: (?P<limit>\S+)|exceeded quota|forbidden: maximum \w+ usage per",
        "The quota {quota} of the namespace is used up: asked for {requested}, used {used}, limit {limit}.",
        "Raise the quota, or free some of it.",
        "kubectl describe resourcequota -A",
        "https://kubernetes.io/docs/concepts/policy/resource-quotas/",
    ),
    rule(
        "prune-forbidden",
        _FORBIDDEN,
        "What is no longer in Git cannot be deleted: {user} may not {verb} {resource} in {namespace}.",
        "Allow {user} to {verb} {resource} in {namespace}. The new revision itself is applied already.",
        "kubectl auth can-i {verb} {resource} -n {namespace} --as={user}",
        f"{KUSTOMIZATION}#role-based-access-control",
        reasons={"PruneFailed"},
    ),
    rule(
        "rbac-forbidden",
        _FORBIDDEN,
        "{user} may not {verb} {resource} (API group {group}) in {namespace}, and {me} acts as it.",
        "Give that account a Role with {verb} on {resource}, or name another one in spec.serviceAccountName.",
        "kubectl auth can-i {verb} {resource} -n {namespace} --as={user}",
        f"{KUSTOMIZATION}#role-based-access-control",
    ),
    rule(
        "service-account-missing",
        r"serviceaccounts? \"(?P<account_name>[^\"]+)\" not found|error looking up service account (?P<looked_up>\S+):",
        "{me} acts as the service account {account_name}{looked_up}, which does not exist.",
        "Create it in namespace {ns}, or correct spec.serviceAccountName.",
        "kubectl -n {ns} get serviceaccount",
        f"{KUSTOMIZATION}#role-based-access-control",
    ),
    rule(
        "rbac-forbidden",
        r"\(Forbidden\)|is forbidden: ",
        "The API server forbids it: {first_line}",
        "See which account {me} acts as ({account}) and what it may do.",
        "kubectl auth can-i --list --as=system:serviceaccount:{account}",
        f"{KUSTOMIZATION}#role-based-access-control",
    ),
    rule(
        "namespace-not-found",
        r"namespaces \"(?P<namespace>[^\"]+)\" not found",
        "Objects go into namespace {namespace}, which does not exist.",
        "Put the Namespace into the same manifests (Flux applies namespaces first), or depend on what creates it. "
        "For a HelmRelease set spec.install.createNamespace.",
        "kubectl create namespace {namespace}",
    ),
    rule(
        "api-version-not-served",
        r"no matches for kind \"(?P<kind_name>[^\"]+)\" in version \"(?P<version>[^\"]+)\"",
        "This cluster no longer serves {kind_name} as {version}.",
        "Change apiVersion of the manifest to one that the cluster serves.",
        "kubectl api-resources | grep -w {kind_name}",
        "https://kubernetes.io/docs/reference/using-api/deprecation-guide/",
        when=_is_served_group,
    ),
    rule(
        "no-matches-for-kind",
        r"no matches for kind \"(?P<kind_name>[^\"]+)\" in version \"(?P<version>[^\"]+)\"",
        "The cluster does not know the kind {kind_name} ({version}): its CRD is not installed, or not yet.",
        "Install the CRD first: put it into a Kustomization of its own and name that in spec.dependsOn of {me}.",
        "kubectl get crd | grep -i {kind_name}",
        f"{KUSTOMIZATION}#dependencies",
    ),
    rule(
        "api-version-not-served",
        r"the server could not find the requested resource",
        "The cluster does not serve an API that the manifests use.",
        "Compare apiVersion of the manifests with what the cluster serves.",
        "kubectl api-versions",
        "https://kubernetes.io/docs/reference/using-api/deprecation-guide/",
        kinds=APPLIERS,
    ),
    rule(
        "immutable-field",
        r"(?P<object>[\w.]+ \"[^\"]*\") is invalid: (?P<field>[\w.\[\]/]+): .*(?:field is immutable|may not (?:be )?change)|field is immutable|may not change once set"
        r"|updates to statefulset spec for fields other than|is immutable after creation|cannot change roleRef",
        "{object} exists, and its field {field} cannot be changed.",
        "Delete the object and let it be created again, or set spec.force (annotation kustomize.toolkit.fluxcd.io/force: enabled on the object) for this change.",
        "{reconcile}",
        f"{KUSTOMIZATION}#force",
    ),
    rule(
        "invalid-field",
        r"(?P<field>\.?[\w.\[\]\-]+): field not declared in schema|unknown field \"(?P<unknown>[^\"]+)\"|strict decoding error",
        "A manifest has the field {field}{unknown}, which its kind does not know: {first_line}",
        "Correct the spelling or the indentation of that field, or apiVersion.",
        "{reconcile}",
        f"{DOCS}/faq/",
    ),
    rule(
        "ownership-conflict",
        r"(?P<object>\w+ \"[^\"]+\" in namespace \"[^\"]*\") exists and cannot be imported into the current release|invalid ownership metadata"
        r"|Apply failed with \d+ conflicts?:? (?:conflicts? with \"(?P<manager>[^\"]+)\")?",
        "{object} exists already and belongs to somebody else {manager}.",
        "Delete the object, give it another name, or let the release adopt it (label app.kubernetes.io/managed-by: Helm and the "
        "annotations meta.helm.sh/release-name and -namespace).",
        "{reconcile}",
    ),
    rule(
        "invalid-object",
        r"(?P<object>[\w.]+ \"[^\"]*\") is invalid: (?P<why>[^\n]+)|failed to create typed patch object \((?P<typed>[^)]+)\)|admission webhook .* is invalid"
        r"|error validating data: (?P<validation>[^\n]+)|\(Invalid\)|\(BadRequest\)",
        "The API server refuses {object}{typed}: {why}{validation}",
        "Correct that field in the manifest or the chart's values, and push.",
        "{reconcile}",
    ),
    rule(
        "health-check-failed",
        r"failed early due to stalled resources: \[(?P<objects>.*)\]",
        "It was applied, but this has failed: {objects}",
        "Look at that object's pods and events; correct it and push.",
        "kubectl describe {first_unhealthy}",
        f"{KUSTOMIZATION}#health-checks",
    ),
    rule(
        "health-check-timeout",
        r"timeout waiting for: \[(?P<objects>.*)\]|timed out waiting for the condition|resource (?P<waited>\S+) not ready",
        "It was applied, but this did not become healthy in time: {objects}{waited}",
        "Look at that object's pods and events: an image that cannot be pulled, a node selector that nothing fits or a failing probe are "
        "the usual reasons. An object that is NotFound is only named in spec.healthChecks.",
        "kubectl describe {first_unhealthy}",
        f"{KUSTOMIZATION}#health-checks",
    ),
    rule(
        "remote-cluster-unreachable",
        r"connection refused|no such host|i/o timeout|context deadline exceeded|no route to host|x509: |Unauthorized|failed to create (?:a )?(?:kube|client|REST mapper|mapper)",
        "{me} applies to another cluster through spec.kubeConfig, and that cluster cannot be reached: {first_line}",
        "See whether its API server is up and whether the kubeconfig's address, authority and token are still good.",
        "kubectl -n {ns} get secret",
        f"{KUSTOMIZATION}#kubeconfig-remote-clusters",
        kinds=APPLIERS,
        reasons={"ReconciliationFailed", "HealthCheckFailed", "PruneFailed", "InstallFailed", "UpgradeFailed", "BuildFailed", "RESTClientError"},
        when=_has_kubeconfig,
    ),
)
