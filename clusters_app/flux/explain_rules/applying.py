"""Messages of the apply step and of health checks: what the API server or the objects themselves said."""

from __future__ import annotations

import re

from ..case import Case
from .rule import APPLIERS, DOCS, KUSTOMIZATION, _, rule

_BUILT_IN = frozenset({"apps", "batch", "policy", "autoscaling", "extensions", "core"})
_BUILT_IN_DOTTED = frozenset(
    f"{name}.k8s.io"
    for name in [
        "admissionregistration",
        "apiextensions",
        "apiregistration",
        "authentication",
        "authorization",
        "certificates",
        "coordination",
        "discovery",
        "events",
        "flowcontrol.apiserver",
        "networking",
        "node",
        "rbac.authorization",
        "resource",
        "scheduling",
        "storage",
        "internal.apiserver",
    ]
)


def _is_served_group(case: Case, match: re.Match[str]) -> bool:
    """The group is there (built in, Flux's own, or seen in this cluster), so it is the version that is gone."""
    group, _, _ = match["version"].rpartition("/")
    if not group or group in _BUILT_IN or group in _BUILT_IN_DOTTED:
        return True
    known = {
        item.api_version.rpartition("/")[0]
        for ref, item in case.objects.items()
        if item.api_version and ref.kind == match["kind_name"]
    }
    return group in known


def _is_remote(case: Case, _: re.Match[str]) -> bool:
    """It applies to another cluster, and is past what it fetches in its own."""
    if case.verdict.reason in {"ArtifactFailed", "SourceNotReady", "DependencyNotReady"}:
        return False
    return getattr(getattr(case.resource, "spec", None), "kube_config", None) is not None


_FORBIDDEN = (
    r'(?<![\w.])(?P<object>[\w.]{1,253} "[^"]*") is forbidden: User "(?P<user>[^"]+)" cannot (?P<verb>\w+)'
    r' resource "(?P<resource>[^"]+)" in API group "(?P<group>[^"]*)"'
    r'(?: (?:in the namespace "(?P<namespace>[^"]*)"|at the cluster scope))?'
)

