"""Messages of helm-controller and of Helm itself."""

from __future__ import annotations

from .rule import HELM_RELEASE, _, rule

RELEASE = {"HelmRelease"}

RULES = (
    rule(
        "missing-rollback-target",
        (
            r"missing target release for rollback",
            r"no release (?:found )?in storage",
            r"MissingRollbackTarget",
        ),
        _("There is nothing to roll back to: no earlier release of it is stored that ever worked. {first_line}"),
        _(
            "Correct the chart or the values and push: a new attempt starts by itself. To try the same again, reset"
            " the failure count and force; that cannot bring a version back that never ran."
        ),
        "flux reconcile helmrelease {name} -n {ns} --reset --force",
        f"{HELM_RELEASE}#configuring-failure-handling",
        RELEASE,
    ),
    rule(
        "release-locked",
        r"another operation \(install/upgrade/rollback\) is in progress",
        _("An earlier Helm action on this release was interrupted and still holds its lock."),
        _(
            "Helm-controller unlocks a release that it left itself; a release that somebody else holds is freed by "
            "a rollback."
        ),
        "helm -n {ns} rollback {name}",
        HELM_RELEASE,
        RELEASE,
    ),
    rule(
        "release-unlocked",
        r"unlocked Helm release",
        _(
            "A release was left half done (its controller was stopped in the middle) and has been unlocked: "
            "{first_line}"
        ),
        _("Wait: the next action runs by itself."),
        "",
        HELM_RELEASE,
        RELEASE,
    ),
    rule(
        "chart-version-mismatch",
        r"artifact revision (?P<revision>\S+) does not match chart version (?P<version>\S+)",
        _("The artifact {revision} was published with another version inside: its chart says {version}."),
        _("Publish the chart again under the tag that its Chart.yaml names."),
        "{reconcile}",
        HELM_RELEASE,
        RELEASE,
    ),
    rule(
        "values-missing",
        (
            (
                r"could not (?:resolve|find) (?P<from>(?:ConfigMap|Secret)) chart values reference '"
                r"(?P<ref>[^']+)'(?: with key '(?P<key>[^']+)')?: (?P<why>[^\n]+)"
            ),
            r"could not find values key '(?P<key>[^']+)'",
        ),
        _("{me} takes values from {from} {ref}, key {key}: {why}."),
        _("Create it with that key in namespace {ns}, correct spec.valuesFrom, or mark the entry as optional."),
        "kubectl -n {ns} get {from}",
        f"{HELM_RELEASE}#values-references",
        RELEASE,
    ),
    rule(
        "values-invalid",
        (
            r"values don't meet the specifications of the schema\(s\)[^\n]*\n(?P<why>[\s\S]+)",
            r"unable to (?:merge|parse) value",
            r"failed (?:to parse|parsing) .*values",
            r"error converting YAML.*values",
        ),
        _("The values do not fit the chart's schema: {why}"),
        _("Correct spec.values or what spec.valuesFrom names."),
        "helm show values <chart>",
        f"{HELM_RELEASE}#values",
        RELEASE,
    ),
    rule(
        "template-error",
        (
            r"execution error at \((?P<at>[^)]+)\): (?P<why>[^\n]+)",
            r"parse error at \((?P<at>[^)]+)\)",
            r"template: (?P<at>[\w./\-]+:\d+:\d+)",
            r"YAML parse error on (?P<at>\S+)",
            r"error calling include",
            r"nil pointer evaluating",
            r"map has no entry for key",
        ),
        _("The chart's templates cannot be rendered with these values, at {at}: {why}"),
        _("Set the value that the template asks for, or correct the chart. Nothing was changed in the cluster."),
        "helm template <chart> --values <values>",
        f"{HELM_RELEASE}#values",
        RELEASE,
    ),
    rule(
        "not-a-chart",
        (
            r"could not load chart(?!.*(?:connection refused|no such host|timeout|deadline exceeded|giving up))",
            r"chart illegally contains content",
            r"Chart\.yaml file is missing",
            r"chart metadata is missing",
            r"validation: chart\.metadata",
            r"not a valid chart",
            r"failed to load chart",
        ),
        _("What {source} serves is not a Helm chart: {first_line}"),
        _("Push a packaged chart (helm push), or take this content with a Kustomization."),
        "helm show chart <chart>",
        HELM_RELEASE,
        {"HelmRelease", "HelmChart"},
    ),
    rule(
        "hook-failed",
        (
            r"(?P<hook>pre|post)-(?P<action>install|upgrade|rollback|delete) hooks? failed",
            r"(?:pre|post)-\w+ hooks failed:? (?P<why>[^\n]+)",
        ),
        _("A {hook}-{action} hook of the chart failed: {first_line}"),
        _("Read the log of the hook's Job."),
        "kubectl -n {ns} get jobs,pods",
        HELM_RELEASE,
        RELEASE,
    ),
)
