"""Messages from before the apply step: fetching, kustomize, substitution, decryption."""

from __future__ import annotations

import re

from ..case import Case
from ..structs import Kustomization
from .rule import DOCS, GIT, IMAGE_AUTOMATION, KUSTOMIZATION, _, rule

SOPS = f"{DOCS}/guides/mozilla-sops/"


def _is_decryption_secret(case: Case, match: re.Match[str]) -> bool:
    """The whole message is that a Secret is missing; it is the keys when the Kustomization names it for decryption."""
    spec = case.resource.spec if isinstance(case.resource, Kustomization) else None
    reference = spec.decryption.secret_ref if spec and spec.decryption else None
    return bool(reference) and reference.name == match["secret_name"]  # type: ignore[union-attr]


RULES = (
    rule(
        "feature-gate-off",
        r"\b(?P<feature>\w{1,80}) feature gate is disabled",
        _("{me} uses {feature}, which {controller} has switched off."),
        _("Start {controller} with --feature-gates={feature}=true."),
        "kubectl -n flux-system edit deployment {controller}",
        f"{DOCS}/installation/configuration/boostrap-customization/",
    ),
    rule(
        "access-denied",
        (
            r"cross-namespace references (?:have been blocked|are not allowed)",
            r"can't access '(?P<target>[^']+)'",
        ),
        _("{me} refers to {target} in another namespace, which this cluster does not allow."),
        _("Move the object into namespace {ns}, or start {controller} without --no-cross-namespace-refs."),
        link=f"{DOCS}/installation/configuration/multitenancy/",
    ),
    rule(
        "invalid-cel",
        (
            r"failed to parse the CEL expression '(?P<expression>[^']+)'",
            r"InvalidCELExpression",
            r"failed to create custom status evaluator",
        ),
        _("An expression of {me} is not valid CEL: {expression}"),
        _("Correct the expression in Git; nothing is tried again before."),
        link=f"{KUSTOMIZATION}#health-check-expressions",
    ),
    rule(
        "ready-expression-error",
        r"failed to evaluate the CEL expression '(?P<expression>.*?)':? ?(?P<why>.*)",
        _("The readyExpr of a dependency cannot be evaluated ({why}): {expression}"),
        _("Correct readyExpr; waiting does not help. Test with has() before reading a field that may be absent."),
        link=f"{KUSTOMIZATION}#dependency-ready-expression",
        reasons={"DependencyNotReady"},
    ),
    rule(
        "artifact-download-failed",
        (
            r"failed to download (?:archive|artifact)",
            r"failed to untar artifact",
            r"unable to download artifact",
            r"could not load chart.*(?:connection refused|no such host|timeout|deadline exceeded|giving up)",
        ),
        _("{source} has an artifact, but {controller} cannot download it from source-controller."),
        _("See whether source-controller runs and whether a network policy lets {controller} reach it."),
        "kubectl -n flux-system get deployment source-controller",
    ),
    rule(
        "path-not-found",
        (
            r"kustomization path not found: (?:stat |lstat )?(?P<file>\S+?):? no such file",
            r"walking path for files: l?stat (?P<walked>\S+): no such file",
            r"path not found",
            r"sparse checkout dir '(?P<file>[^']+)' does not exist",
        ),
        _("{source} has no directory {path} in the revision that was fetched."),
        _(
            "Correct spec.path, or push the directory. If it exists in Git, spec.ignore or .sourceignore of "
            "{source} leaves it out."
        ),
        "{reconcile}",
        reasons={"ArtifactFailed", "UpdateFailed", "BuildFailed", "PathNotFound", "GitOperationFailed"},
    ),
    rule(
        "build-duplicate-object",
        r"may not add resource with an already registered id: (?P<object>[^:'\s]+)",
        _("Two files of {path} define the same object {object}."),
        _("Remove one of them, or give one another name or namespace."),
        "kubectl kustomize {path}",
    ),
    rule(
        "substitution-source-missing",
        r"substitute from '(?P<from>[^']+)' error",
        _("{me} takes variables from {from}, which does not exist in namespace {ns}."),
        _("Create {from} in namespace {ns}, or mark the entry of spec.postBuild.substituteFrom as optional."),
        "kubectl -n {ns} get configmap,secret",
        f"{KUSTOMIZATION}#post-build-variable-substitution",
    ),
    rule(
        "substitution-undefined",
        (
            r'variable not set \(strict mode\): "?(?P<variable>[^"\s]+)"?',
            r"envsubst error",
            r"variable substitution failed",
        ),
        _("The manifests use the variable {variable}, which nothing defines."),
        _(
            "Define {variable} in spec.postBuild, give a default (${{{variable}:=value}}), or write "
            "$${{{variable}}} when it is not meant for Flux."
        ),
        link=f"{KUSTOMIZATION}#post-build-variable-substitution",
    ),
    rule(
        "sops-key-malformed",
        (
            r"sops decryption Secret '(?P<holder>[^']+)'",
            r"failed to parse and add to age identities",
            r"malformed (?:secret )?key",
            r"unknown identity type",
        ),
        _("The Secret {holder} holds a key that SOPS cannot read."),
        _("Put the private key in whole into it: an age key starts with AGE-SECRET-KEY-, a PGP key with -----BEGIN."),
        "kubectl -n {ns} get secret",
        SOPS,
        kinds={"Kustomization"},
    ),
    rule(
        "sops-wrong-key",
        (
            r"no identity matched any of the recipients",
            r"incorrect passphrase",
            r"could not decrypt data key with",
            r"no matching keys? .*recipient",
            r"(?:0|no) successful groups required",
        ),
        _("The decryption Secret holds a key, but not one that this file is encrypted for."),
        _(
            "Add the matching private key to the decryption Secret, or encrypt the file for this cluster's key "
            "(sops updatekeys)."
        ),
        "sops updatekeys <file>",
        SOPS,
    ),
    rule(
        "sops-key-missing",
        (
            r"cannot get sops data key",
            r"did not find keys in",
            r"failed to get the data key",
        ),
        _("{path} holds encrypted files and {controller} has no key to decrypt them."),
        _("Create a Secret with the private key in namespace {ns} and name it in spec.decryption.secretRef."),
        "kubectl -n {ns} create secret generic sops-age --from-file=age.agekey",
        SOPS,
    ),
    rule(
        "sops-secret-missing",
        r'secrets "(?P<secret_name>[\w.\-]+)" not found',
        _("spec.decryption names the Secret {secret_name}, which does not exist in namespace {ns}."),
        _("Create it with the private key, or correct the name."),
        "kubectl -n {ns} create secret generic {secret_name} --from-file=age.agekey",
        SOPS,
        kinds={"Kustomization"},
        when=_is_decryption_secret,
    ),
    rule(
        "sops-mac-mismatch",
        (
            r"MAC mismatch",
            r"message authentication failed",
        ),
        _("An encrypted file was edited by hand: its checksum no longer fits."),
        _("Restore the file from Git history, or edit it with sops."),
        "sops <file>",
        SOPS,
    ),
    rule(
        "build-missing-file",
        (
            (
                r"accumulat\w+ (?:resources|components|err).*(?:no such file or directory|doesn't exist|evalsymlink"
                r" failure)"
            ),
            r"unable to find one of 'kustomization\.yaml'",
            r"(?:open|stat|lstat) (?P<file>\S+): no such file or directory",
            r"evalsymlink failure",
        ),
        _("A kustomization in {path} names a file that is not there: {first_line}"),
        _("Push the file, or take it out of the kustomization.yaml."),
        "kubectl kustomize {path}",
        kinds={"Kustomization"},
        reasons={"BuildFailed"},
    ),
    rule(
        "build-invalid-yaml",
        (
            r"MalformedYAMLError",
            r"(?<![\w.])yaml: (?:line (?P<line>\d+): )?(?P<problem>[^\n]+)",
            r"error converting YAML to JSON",
            r"failed to decode Kubernetes YAML",
            r"json: (?:unknown field|cannot unmarshal)",
        ),
        _("A file of {path} is not valid YAML: {first_line}"),
        _("Correct the file at the line that is named, and push."),
        "kubectl kustomize {path}",
        kinds={"Kustomization"},
        reasons={"BuildFailed", "ArtifactFailed"},
    ),
    rule(
        "path-not-found",
        r"lstat (?P<file>\S+): no such file",
        _("{source} has no directory {path}."),
        _("Correct spec.update.path."),
        link=IMAGE_AUTOMATION,
        kinds={"ImageUpdateAutomation"},
    ),
    rule(
        "include-not-ready",
        r"no artifact available for include '(?P<include>[^']+)'",
        _("It includes {include}, which has no artifact."),
        _("Repair {include}, or take it out of spec.include."),
        link=f"{GIT}#include",
    ),
)
