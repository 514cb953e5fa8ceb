"""PTH004: directories for which Flux has to generate a kustomization file."""

from collections.abc import Iterator

from clusters_app.repo.documents import documents
from clusters_app.repo.lint.finding import Place, Severity
from clusters_app.repo.lint.subject import Subject


def kustomization_is_generated(subject: Subject) -> Iterator[Place]:
    """Whatever YAML file somebody adds below is applied; one that is no object makes the whole path fail."""
    for node in subject.kustomizations:
        if node.path is None or subject.artifact.kustomization(node.path) is not None:
            continue
        values = {"path": node.path or ".", "name": node.ref}
        line = subject.line(node, "spec", "path")
        said = "{path} has no kustomization.yaml, so {name} applies every YAML file below it"
        yield Place(node.file, line, said, "list the files in a kustomization.yaml", node.ref, values)
        for file in sorted(_own_files(subject, node.path)):
            if _holds_something_else(subject, file):
                said = "this is no Kubernetes object, and {name} applies every YAML file below {path}, so it fails"
                remedy = "list the files of {path} in a kustomization.yaml without this one".format_map(values)
                yield Place(file, 1, said, remedy, node.ref, values, Severity.ERROR)


def _own_files(subject: Subject, directory: str) -> set[str]:
    """The files that the generated kustomization lists itself, not those of directories with a file of their own."""
    build = subject.artifact.build(directory)
    listed = {file for inner in build.listed for file in subject.artifact.build(inner).files}
    return set(build.files) - listed


def _holds_something_else(subject: Subject, file: str) -> bool:
    return any(document.value and not document.is_object for document in documents(subject.tree, file).documents)
