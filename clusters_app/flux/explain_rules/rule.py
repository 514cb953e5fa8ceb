"""One row of the library: which message it knows, and the sentences that it has for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..case import Case
from ..verdicts import Explanation


def _(text: str) -> str:
    """Marks a sentence for the catalogues; it is translated where it is shown, its blanks filled."""
    return text


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
    """The first of `patterns` that is found in the message counts, when kind and reason fit (empty sets fit all).

    The sentences are filled with the facts of the case and the named groups of the match.
    """

    id: str
    patterns: tuple[re.Pattern[str], ...]
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
        match = next((match for pattern in self.patterns if (match := pattern.search(text))), None)
        if not match or (self.when and not self.when(case, match)):
            return None
        return self._written(case, text, match)

    def _written(self, case: Case, text: str, match: re.Match[str]) -> Explanation:
        said = {name: " ".join(value.split())[:300] for name, value in match.groupdict().items() if value}
        groups = {name: "" for pattern in self.patterns for name in pattern.groupindex}
        facts = groups | case.facts(text) | said
        cause, remedy, command = (_tidied(part.format_map(facts)) for part in (self.cause, self.remedy, self.command))
        if groups and not said and facts["first_line"] not in cause:
            cause = f"{cause} Flux says: {facts['first_line']}"
        return Explanation(self.id, cause, remedy, command, self.link or page_of(case.kind))


_GAP = re.compile(r"(?<=\w) +(?=[.,;:](?:\s|$)| )")
_EMPTY = re.compile(r" \((?:, |: )?\)|(?:,|:) (?:asked for|used|limit|key) (?=[,.:])|(?<=:)\s*$")


def _tidied(sentence: str) -> str:
    """A sentence without the gaps that an unnamed group leaves."""
    return _GAP.sub("", _EMPTY.sub("", sentence)).rstrip(" :")


def rule(
    id_: str,
    patterns: str | tuple[str, ...],
    cause: str,
    remedy: str,
    command: str = "{reconcile}",
    link: str = "",
    kinds: Iterable[str] = (),
    reasons: Iterable[str] = (),
    when: Callable[[Case, re.Match[str]], bool] | None = None,
) -> Rule:
    """A rule of one pattern or of several, without regard to case; the one that tells most stands first."""
    listed = (patterns,) if isinstance(patterns, str) else patterns
    compiled = tuple(re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in listed)
    return Rule(id_, compiled, cause, remedy, command, link, frozenset(kinds), frozenset(reasons), when)


def page_of(kind: str) -> str:
    return _PAGES.get(kind, CHEAT_SHEET)
