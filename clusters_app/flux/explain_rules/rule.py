"""One row of the library: which message it knows, and the sentences that it has for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..case import Case
from ..verdicts import Explanation

DOCS = "https://fluxcd.io/flux"
GIT = f"{DOCS}/components/source/gitrepositories/"
OCI = f"{DOCS}/components/source/ocirepositories/"
BUCKET = f"{DOCS}/components/source/buckets/"
HELM_REPOSITORY = f"{DOCS}/components/source/helmrepositories/"
HELM_CHART = f"{DOCS}/components/source/helmcharts/"
KUSTOMIZATION = f"{DOCS}/components/kustomize/kustomizations/"
HELM_RELEASE = f"{DOCS}/components/helm/helmreleases/"
IMAGE_REPOSITORY = f"{DOCS}/components/image/imagerepositories/"
IMAGE_POLICY = f"{DOCS}/components/image/imagepolicies/"
IMAGE_AUTOMATION = f"{DOCS}/components/image/imageupdateautomations/"
RECEIVER = f"{DOCS}/components/notification/receivers/"
SHARDING = f"{DOCS}/installation/configuration/sharding/"
CHEAT_SHEET = f"{DOCS}/cheatsheets/troubleshooting/"

SOURCES = frozenset({"GitRepository", "OCIRepository", "Bucket", "HelmRepository", "HelmChart", "ExternalArtifact"})
APPLIERS = frozenset({"Kustomization", "HelmRelease"})

_PAGES = {
    "GitRepository": GIT,
    "OCIRepository": OCI,
    "Bucket": BUCKET,
    "HelmRepository": HELM_REPOSITORY,
    "HelmChart": HELM_CHART,
    "Kustomization": KUSTOMIZATION,
    "HelmRelease": HELM_RELEASE,
    "ImageRepository": IMAGE_REPOSITORY,
    "ImagePolicy": IMAGE_POLICY,
    "ImageUpdateAutomation": IMAGE_AUTOMATION,
    "Receiver": RECEIVER,
}


@dataclass(frozen=True, slots=True)
class Rule:
    """`pattern` is searched in the message, without regard to case, when kind and reason fit (empty sets fit all).

    The sentences are filled with the facts of the case and the named groups of the match.
    """

    id: str
    pattern: re.Pattern[str]
    cause: str
    remedy: str
    command: str = "{reconcile}"
    link: str = ""
    kinds: frozenset[str] = frozenset()
    reasons: frozenset[str] = frozenset()
    when: Callable[[Case, re.Match[str]], bool] | None = None

    def explanation(self, case: Case, text: str) -> Explanation | None:
        """None when the rule does not know this message."""
        if self.kinds and case.kind not in self.kinds:
            return None
        if self.reasons and case.verdict.reason not in self.reasons:
            return None
        match = self.pattern.search(text)
        if not match or (self.when and not self.when(case, match)):
            return None
        return self.written(case, text, match)

    def written(self, case: Case, text: str, match: re.Match[str]) -> Explanation:
        said = {name: " ".join(value.split())[:300] for name, value in match.groupdict().items() if value}
        facts = dict.fromkeys(self.pattern.groupindex, "") | case.facts(text) | said
        return Explanation(
            self.id,
            self.cause.format_map(facts),
            self.remedy.format_map(facts),
            self.command.format_map(facts),
            self.link or page_of(case.kind),
        )


def rule(
    id_: str,
    pattern: str,
    cause: str,
    remedy: str,
    command: str = "{reconcile}",
    link: str = "",
    kinds: Iterable[str] = (),
    reasons: Iterable[str] = (),
    when: Callable[[Case, re.Match[str]], bool] | None = None,
) -> Rule:
    compiled = re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    return Rule(id_, compiled, cause, remedy, command, link, frozenset(kinds), frozenset(reasons), when)


def page_of(kind: str) -> str:
    return _PAGES.get(kind, CHEAT_SHEET)
