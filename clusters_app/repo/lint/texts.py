"""YML001: texts that parsers read in different ways, or not at all."""

from collections.abc import Iterator

from clusters_app.repo.apps import is_bootstrap_file
from clusters_app.repo.documents import MANIFEST_SUFFIXES, documents
from clusters_app.repo.kustomize import KUSTOMIZATION_NAMES, Fate, Role
from clusters_app.repo.lint.finding import Place
from clusters_app.repo.lint.subject import Subject


def text_is_broken(subject: Subject) -> Iterator[Place]:
    """Keys that stand twice, documents that are not YAML, two kustomization files in one directory."""
    patches = _named_as(subject, Role.PATCH)
    content = _named_as(subject, Role.CONTENT) - _named_as(subject, Role.RESOURCE)
    for path in subject.graph.files:
        if path not in content and _is_manifest(subject, path):
            yield from _in_file(subject, path, is_patch=path in patches)
    yield from _two_kustomization_files(subject)


def _is_manifest(subject: Subject, path: str) -> bool:
    named = path.endswith(MANIFEST_SUFFIXES) or path.rpartition("/")[2] in KUSTOMIZATION_NAMES
    return named and not subject.is_in_chart(path) and not is_bootstrap_file(path)


def _named_as(subject: Subject, role: Role) -> set[str]:
    return {
        reference.path
        for kustomization in subject.kustomization_files
        for reference in kustomization.references
        if reference.role is role and reference.fate is Fate.FILE
    }


def _in_file(subject: Subject, path: str, *, is_patch: bool) -> Iterator[Place]:
    parsed = documents(subject.tree, path)
    if parsed.problem is not None:
        values = {"problem": parsed.problem}
        yield Place(path, parsed.problem_line or 1, "cannot be read: {problem}", "correct the text", "", values)
    for document in parsed.documents:
        for twice in document.duplicates:
            yield Place(
                path,
                twice.line,
                "{key} stands here and in line {first}; {counts}",
                "keep one of the two",
                f"{document.kind}/{document.namespace}/{document.name}" if document.is_object else "",
                {"key": twice.key, "first": str(twice.first_line), "counts": _which_counts(path, is_patch=is_patch)},
            )


def _which_counts(path: str, *, is_patch: bool) -> str:
    """As kustomize does it: seen with version 5.8."""
    if path.rpartition("/")[2] in KUSTOMIZATION_NAMES:
        return "the last one counts, and the first is lost without a word"
    return "in a patch the first one counts" if is_patch else "in a resource the build fails"


def _two_kustomization_files(subject: Subject) -> Iterator[Place]:
    for directory in subject.artifact.directories.files:
        found = subject.artifact.directories.kustomization_files(directory)
        if len(found) > 1:
            values = {"first": found[0].rpartition("/")[2]}
            yield Place(found[1], 1, "{first} is here too, and kustomize refuses both", "keep one", "", values)
