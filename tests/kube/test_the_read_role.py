"""The generated role, by its whole table of verbs and resources: what it grants is listed here, all else is denied."""

from clusters_app.flux.resources import KINDS
from clusters_app.kube.kinds import STANDARD_GROUPS, STANDARD_KINDS, with_extra
from clusters_app.kube.manifest import ACCOUNT, NAMESPACE, ROLE_VERSION, read_role_manifest, token_command
from tests.kube.rbac import Access, allows, documents, of_kind, table

#: What a cluster has beside Flux: built-in resources with their subresources, and some of other products.
BUILT_IN: dict[str, tuple[str, ...]] = {
    "": (
        "bindings", "configmaps", "endpoints", "events", "limitranges", "namespaces", "namespaces/finalize",
        "namespaces/status", "nodes", "nodes/proxy", "nodes/status", "persistentvolumeclaims", "persistentvolumes",
        "pods", "pods/attach", "pods/binding", "pods/eviction", "pods/exec", "pods/log", "pods/portforward",
        "pods/proxy", "pods/status", "podtemplates", "replicationcontrollers", "resourcequotas", "secrets",
        "serviceaccounts", "serviceaccounts/token", "services", "services/proxy", "users", "groups", "*",
    ),
    "apps": ("controllerrevisions", "daemonsets", "deployments", "deployments/scale", "replicasets", "*"),
    "batch": ("cronjobs", "jobs"),
    "authentication.k8s.io": ("tokenreviews", "userextras/scopes"),
    "certificates.k8s.io": ("certificatesigningrequests", "certificatesigningrequests/approval", "signers"),
    "coordination.k8s.io": ("leases",),
    "events.k8s.io": ("events",),
    "rbac.authorization.k8s.io": ("clusterroles", "clusterrolebindings", "roles", "rolebindings"),
    "apiextensions.k8s.io": ("customresourcedefinitions",),
    "admissionregistration.k8s.io": ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"),
    "cert-manager.io": ("certificates", "issuers"),
    "*": ("*",),
}  # fmt: skip
FLUX = {
    group: tuple(
        plural + sub
        for spec in KINDS.values()
        if spec.group == group
        for plural in (spec.plural,)
        for sub in ("", "/status", "/finalizers")
    )
    for group in STANDARD_GROUPS
}
NAMESPACES = ("", "flux-system", "kube-system", "default", NAMESPACE)


def expected(access: Access) -> bool:
    """The whole of what is granted, as a person would say it."""
    if (access.group, access.resource) in {(spec.group, spec.plural) for spec in STANDARD_KINDS.values()}:
        return access.verb in {"get", "list", "watch"}
    if (access.group, access.resource) in {("apps", "deployments"), ("coordination.k8s.io", "leases")}:
        return access.namespace == "flux-system" and access.verb in {"get", "list"}
    return False


def test_the_whole_table_of_verbs_and_resources() -> None:
    manifest = read_role_manifest()
    cells = list(table(BUILT_IN | FLUX, NAMESPACES))
    assert len(cells) > 5000
    wrong = [access for access in cells if allows(manifest, access) != expected(access)]
    assert wrong == []
    assert {access.resource for access in cells if expected(access)} >= {"kustomizations", "canaries", "leases"}


def test_of_the_namespaces_only_the_identity_can_be_read() -> None:
    manifest = read_role_manifest()
    assert allows(manifest, Access("get", "", "namespaces", "", "kube-system"))
    assert not allows(manifest, Access("get", "", "namespaces", "", "default"))
    assert not allows(manifest, Access("list", "", "namespaces", "", "kube-system"))


def test_nothing_is_granted_by_a_wildcard_or_by_aggregation() -> None:
    for kind in ("ClusterRole", "Role"):
        for role in of_kind(read_role_manifest(), kind):
            assert "aggregationRule" not in role
            assert not any("aggregate-to" in label for label in role["metadata"]["labels"])
            for rule in role["rules"]:
                assert "*" not in [*rule["verbs"], *rule["apiGroups"], *rule["resources"]]
                assert "nonResourceURLs" not in rule


def test_it_is_bound_to_its_own_account_alone() -> None:
    manifest = read_role_manifest()
    bindings = of_kind(manifest, "ClusterRoleBinding") + of_kind(manifest, "RoleBinding")
    assert len(bindings) == 2
    for binding in bindings:
        assert binding["subjects"] == [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}]
        assert binding["roleRef"]["name"] == ACCOUNT


def test_every_object_carries_the_version_of_the_role() -> None:
    for document in documents(read_role_manifest(has_token_secret=True)):
        assert document["metadata"]["labels"]["flotilla/read-role-version"] == str(ROLE_VERSION)


def test_a_token_that_never_ends_is_made_on_request_alone() -> None:
    assert not of_kind(read_role_manifest(), "Secret")
    (secret,) = of_kind(read_role_manifest(has_token_secret=True), "Secret")
    assert secret["type"] == "kubernetes.io/service-account-token"
    assert secret["metadata"]["annotations"] == {"kubernetes.io/service-account.name": ACCOUNT}
    assert "data" not in secret
    assert token_command() == f"kubectl create token {ACCOUNT} --namespace {NAMESPACE} --duration 720h"


def test_flux_may_live_in_another_namespace() -> None:
    manifest = read_role_manifest(flux_namespace="gitops")
    assert allows(manifest, Access("list", "apps", "deployments", "gitops"))
    assert not allows(manifest, Access("list", "apps", "deployments", "flux-system"))


def test_a_catalogue_adds_its_kinds_and_no_more() -> None:
    manifest = read_role_manifest(kinds=with_extra(["Certificate"]))
    assert allows(manifest, Access("list", "cert-manager.io", "certificates", ""))
    assert not allows(manifest, Access("list", "cert-manager.io", "issuers", ""))
    assert not allows(read_role_manifest(), Access("list", "cert-manager.io", "certificates", ""))


def test_it_is_the_same_every_time() -> None:
    assert read_role_manifest() == read_role_manifest()
