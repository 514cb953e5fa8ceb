# ruff: noqa: E501 – messages stand here whole, as Flux writes them
"""Messages of Flux, Helm, kustomize, Git, registries and Kubernetes, each with one that looks alike and is another."""

from typing import NamedTuple

KUBECONFIG: dict[str, object] = {"kubeConfig": {"secretRef": {"name": "remote"}}}
DECRYPTION = {"decryption": {"provider": "sops", "secretRef": {"name": "sops-age"}}}
CLONE = "failed to checkout and determine revision: unable to clone 'https://git.lab/platform/fleet.git': "
PULL = "failed to determine artifact digest: "
INSTALL = "Helm install failed for release shop/web with chart web@1.0.0: "


class Sample(NamedTuple):
    """A message and who says it with which reason; `miss` looks alike and is something else."""

    id: str
    kind: str
    reason: str
    message: str
    miss: str
    spec: dict[str, object] = {}


def git(id_: str, message: str, miss: str, reason: str = "GitOperationFailed") -> Sample:
    return Sample(id_, "GitRepository", reason, CLONE + message, CLONE + miss)


def oci(id_: str, message: str, miss: str, reason: str = "OCIArtifactPullFailed") -> Sample:
    return Sample(id_, "OCIRepository", reason, PULL + message, PULL + miss)


def helm(id_: str, message: str, miss: str, reason: str = "InstallFailed") -> Sample:
    return Sample(id_, "HelmRelease", reason, INSTALL + message, INSTALL + miss)


def build(id_: str, message: str, miss: str, **spec: object) -> Sample:
    return Sample(id_, "Kustomization", "BuildFailed", message, miss, spec)


def apply(
    id_: str,
    message: str,
    miss: str,
    reason: str = "ReconciliationFailed",
    spec: dict[str, object] | None = None,
) -> Sample:
    return Sample(id_, "Kustomization", reason, message, miss, spec or {})


