"""Messages of source-controller and of whoever reads a Git repository, a registry, a bucket or a Helm index."""

from __future__ import annotations

from .rule import BUCKET, GIT, HELM_CHART, HELM_RELEASE, HELM_REPOSITORY, OCI, _, rule

RULES = (
    rule(
        "push-refused",
        (
            (
                r"failed to (?:push|update source).*(?:non-fast-forward|pre-receive hook declined|protected"
                r" branch|command error on refs|remote rejected|cannot lock ref)"
            ),
            r"pre-receive hook declined",
            r"protected branch hook declined",
            r"non-fast-forward update",
        ),
        _("{host} refuses the push: {first_line}"),
        _(
            "Push to a branch of its own (spec.git.push.branch) and merge by pull request, or let this account push"
            " to the protected branch."
        ),
        kinds={"ImageUpdateAutomation"},
    ),
    rule(
        "secret-missing",
        (
            r"secrets? [\"'](?:(?P<space>[\w.\-]+)/)?(?P<missing>[\w.\-]+)[\"'] not found",
            r"unable to read token from secret '(?P<token>[^']+)'",
        ),
        _("{me} names the Secret {missing}, which does not exist in namespace {ns}."),
        _("Create the Secret {missing} in namespace {ns}, or correct the reference."),
        "kubectl -n {ns} get secret {missing}",
    ),
    rule(
        "empty-repository",
        (
            r"git repository is empty",
            r"remote repository is empty",
        ),
        _("The repository {url} has no commit yet."),
        _("Push a first commit to the branch that {me} follows."),
        kinds={"GitRepository"},
    ),
    rule(
        "tag-not-found",
        (
            r"couldn't find remote ref \"refs/tags/(?P<tag>[^\"]+)\"",
            r"tag '(?P<tag>[^']+)' not found",
        ),
        _("{url} has no tag {tag}."),
        _("Push the tag, or correct spec.ref.tag."),
        "git ls-remote --tags {url}",
        f"{GIT}#tag-example",
    ),
    rule(
        "branch-not-found",
        (
            r"couldn't find remote ref \"(?:refs/heads/)?(?P<branch>[^\"]+)\"",
            r"remote branch '?(?P<branch>[\w./\-]+)'? not found",
            r"reference not found",
        ),
        _("{url} has no branch {branch}: it was deleted, renamed or never pushed."),
        _("Push the branch, or correct spec.ref of {me}."),
        "git ls-remote --heads {url}",
        f"{GIT}#branch-example",
    ),
    rule(
        "commit-not-found",
        (
            r"resolve commit object for '(?P<commit>[0-9a-f]+)'.*not found",
            r"commit '?(?P<commit>[0-9a-f]{7,64})'?.*not found",
            r"not our ref (?P<commit>[0-9a-f]+)",
            r"\bobject not found\b",
        ),
        _("{url} has no commit {commit} on the branch that is followed (a force push may have dropped it)."),
        _("Correct spec.ref.commit, or name the branch that holds the commit."),
        link=f"{GIT}#commit-example",
    ),
    rule(
        "semver-no-match",
        r"no match found for semver: ?(?P<range>.+)",
        _("No version in {url} is in the range {range}."),
        _(
            "Publish a version in that range, or correct spec.ref.semver. A range without a pre-release part never "
            "selects a pre-release."
        ),
        link=f"{GIT}#semver-example",
    ),
    rule(
        "repository-not-found",
        (
            r"repository not found",
            r"repository does not exist",
            r"project you were looking for could not be found",
        ),
        _("There is no repository at {url}, or the credentials may not see it."),
        _("Correct spec.url, or give the account access to it (hosts answer the same for both)."),
    ),
    rule(
        "chart-not-found",
        r"(?:chart|fetch tags).*(?:NAME_UNKNOWN|repository name not known)",
        _("The registry has no chart of that name: {first_line}"),
        _("Correct the chart's name or the URL of {source}."),
        kinds={"HelmChart", "HelmRelease"},
        link=HELM_CHART,
    ),
    rule(
        "image-not-found",
        (
            r"NAME_UNKNOWN",
            r"repository name not known",
            r"MANIFEST_UNKNOWN",
            r"manifest unknown",
        ),
        _("The registry has no image {url}."),
        _("Push the image first, or correct spec.image."),
        kinds={"ImageRepository", "ImagePolicy"},
    ),
    rule(
        "repository-not-found",
        (
            r"NAME_UNKNOWN",
            r"repository name not known",
        ),
        _("The registry has no repository {url}."),
        _("Push the artifact first, or correct spec.url."),
        link=OCI,
    ),
    rule(
        "tag-not-found",
        (
            r"/manifests/(?P<tag>[\w.\-:]+): MANIFEST_UNKNOWN",
            r"MANIFEST_UNKNOWN",
            r"manifest unknown",
            r"manifest .*not found",
        ),
        _("{url} has no tag {tag}."),
        _("Push that tag, or correct spec.ref."),
        "flux list artifacts {url}",
        f"{OCI}#tag-example",
    ),
    rule(
        "registry-unsupported",
        (
            r"(?-i:\bUNSUPPORTED\b)",
            r"operation is unsupported",
        ),
        _("The registry at {host} does not offer the list that is asked for (no catalogue)."),
        _("Name every repository by itself, or use a registry that lists tags."),
    ),
    rule(
        "layer-not-found",
        (
            r"failed to find layer with media type '(?P<media>[^']+)'",
            r"no layers? found in artifact",
            r"layer .*not found",
        ),
        _("The artifact {url} has no layer of media type {media}."),
        _("Push it with `flux push artifact`, or name the layer in spec.layerSelector.mediaType."),
        link=f"{OCI}#layer-selector",
    ),
    rule(
        "signature-missing",
        (
            r"unsupported signature type: empty",
            r"no (?:matching )?signatures? (?:were |was )?found",
            r"(?:commit|tag) (?:object )?is not signed",
            r"no signature is associated",
            r"missing signature|since it is not signed",
        ),
        _("{me} takes signed content only, and this is not signed by anybody that it trusts."),
        _("Sign the commit, tag or artifact with the key that spec.verify names, or correct spec.verify."),
        link=f"{GIT}#verification",
    ),
    rule(
        "signature-unknown-key",
        (
            r"unable to verify (?:payload|Git commit|Git tag)",
            r"signature verification of .* failed",
            r"given (?:key rings|authorized keys)",
            r"invalid signature",
            r"signature is not produced by a trusted signer",
            r"failed to verify the signature",
        ),
        _("It is signed, but with a key that spec.verify does not trust."),
        _(
            "Add the signer's public key to the Secret of spec.verify.secretRef in namespace {ns}, or have it "
            "signed with a known key."
        ),
        link=f"{GIT}#verification",
    ),
    rule(
        "bucket-not-found",
        (
            r"bucket '(?P<bucket>[^']+)' (?:not found|does not exist)",
            r"NoSuchBucket",
            r"ContainerNotFound",
            r"bucket doesn't exist",
        ),
        _("There is no bucket {bucket} at {host}."),
        _("Create the bucket, or correct spec.bucketName."),
        kinds={"Bucket"},
        link=BUCKET,
    ),
    rule(
        "chart-version-not-found",
        (
            r"no '(?P<chart>[^']+)' chart with version matching '(?P<version>[^']+)' found",
            r"(?<!\S)(?P<chart>\S{1,253}) chart version .*not found",
            r"no chart version found for (?P<version>\S+)",
            r"could not locate a version matching provided version string (?P<version>\S+)",
            r"improper constraint",
        ),
        _("{source} has the chart {chart}, but no version that matches {version}."),
        _("Publish that version, or correct spec.chart.spec.version."),
        "helm search repo {chart} --versions",
        HELM_CHART,
        kinds={"HelmChart", "HelmRelease"},
    ),
    rule(
        "chart-not-found",
        (
            r"no chart name found",
            r'chart "?(?P<chart>[\w.\-/]+)"? (?:version \S+ )?not found',
            r"invalid chart reference: (?:stat|lstat) (?P<file>\S+): no such file",
        ),
        _("{source} has no chart {path}."),
        _("Correct spec.chart.spec.chart; in a Git repository or bucket it is the path of the chart's directory."),
        kinds={"HelmChart", "HelmRelease"},
        link=HELM_CHART,
    ),
    rule(
        "chart-download-failed",
        (
            r"chart pull error",
            r"failed to download chart",
            r"ChartPullError",
        ),
        _("The index of {source} names a chart that cannot be downloaded: {first_line}"),
        _("Publish the chart's file again (the index and the files differ), or choose another version."),
        kinds={"HelmChart", "HelmRelease"},
        link=HELM_CHART,
    ),
    rule(
        "not-a-helm-index",
        (
            r"failed to load (?:Helm repository from )?index",
            r"no API version specified",
            r"error unmarshaling JSON.*repo\.IndexFile",
        ),
        _("What {url} serves as index.yaml is not the index of a Helm repository."),
        _("Correct spec.url to the directory that holds index.yaml; for an OCI registry use type: oci."),
        "curl -s {url}/index.yaml | head",
        HELM_REPOSITORY,
        kinds={"HelmRepository"},
    ),
    rule(
        "source-missing",
        r"(?:failed to get source|could not get Source object|Source '[^']+' not found)",
        _("It takes its content from {source}, which does not exist."),
        _("Create {source}, or correct the reference."),
        kinds={"HelmRelease", "HelmChart", "Kustomization", "ImageUpdateAutomation"},
        link=HELM_RELEASE,
    ),
    rule(
        "not-found",
        (
            r"\b404\b",
            r"\bfile not found\b",
        ),
        _("{host} answers that nothing is at {url}."),
        _("Correct the URL."),
        "curl -sI {url}",
    ),
)
