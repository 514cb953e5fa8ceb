"""HLM002 and HLM004: HelmReleases in production."""

import re
from collections.abc import Iterator

from clusters_app.repo.build import HELM_GROUP, BuiltObject
from clusters_app.repo.documents import at, mapping, sequence, text
from clusters_app.repo.lint.finding import Place
from clusters_app.repo.lint.subject import Subject

_EXACT = re.compile(r"v?\d+\.\d+(\.\d+)*([-+_][0-9A-Za-z.+_-]+)?")


def release_is_unguarded(subject: Subject) -> Iterator[Place]:
    """Drift is not seen, or a failed installation or upgrade stays as it is."""
    for each, _ in _in_production(subject):
        missing = _missing(each)
        if missing:
            yield Place(
                each.file,
                each.line,
                "{name} reaches production without {missing}",
                "add driftDetection.mode: enabled, and remediation or a strategy to install and upgrade",
                f"HelmRelease/{each.namespace}/{each.name}",
                {"name": each.name, "missing": ", ".join(missing)},
            )


def _missing(each: BuiltObject) -> list[str]:
    found = [] if text(each.value, "spec", "driftDetection", "mode") in ("enabled", "warn") else ["drift detection"]
    for action in ("install", "upgrade"):
        spec = mapping(each.value, "spec", action)
        if not mapping(spec, "remediation") and not mapping(spec, "strategy"):
            found.append(f"{action} remediation")
    return found


def version_floats(subject: Subject) -> Iterator[Place]:
    """Production gets a new chart when somebody publishes one."""
    for each, sources in _in_production(subject):
        place = _floating(subject, each, sources)
        if place is not None:
            file, line, version = place
            yield Place(
                file,
                line,
                "{name} takes {version} in production, whatever that is on the day",
                "pin the exact version, in production's overlay where the others may float",
                f"HelmRelease/{each.namespace}/{each.name}",
                {"name": each.name, "version": version or "the newest version"},
            )


def _floating(subject: Subject, each: BuiltObject, sources: dict[str, BuiltObject]) -> tuple[str, int, str] | None:
    chart = mapping(each.value, "spec", "chart", "spec")
    if chart:
        version = str(at(chart, "version") or "")
        if text(chart, "sourceRef", "kind") == "GitRepository" or _EXACT.fullmatch(version):
            return None
        return each.file, subject.line_in(each, "spec", "chart", "spec", "version"), version
    source = sources.get(text(each.value, "spec", "chartRef", "name"))
    reference = mapping(source.value, "spec", "ref") if source is not None else {}
    tag = str(at(reference, "tag") or "")
    if source is None or "digest" in reference or (_EXACT.fullmatch(tag) and "semver" not in reference):
        return None
    return source.file, subject.line_in(source, "spec", "ref"), str(at(reference, "semver") or tag)


def _in_production(subject: Subject) -> Iterator[tuple[BuiltObject, dict[str, BuiltObject]]]:
    """Each HelmRelease that a production cluster applies, once, with the artifact sources beside it by name."""
    said: set[tuple[str, int]] = set()
    for cluster in subject.graph.clusters:
        for node in cluster.kustomizations if cluster.environment in subject.production else ():
            # What a parent's or the Kustomization's own patches add is not built here: then better silent than wrong.
            if node.path is None or sequence(node.spec, "patches"):
                continue
            objects = subject.artifact.build(node.path).objects
            sources = {each.name: each for each in objects if each.kind == "OCIRepository"}
            for each in objects:
                if each.kind == "HelmRelease" and each.group == HELM_GROUP and (each.file, each.line) not in said:
                    said.add((each.file, each.line))
                    yield each, sources