SAMPLES = [
    # reaching a server
    git(
        "x509-unknown-authority",
        'Get "https://git.lab/info/refs": tls: failed to verify certificate: x509: certificate signed by unknown authority',
        "the authority of this certificate is unknown to nobody",
    ),
    oci(
        "x509-unknown-authority",
        'Get "https://registry.lab/v2/": tls: failed to verify certificate: x509: certificate signed by unknown authority',
        "GET https://registry.lab/v2/: the word x509 alone says nothing",
    ),
    git(
        "x509-expired",
        'Get "https://git.lab/info/refs": tls: failed to verify certificate: x509: certificate has expired or is not yet '
        "valid: current time 2026-11-30T16:55:24Z is after 2025-02-01T00:00:00Z",
        "the token has expired or is not yet valid",
    ),
    git(
        "x509-name-mismatch",
        'Get "https://git.lab/info/refs": tls: failed to verify certificate: x509: certificate is valid for proxy.lab, '
        "*.apps.lab, not git.lab",
        "the certificate is valid for ten more days",
    ),
    git(
        "x509-name-mismatch",
        "tls: failed to verify certificate: x509: cannot validate certificate for 10.0.0.7 because it doesn't contain any IP SANs",
        "cannot validate certificate",
    ),
    git("tls-handshake-failed", "remote error: tls: handshake failure", "the handshake went well"),
    git(
        "authentication-failed",
        "authentication required: Failed to authenticate user",
        "the author is required to sign",
    ),
    git(
        "authentication-failed",
        "ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey], no supported methods remain",
        "ssh: handshake failed",
    ),
    oci(
        "authentication-failed",
        "GET https://registry.lab/v2/app/manifests/v1: UNAUTHORIZED: authentication required",
        "GET https://registry.lab/v2/app/manifests/401: something else",
    )._replace(miss="GET https://registry.lab/v2/app/manifests/v401: something else"),
    oci("authentication-failed", "GET https://ghcr.lab/token: DENIED: denied", "GET https://ghcr.lab/denied: odd"),
    Sample(
        "authentication-failed",
        "Bucket",
        "BucketOperationFailed",
        "failed to confirm existence of 'manifests' bucket: The Access Key Id you provided does not exist in our records.",
        "failed to confirm existence of 'manifests' bucket: the access is slow",
    ),
    git(
        "ssh-host-key-mismatch",
        "ssh: handshake failed: knownhosts: key mismatch",
        "ssh: handshake failed: key exchange",
    ),
    git("ssh-host-key-mismatch", "ssh: handshake failed: knownhosts: key is unknown", "the key is unknown to us"),
    Sample(
        "ssh-identity-missing",
        "GitRepository",
        "AuthenticationFailed",
        "failed to configure authentication options: invalid 'ssh' auth option: 'identity' is required",
        "failed to configure authentication options: invalid 'ssh' auth option: 'identity' is malformed",
    ),
    git(
        "dns-failure",
        'Get "https://git.lab/info/refs": dial tcp: lookup git.lab on 10.96.0.10:53: no such host',
        "no such hostess",
    )._replace(miss=CLONE + "no such thing"),
    git("connection-refused", "dial tcp 10.0.0.7:443: connect: connection refused", "the offer was refused"),
    git("connection-refused", "dial tcp 10.0.0.7:443: connect: no route to host", "no route to market"),
    git(
        "forge-unavailable",
        'unexpected requesting "https://git.lab/info/refs?service=git-upload-pack" status code: 503',
        "unexpected client error: status code: 418",
    ),
    Sample(
        "forge-unavailable",
        "HelmRepository",
        "Failed",
        "failed to fetch Helm repository index: failed to fetch https://charts.lab/index.yaml : 502 Bad Gateway",
        "failed to fetch Helm repository index: failed to fetch https://charts.lab/502/index.yaml : no gateway",
    ),
    git(
        "timeout",
        'Get "https://git.lab/info/refs": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
        "the deadline of the context is near",
    ),
    oci(
        "rate-limited",
        "GET https://registry.lab/v2/: TOOMANYREQUESTS: You have reached your unauthenticated pull rate limit.",
        "GET https://registry.lab/v2/: too many layers",
    ),
    git("connection-lost", "unexpected EOF", "the file ends"),
    # Git
    git("repository-not-found", "repository not found: Repository not found", "repository found"),
    git("branch-not-found", 'couldn\'t find remote ref "refs/heads/release"', "couldn't find the remote"),
    git("tag-not-found", 'couldn\'t find remote ref "refs/tags/v9.9.9"', "refs/tags/v9.9.9 is ambiguous"),
    git(
        "commit-not-found",
        "unable to resolve commit object for '0123456789abcdef0123456789abcdef01234567': object not found",
        "unable to resolve commit object for '0123456789abcdef0123456789abcdef01234567': locked",
    ),
    Sample(
        "semver-no-match",
        "GitRepository",
        "GitOperationFailed",
        "failed to checkout and determine revision: no match found for semver: >=2.0.0",
        "failed to checkout and determine revision: semver 2.0.0 matched",
    ),
    Sample(
        "empty-repository", "GitRepository", "GitOperationFailed", "git repository is empty", "git repository is large"
    ),
    Sample(
        "secret-missing",
        "GitRepository",
        "AuthenticationFailed",
        "failed to get secret 'flux-system/git-auth': secrets \"git-auth\" not found",
        "failed to get secret 'flux-system/git-auth': the key username is empty",
    ),
    Sample(
        "secret-missing",
        "Receiver",
        "TokenNotFound",
        "unable to read token from secret 'flux-system/hook' error: secrets \"hook\" not found",
        "invalid 'flux-system/hook' secret data: required field 'token'",
    ),
    Sample(
        "signature-missing",
        "GitRepository",
        "InvalidCommitSignature",
        "signature verification of commit '060e9bd6' failed: unsupported signature type: empty",
        "signature verification of commit '060e9bd6' failed: unable to verify payload with any of the given key rings",
    ),
    Sample(
        "signature-missing",
        "OCIRepository",
        "VerificationError",
        "failed to verify the signature using provider 'cosign': no matching signatures were found for 'registry.lab/app@sha256:50'",
        "failed to verify the signature using provider 'cosign': invalid signature when validating ASN.1 encoded signature",
    ),
    Sample(
        "signature-unknown-key",
        "GitRepository",
        "InvalidCommitSignature",
        "signature verification of commit '060e9bd6' failed: unable to verify payload with any of the given key rings",
        "the signature of the commit is fine",
    ),
    # registries, buckets, charts
    oci(
        "repository-not-found",
        "GET https://registry.lab/v2/a/manifests/v1: NAME_UNKNOWN: Unknown name",
        "the name is unknown",
    ),
    oci(
        "tag-not-found",
        "GET https://registry.lab/v2/a/manifests/v9: MANIFEST_UNKNOWN: Unknown manifest",
        "the manifest is long",
    ),
    oci(
        "registry-unsupported",
        "GET https://registry.lab/v2/_catalog: UNSUPPORTED: The operation is unsupported.",
        "unsupported media",
    ),
    Sample(
        "layer-not-found",
        "OCIRepository",
        "OCIArtifactPullFailed",
        "failed to find layer with media type 'application/vnd.cncf.helm.chart.content.v1.tar+gzip' in artifact",
        "failed to read the layers",
    )._replace(miss="the artifact has 3 layers and 2 of them are fine"),
    Sample(
        "bucket-not-found",
        "Bucket",
        "BucketOperationFailed",
        "bucket 'manifests' not found",
        "bucket 'manifests' is in another region",
    ),
    Sample(
        "not-found",
        "HelmRepository",
        "Failed",
        "failed to fetch Helm repository index: failed to fetch https://charts.lab/index.yaml : 404 Not Found",
        "failed to fetch Helm repository index: failed to fetch https://charts.lab/index.yaml : 418 teapot",
    ),
    Sample(
        "not-a-helm-index",
        "HelmRepository",
        "IndexationFailed",
        "failed to load Helm repository from index YAML: failed to load index: error unmarshaling JSON: while decoding JSON: json: "
        "cannot unmarshal string into Go value of type repo.IndexFile",
        "the index is large",
    )._replace(reason="Failed"),
    Sample(
        "chart-not-found",
        "HelmChart",
        "InvalidChartReference",
        "invalid chart reference: failed to get chart version for remote reference: no chart name found",
        "invalid chart reference: failed to get chart version for remote reference: no 'web' chart with version matching '9' found",
    ),
    Sample(
        "chart-not-found",
        "HelmChart",
        "InvalidChartReference",
        "invalid chart reference: stat /tmp/helmchart-shop-web-2563042951/source/charts/web: no such file or directory",
        "chart pull error: stat /tmp/helmchart-shop-web-2563042951/source/charts/web: permission denied",
    ),
    Sample(
        "chart-not-found",
        "HelmChart",
        "ChartPullError",
        "chart pull error: could not fetch tags for chart: GET https://registry.lab/v2/web/tags/list: NAME_UNKNOWN",
        "chart pull error: could not unpack",
    ),
    Sample(
        "chart-version-not-found",
        "HelmChart",
        "InvalidChartReference",
        "invalid chart reference: failed to get chart version for remote reference: no 'web' chart with version matching '9.9.9' found",
        "invalid chart reference: failed to get chart version for remote reference: no chart name found",
    ),
    Sample(
        "chart-download-failed",
        "HelmChart",
        "ChartPullError",
        "chart pull error: failed to download chart for remote reference: failed to fetch https://charts.lab/web-1.2.0.tgz : 404 File "
        "not found",
        "chart pull error: failed to download chart for remote reference: dial tcp 10.0.0.7:443: connect: connection refused",
    ),
    # building
    Sample(
        "path-not-found",
        "Kustomization",
        "ArtifactFailed",
        "kustomization path not found: stat /tmp/kustomization-2908915705/app/typo: no such file or directory",
        "failed to untar artifact: stat /tmp/kustomization-2908915705: permission denied",
    ),
    Sample(
        "artifact-download-failed",
        "Kustomization",
        "ArtifactFailed",
        'failed to download archive: GET http://source-controller/a.tar.gz giving up after 3 attempt(s): Get "http://source-controller/a'
        '.tar.gz": dial tcp 10.0.0.7:80: connect: connection refused',
        "kustomization path not found: stat /tmp/kustomization-1/download: no such file or directory",
    ),
    Sample(
        "access-denied",
        "Kustomization",
        "AccessDenied",
        "can't access 'GitRepository/flux-system/fleet', cross-namespace references have been blocked",
        "can't access 'ExternalArtifact/flux-system/apps', ExternalArtifact feature gate is disabled",
    ),
    Sample(
        "feature-gate-off",
        "Kustomization",
        "AccessDenied",
        "can't access 'ExternalArtifact/flux-system/apps', ExternalArtifact feature gate is disabled",
        "can't access 'GitRepository/flux-system/fleet', cross-namespace references have been blocked",
    ),
    Sample(
        "invalid-cel",
        "Kustomization",
        "ReconciliationFailed",
        "failed to create custom status evaluator for healthchecks[0]: failed to parse the expression Current: failed to parse the CEL "
        "expression 'data.phase === \"Ready\"': ERROR: <input>:1:14: Syntax error",
        "failed to evaluate the health check",
    ),
    Sample(
        "ready-expression-error",
        "Kustomization",
        "DependencyNotReady",
        'failed to evaluate the CEL expression \'dep.metadata.labels["wave"] == "1"\': no such key: labels',
        "dependency 'flux-system/settings' is not ready according to readyExpr eval",
    ),
    build(
        "build-invalid-yaml",
        "failed to decode Kubernetes YAML from /tmp/kustomization-36/apps/cm.yaml: MalformedYAMLError: yaml: line 8: mapping values are not "
        "allowed in this context",
        "kustomize build failed: accumulating resources: accumulation err='accumulating resources from 'nope.yaml': open "
        "/tmp/kustomization-36/apps/nope.yaml: no such file or directory'",
    ),
    build(
        "build-missing-file",
        "kustomize build failed: accumulating resources: accumulation err='accumulating resources from 'nope.yaml': open "
        "/tmp/kustomization-36/apps/nope.yaml: no such file or directory': must build at directory: not a valid directory: "
        "evalsymlink failure on '/tmp/kustomization-36/apps/nope.yaml'",
        "failed to decode Kubernetes YAML from /tmp/kustomization-36/apps/cm.yaml: MalformedYAMLError: yaml: line 8: did not find expected key",
    ),
    build(
        "build-duplicate-object",
        "kustomize build failed: accumulating resources: accumulation err='merging resources from 'two.yaml': may not add resource with an "
        "already registered id: ConfigMap.v1.[noGrp]/twin.apps': must build at directory",
        "kustomize build failed: the id is registered elsewhere",
    ),
    build(
        "substitution-undefined",
        "post build failed for 'ConfigMap.v1.[noGrp]/region': envsubst error: variable substitution failed: variable not set (strict mode): "
        '"cluster_zone"',
        "post build failed for 'ConfigMap.v1.[noGrp]/region': the strict mode is off",
    ),
    build(
        "substitution-source-missing",
        "post build failed for 'ConfigMap.v1.[noGrp]/region': substitute from 'ConfigMap/cluster-vars' error: configmaps \"cluster-vars\" not "
        "found",
        "post build failed for 'ConfigMap.v1.[noGrp]/region': configmaps are fine",
    ),
    build(
        "sops-key-missing",
        "decryption failed for 'Secret.v1.[noGrp]/db': cannot get sops data key: Failed to get the data key required to decrypt the SOPS file.\n"
        "\nGroup 0: FAILED\n  age16ly: FAILED\n    - | failed to load age identities. Did not find keys in\n      | locations 'SOPS_AGE_KEY'",
        "the data key is fine",
    ),
    build(
        "sops-wrong-key",
        "decryption failed for 'Secret.v1.[noGrp]/db': cannot get sops data key: Failed to get the data key required to decrypt the SOPS file.\n"
        "\nGroup 0: FAILED\n  age16ly: FAILED\n    - | failed to create reader for decrypting sops data key with\n      | age: no identity "
        "matched any of the\n      | recipients",
        "decryption failed for 'Secret.v1.[noGrp]/db': cannot get sops data key: did not find keys in locations 'SOPS_AGE_KEY'",
    ),
    build(
        "sops-key-malformed",
        "failed to import 'age.agekey' data from sops decryption Secret 'flux-system/sops-age': failed to parse and add to age identities: "
        "unknown identity type",
        "the identity is known",
    ),
    build("sops-secret-missing", 'secrets "sops-age" not found', 'secrets "registry" not found', **DECRYPTION),
    build(
        "sops-mac-mismatch",
        "decryption failed for 'Secret.v1.[noGrp]/db': MAC mismatch. File has A, computed B",
        "the macro is fine",
    ),
    Sample(
        "artifact-download-failed",
        "HelmRelease",
        "ArtifactFailed",
        "Could not load chart: GET http://source-controller/web-1.0.0.tgz giving up after 3 attempt(s): connect: connection refused",
        "Could not load chart: Chart.yaml file is missing",
    ),
    Sample(
        "signature-missing",
        "GitRepository",
        "InvalidTagSignature",
        "cannot verify signature of tag 'v1.0.0@060e9bd6' since it is not signed",
        "signature verification of tag 'v1.0.0@060e9bd6' failed: PGP signature detected but no PGP public keys found in secret",
    ),
    Sample(
        "path-not-found",
        "GitRepository",
        "GitOperationFailed",
        "failed to sparse checkout directories : sparse checkout dir 'clusters/prod' does not exist in repository: lstat",
        "failed to sparse checkout directories : sparse checkout dir 'clusters/prod' cannot be resolved",
    ),
    # applying
    apply(
        "kubeconfig-missing",
        "unable to read KubeConfig secret 'flux-system/remote' error: secrets \"remote\" not found",
        'secrets "remote" not found',
        spec=KUBECONFIG,
    ),
    apply(
        "remote-cluster-unreachable",
        'failed to create client: Get "https://remote.lab:6443/api": dial tcp 10.0.0.9:6443: connect: connection refused',
        'Deployment/apps/web dry-run failed (Invalid): Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1',
        spec=KUBECONFIG,
    ),
    apply(
        "webhook-unreachable",
        'ConfigMap/apps/web dry-run failed (InternalError): Internal error occurred: failed calling webhook "validate.lab": failed to call '
        'webhook: Post "https://hook.apps.svc:443/validate": x509: certificate signed by unknown authority',
        'ConfigMap/apps/web dry-run failed (Forbidden): admission webhook "validate.lab" denied the request: no',
    ),
    apply(
        "admission-denied",
        'ConfigMap/apps/web dry-run failed (Forbidden): admission webhook "validate.lab" denied the request: images need a digest',
        'ConfigMap/apps/web dry-run failed (Forbidden): configmaps "web" is forbidden: exceeded quota: cap',
    ),
    apply(
        "admission-denied",
        "Deployment/apps/web dry-run failed (Invalid): deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy 'no-latest' with binding "
        "'all' denied request: the tag latest is not allowed",
        "Deployment/apps/web dry-run failed: the policy is fine",
    ),
    apply(
        "quota-exceeded",
        'ConfigMap/quota/cm dry-run failed (Forbidden): configmaps "cm" is forbidden: exceeded quota: cap, requested: configmaps=1, used: '
        "configmaps=1, limited: configmaps=1",
        'ConfigMap/quota/cm dry-run failed (Forbidden): configmaps "cm" is forbidden: User "u" cannot patch resource "configmaps" in API group ""'
        ' in the namespace "quota"',
    ),
    apply(
        "rbac-forbidden",
        'ConfigMap/apps/tenant dry-run failed (Forbidden): configmaps "tenant" is forbidden: User "system:serviceaccount:team-a:reconciler" cannot '
        'patch resource "configmaps" in API group "" in the namespace "apps"',
        'ConfigMap/apps/tenant dry-run failed (Forbidden): configmaps "tenant" is forbidden: exceeded quota: cap',
    ),
    apply(
        "prune-forbidden",
        'delete failed, errors: ConfigMap/team-b/two delete failed: configmaps "two" is forbidden: User "system:serviceaccount:team-b:deployer" '
        'cannot delete resource "configmaps" in API group "" in the namespace "team-b"',
        "delete failed, errors: ConfigMap/team-b/two delete failed: etcdserver: leader changed",
        reason="PruneFailed",
    ),
    helm(
        "rbac-forbidden",
        'deployments.apps is forbidden: User "system:serviceaccount:shop:web" cannot create resource "deployments" in API group "apps" in the '
        'namespace "shop"',
        "the deployment is allowed",
    ),
    apply(
        "service-account-missing",
        'failed to create client: serviceaccounts "deployer" not found',
        "the service account is fine",
    ),
    apply(
        "namespace-not-found",
        'ConfigMap/nowhere/lost not found: namespaces "nowhere" not found',
        "the namespace is terminating",
    ),
    apply(
        "no-matches-for-kind",
        'ServiceMonitor/apps/web dry-run failed: no matches for kind "ServiceMonitor" in version "monitoring.coreos.com/v1"',
        'Deployment/apps/old dry-run failed: no matches for kind "Deployment" in version "apps/v1beta2"',
    ),
    apply(
        "api-version-not-served",
        'Ingress/apps/old dry-run failed: no matches for kind "Ingress" in version "networking.k8s.io/v1beta1"',
        'Gateway/apps/web dry-run failed: no matches for kind "Gateway" in version "gateway.networking.k8s.io/v1"',
    ),
    helm(
        "no-matches-for-kind",
        'unable to build kubernetes objects from release manifest: resource mapping not found for name: "web" namespace: "" from "": no matches '
        'for kind "ServiceMonitor" in version "monitoring.coreos.com/v1"\nensure CRDs are installed first',
        'no matches for kind "PodDisruptionBudget" in version "policy/v1beta1"',
    ),
    apply(
        "api-version-not-served",
        "the server could not find the requested resource",
        "the server could not find its keys",
    ),
    apply(
        "immutable-field",
        'Deployment/apps/web dry-run failed (Invalid): Deployment.apps "web" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: '
        "field is immutable",
        'Deployment/apps/web dry-run failed (Invalid): Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1: must be positive',
    ),
    apply(
        "invalid-field",
        "Deployment/apps/web dry-run failed: failed to create typed patch object (apps/web; apps/v1, Kind=Deployment): .spec.replcas: field not "
        "declared in schema",
        'Deployment/apps/web dry-run failed (Invalid): Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1',
    ),
    apply(
        "invalid-object",
        'Deployment/apps/web dry-run failed (Invalid): Deployment.apps "web" is invalid: spec.template.spec.containers: Required value',
        "Deployment/apps/web dry-run failed: it is valid",
    ),
    helm(
        "ownership-conflict",
        'unable to continue with install: ConfigMap "web" in namespace "shop" exists and cannot be imported into the current release: invalid '
        "ownership metadata",
        'ConfigMap "web" in namespace "shop" exists',
    ),
    apply(
        "ownership-conflict",
        'ConfigMap/apps/web apply failed: Apply failed with 1 conflict: conflict with "kubectl-edit": .data.key',
        "ConfigMap/apps/web apply failed: no conflict",
    ),
    apply(
        "health-check-failed",
        "health check failed after 76.346334ms: failed early due to stalled resources: [Deployment/apps/stuck status: 'Failed']",
        "health check failed after 4m0.014314745s: timeout waiting for: [Deployment/apps/roll status: 'InProgress']",
        reason="HealthCheckFailed",
    ),
    apply(
        "health-check-timeout",
        "health check failed after 4m0.014314745s: timeout waiting for: [Deployment/apps/roll status: 'InProgress']",
        "health check failed after 76.346334ms: failed early due to stalled resources: [Deployment/apps/stuck status: 'Failed']",
        reason="HealthCheckFailed",
    ),
    apply(
        "health-check-timeout",
        "health check failed after 30.1s: client rate limiter Wait returned an error: rate: Wait(n=1) would exceed context deadline",
        "dry-run failed: client rate limiter Wait returned an error: rate: Wait(n=1) would exceed context deadline",
        reason="HealthCheckFailed",
    ),
    helm("health-check-timeout", "timed out waiting for the condition", "the condition is met"),
    Sample(
        "workload-stuck",
        "Deployment",
        "ProgressDeadlineExceeded",
        'ReplicaSet "web-5cb7754d8f" has timed out progressing.',
        "Deployment is paused",
    ),
    # Helm
    helm(
        "missing-rollback-target",
        "missing target release for rollback: cannot remediate failed release",
        "the target is hit",
    ),
    helm(
        "release-locked", "another operation (install/upgrade/rollback) is in progress", "an operation is in progress"
    ),
    Sample(
        "release-unlocked",
        "HelmRelease",
        "PendingRelease",
        "Unlocked Helm release shop/web.v2 with chart web@1.1.0",
        "the release is locked",
    ),
    Sample(
        "chart-version-mismatch",
        "HelmRelease",
        "ArtifactFailed",
        "artifact revision v0.9.0 does not match chart version v0.9.0-rc.1",
        "artifact revision v0.9.0 matches",
    ),
    Sample(
        "values-missing",
        "HelmRelease",
        "ValuesError",
        "could not resolve ConfigMap chart values reference 'shop/web' with key 'values.yaml': key not found",
        "unable to merge value from key 'values.yaml' in ConfigMap 'shop/web' into target path 'a.b'",
    ),
    helm(
        "values-invalid",
        "values don't meet the specifications of the schema(s) in the following chart(s):\nweb:\n- at '/replicas': got string, want integer",
        "the values are fine",
    ),
    helm(
        "template-error",
        "execution error at (web/templates/guard.yaml:1:3): 2.0.0 needs .Values.migrated",
        "the execution went well",
    ),
    helm(
        "template-error",
        'template: web/templates/deployment.yaml:12:20: executing "web/templates/deployment.yaml" at <.Values.image.tag>: nil pointer '
        "evaluating interface {}.tag",
        "the template is fine",
    ),
    Sample(
        "not-a-chart",
        "HelmRelease",
        "ArtifactFailed",
        'Could not load chart: chart illegally contains content outside the base directory: "cm.yaml"',
        "the chart is fine",
    ),
    helm(
        "hook-failed",
        "failed post-install: post-install hooks failed: job migrate failed: BackoffLimitExceeded",
        "the hook is fine",
    ),
    # images
    Sample(
        "invalid-image",
        "ImageRepository",
        "ImageURLInvalid",
        "image 'registry.lab/app:6.9.0' should not include a tag; remove ':6.9.0'",
        "image 'registry.lab/app' has no tag",
    )._replace(reason="Failed"),
    Sample(
        "image-not-found",
        "ImageRepository",
        "ReadOperationFailed",
        "scan failed: GET https://registry.lab/v2/app/tags/list?n=1000: NAME_UNKNOWN: Unknown name",
        "scan failed: the name is known",
    ),
    Sample("no-tags-in-database", "ImagePolicy", "Failure", "no tags in database", "the tags are old"),
    Sample(
        "image-policy-no-match", "ImagePolicy", "Failure", "version list argument cannot be empty", "the list is long"
    ),
    Sample(
        "image-policy-no-match",
        "ImagePolicy",
        "Failure",
        "unable to determine latest version from provided list",
        "the latest version is 1.0.0",
    ),
    Sample(
        "invalid-policy", "ImagePolicy", "Failure", 'invalid policy: improper constraint: "six"', "the policy is fine"
    ),
    Sample(
        "push-refused",
        "ImageUpdateAutomation",
        "GitOperationFailed",
        "failed to update source: failed to push to remote: command error on refs/heads/main: pre-receive hook declined",
        "failed to update source: failed to push to remote: authentication required: Unauthorized",
    ),
    Sample(
        "path-not-found",
        "ImageUpdateAutomation",
        "UpdateFailed",
        "failed to apply policies: walking path for files: lstat /tmp/images2210806181/nowhere: no such file or directory",
        "failed to apply policies: the path is fine",
    ),
    Sample(
        "include-not-ready",
        "GitRepository",
        "GitOperationFailed",
        "no artifact available for include 'auth-failed'",
        "the include is fine",
    ),
    Sample(
        "terraform-state-locked",
        "Terraform",
        "TFExecPlanFailed",
        "error running Plan: rpc error: Error: Error acquiring the state lock\n\nLock Info:\n  ID:        4a5ae20e-0e45\n  Path: tf",
        "error running Plan: rpc error: the state is unlocked",
    ),
    Sample(
        "terraform-provider-missing",
        "Terraform",
        "TFExecInitFailed",
        "error running Init: Failed to query available provider packages: could not connect",
        "error running Init: the provider is here",
    ),
    Sample(
        "source-missing",
        "ImageUpdateAutomation",
        "Failed",
        "failed to get source: not allowed here",
        "the source is fine",
    ),
]