RULES = (
    rule(
        "workload-stuck",
        (r'ReplicaSet "(?P<set>[^"]+)" has timed out progressing', r"does not have minimum availability"),
        _("The new pods of {me} do not become ready, and it has given up waiting for them."),
        _(
            "Look at its pods and their events: an image that cannot be pulled, a selector that no node fits or a "
            "failing probe are the usual reasons."
        ),
        "{describe}",
        "https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#failed-deployment",
        kinds={"Deployment"},
    ),
    rule(
        "kubeconfig-missing",
        (
            r"(?:unable to read|could not get) KubeConfig secret '(?P<missing>[^']+)'",
            r"KubeConfig secret '(?P<missing>[^']+)' (?:doesn't|does not) contain",
        ),
        _("{me} applies to another cluster, and the Secret with its kubeconfig ({missing}) cannot be used."),
        _("Create the Secret with the key value (or value.yaml) that holds a kubeconfig, or correct spec.kubeConfig."),
        "kubectl -n {ns} get secret",
        f"{KUSTOMIZATION}#kubeconfig-remote-clusters",
    ),
    rule(
        "webhook-unreachable",
        (
            r'failed calling webhook "(?P<webhook>[^"]+)"',
            r"failed to call webhook",
        ),
        _("The API server has to ask the admission webhook {webhook} and cannot reach it: {first_line}"),
        _("Repair the webhook's Deployment or Service; if it is gone for good, delete its WebhookConfiguration."),
        "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations",
        "https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/",
        kinds=APPLIERS,
    ),
    rule(
        "admission-denied",
        (
            r'admission webhook "(?P<webhook>[^"]+)" denied the request:?\s*(?P<why>[^\n]*)',
            r"ValidatingAdmissionPolicy '(?P<webhook>[^']+)'.*denied request:?\s*(?P<why>[^\n]*)",
            r'violates PodSecurity (?P<webhook>"[^"]+")',
        ),
        _("A policy of the cluster ({webhook}) does not allow an object: {why}"),
        _("Change the manifest so that it obeys the policy, or ask the policy's owner for an exception."),
        "{reconcile}",
        "https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/",
    ),
    rule(
        "quota-exceeded",
        (
            (
                r"exceeded quota: (?P<quota>[^,]+), requested: (?P<requested>.+?), used: (?P<used>.+?),"
                r" limited: (?P<limit>\S+)"
            ),
            r"exceeded quota",
            r"forbidden: maximum \w+ usage per",
        ),
        _("The quota {quota} of the namespace is used up: asked for {requested}, used {used}, limit {limit}."),
        _("Raise the quota, or free some of it."),
        "kubectl describe resourcequota -A",
        "https://kubernetes.io/docs/concepts/policy/resource-quotas/",
    ),
    rule(
        "prune-forbidden",
        _FORBIDDEN,
        _("What is no longer in Git cannot be deleted: {user} may not {verb} {resource} in {namespace}."),
        _("Allow {user} to {verb} {resource} in {namespace}. The new revision itself is applied already."),
        "kubectl auth can-i {verb} {resource} -n {namespace} --as={user}",
        f"{KUSTOMIZATION}#role-based-access-control",
        reasons={"PruneFailed"},
    ),
    rule(
        "rbac-forbidden",
        _FORBIDDEN,
        _("{user} may not {verb} {resource} in {namespace}, and {me} acts as it."),
        _("Give that account a Role with {verb} on {resource}, or name another one in spec.serviceAccountName."),
        "kubectl auth can-i {verb} {resource} -n {namespace} --as={user}",
        f"{KUSTOMIZATION}#role-based-access-control",
    ),
    rule(
        "service-account-missing",
        (
            r'serviceaccounts? "(?P<account_name>[^"]+)" not found',
            r"error looking up service account (?P<account_name>\S+):",
        ),
        _("{me} acts as the service account {account_name}, which does not exist."),
        _("Create it in namespace {ns}, or correct spec.serviceAccountName."),
        "kubectl -n {ns} get serviceaccount",
        f"{KUSTOMIZATION}#role-based-access-control",
    ),
    rule(
        "rbac-forbidden",
        (
            r"\(Forbidden\)",
            r"is forbidden: ",
        ),
        _("The API server forbids it: {first_line}"),
        _("See which account {me} acts as ({account}) and what it may do."),
        "kubectl auth can-i --list --as=system:serviceaccount:{account}",
        f"{KUSTOMIZATION}#role-based-access-control",
    ),
    rule(
        "namespace-not-found",
        r'namespaces "(?P<namespace>[^"]+)" not found',
        _("Objects go into namespace {namespace}, which does not exist."),
        _(
            "Put the Namespace into the same manifests (Flux applies namespaces first), or depend on what creates "
            "it. For a HelmRelease set spec.install.createNamespace."
        ),
        "kubectl create namespace {namespace}",
    ),
    rule(
        "api-version-not-served",
        r'no matches for kind "(?P<kind_name>[^"]+)" in version "(?P<version>[^"]+)"',
        _("This cluster no longer serves {kind_name} as {version}."),
        _("Change apiVersion of the manifest to one that the cluster serves."),
        "kubectl api-resources | grep -w {kind_name}",
        "https://kubernetes.io/docs/reference/using-api/deprecation-guide/",
        when=_is_served_group,
    ),
    rule(
        "no-matches-for-kind",
        r'no matches for kind "(?P<kind_name>[^"]+)" in version "(?P<version>[^"]+)"',
        _("The cluster does not know the kind {kind_name} ({version}): its CRD is not installed, or not yet."),
        _("Install the CRD first: put it into a Kustomization of its own and name that in spec.dependsOn of {me}."),
        "kubectl get crd | grep -i {kind_name}",
        f"{KUSTOMIZATION}#dependencies",
    ),
    rule(
        "api-version-not-served",
        r"the server could not find the requested resource",
        _("The cluster does not serve an API that the manifests use."),
        _("Compare apiVersion of the manifests with what the cluster serves."),
        "kubectl api-versions",
        "https://kubernetes.io/docs/reference/using-api/deprecation-guide/",
        kinds=APPLIERS,
    ),
    rule(
        "immutable-field",
        (
            (
                r'(?<![\w.])(?P<object>[\w.]{1,253} "[^"]*") is invalid:'
                r" (?P<field>[\w.\[\]/]+): .*(?:field is immutable|may"
                r" not (?:be )?change)"
            ),
            r"field is immutable",
            r"may not change once set",
            r"updates to statefulset spec for fields other than",
            r"is immutable after creation",
            r"cannot change roleRef",
        ),
        _("{object} exists, and its field {field} cannot be changed."),
        _(
            "Delete the object and let it be created again, or set spec.force (annotation "
            "kustomize.toolkit.fluxcd.io/force: enabled on the object) for this change."
        ),
        "{reconcile}",
        f"{KUSTOMIZATION}#force",
    ),
    rule(
        "invalid-field",
        (
            r"(?<![\w.\[\]\-])(?P<field>[\w.\[\]\-]{1,253}): field not declared in schema",
            r'unknown field "(?P<field>[^"]+)"',
            r"strict decoding error",
        ),
        _("A manifest has the field {field}, which its kind does not know: {first_line}"),
        _("Correct the spelling or the indentation of that field, or apiVersion."),
        "{reconcile}",
        f"{DOCS}/faq/",
    ),
    rule(
        "ownership-conflict",
        (
            r'\b(?P<object>\w{1,80} "[^"]+" in namespace "[^"]*") exists and cannot be imported',
            r"invalid ownership metadata",
            r'Apply failed with \d+ conflicts?:? (?:conflicts? with "(?P<manager>[^"]+)")?',
        ),
        _("{object} exists already and belongs to somebody else {manager}."),
        _(
            "Delete the object, give it another name, or let the release adopt it (label "
            "app.kubernetes.io/managed-by: Helm and the annotations meta.helm.sh/release-name and -namespace)."
        ),
        "{reconcile}",
    ),
    rule(
        "invalid-object",
        (
            r'(?<![\w.])(?P<object>[\w.]{1,253} "[^"]*") is invalid: (?P<why>[^\n]+)',
            r"failed to create typed patch object \((?P<object>[^)]+)\)",
            r"admission webhook .* is invalid",
            r"error validating data: (?P<why>[^\n]+)",
            r"\(Invalid\)",
            r"\(BadRequest\)",
        ),
        _("The API server refuses {object}: {why}"),
        _("Correct that field in the manifest or the chart's values, and push."),
        "{reconcile}",
    ),
    rule(
        "health-check-failed",
        r"failed early due to stalled resources: \[(?P<objects>.*)\]",
        _("It was applied, but this has failed: {objects}"),
        _("Look at that object's pods and events; correct it and push."),
        "kubectl describe {first_unhealthy}",
        f"{KUSTOMIZATION}#health-checks",
    ),
    rule(
        "health-check-timeout",
        (
            r"timeout waiting for: \[(?P<objects>.*)\]",
            r"timed out waiting for the condition",
            # The deadline came between two looks, so that no object is named.
            r"health check failed after \S+: client rate limiter Wait returned an error",
            r"resource (?P<objects>\S+) not ready",
        ),
        _("It was applied, but this did not become healthy in time: {objects}"),
        _(
            "Look at that object's pods and events: an image that cannot be pulled, a node selector that nothing "
            "fits or a failing probe are the usual reasons. An object that is NotFound is only named in "
            "spec.healthChecks."
        ),
        "kubectl describe {first_unhealthy}",
        f"{KUSTOMIZATION}#health-checks",
    ),
    rule(
        "remote-cluster-unreachable",
        (
            r"connection refused",
            r"no such host",
            r"i/o timeout|Client\.Timeout|unexpected EOF|server misbehaving",
            r"context deadline exceeded",
            r"no route to host",
            r"x509: ",
            r"Unauthorized",
            r"failed to create (?:a )?(?:kube|client|REST mapper|mapper)",
        ),
        _("{me} applies to another cluster through spec.kubeConfig, and that cluster cannot be reached: {first_line}"),
        _("See whether its API server is up and whether the kubeconfig's address, authority and token are still good."),
        "kubectl -n {ns} get secret",
        f"{KUSTOMIZATION}#kubeconfig-remote-clusters",
        kinds=APPLIERS,
        when=_is_remote,
    ),
)
