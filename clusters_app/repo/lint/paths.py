"""PTH001 and PTH002: paths that lead nowhere."""

from collections.abc import Iterator

from clusters_app.repo.documents import text
from clusters_app.repo.kustomize import Fate, Kustomization, Reference, resolve
from clusters_app.repo.lint.finding import Place
from clusters_app.repo.lint.subject import Subject
from clusters_app.repo.substitution import has_variable


def kustomization_path_is_missing(subject: Subject) -> Iterator[Place]:
    """`spec.path` of a Kustomization of this repository that is not there, or that the artifact does not hold."""
    for node in subject.kustomizations:
        written = text(node.spec, "path") or "./"
        path = resolve("", written.lstrip("/"))
        if node.outside or has_variable(written) or (path is not None and _comes_from_elsewhere(subject, path)):
            continue
        line = subject.line(node, "spec", "path")
        values = {"path": written, "name": node.ref}
        if path is None or path not in subject.builder.directories:
            remedy = "correct the path, or add the directory"
            yield Place(node.file, line, "{name} follows {path}, which is not there", remedy, node.ref, values)
        elif path and _is_left_out(subject, path):
            remedy = "take the pattern out of .sourceignore"
            said = "{name} follows {path}, which .sourceignore keeps out of the artifact"
            yield Place(node.file, line, said, remedy, node.ref, values)


def _is_left_out(subject: Subject, path: str) -> bool:
    return bool(subject.builder.files_below(path)) and not subject.artifact.files_below(path)


def _comes_from_elsewhere(subject: Subject, path: str) -> bool:
    """Whether another repository brings the path: a submodule, or `spec.include` of a source."""
    return subject.is_foreign(path) or any(path == top or path.startswith(f"{top}/") for top in subject.included)


def kustomization_lists_what_is_missing(subject: Subject) -> Iterator[Place]:
    """A kustomization file that names a file which is not there, not fetched, or outside of the repository."""
    for kustomization in subject.kustomization_files:
        for reference in kustomization.references:
            said = _complaint(subject, reference)
            if said:
                yield _place(kustomization, reference, said)


def _complaint(subject: Subject, reference: Reference) -> str:
    if reference.fate is Fate.OUTSIDE:
        return "{target} is outside of the repository"
    if reference.fate is Fate.LINK:
        return "{target} is a symbolic link, which Flux does not fetch"
    if reference.fate is Fate.MISSING and not _comes_from_elsewhere(subject, reference.path):
        return "{target} is not there"
    if reference.fate is Fate.FILE and subject.artifact.left_out(reference.path):
        return "{target} is kept out of the artifact by .sourceignore"
    return ""


def _place(kustomization: Kustomization, reference: Reference, said: str) -> Place:
    remedy = f"add the file, or take it out of {reference.role}"
    return Place(kustomization.path, reference.line, said, remedy, "", {"target": reference.target})
