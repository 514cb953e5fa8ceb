"""KST001: Kustomizations that leave behind what is deleted in Git."""

from collections.abc import Iterator

from clusters_app.repo.documents import mapping
from clusters_app.repo.lint.finding import Place
from clusters_app.repo.lint.subject import Subject


def prune_is_off(subject: Subject) -> Iterator[Place]:
    """`prune` is required; false means that objects outlive their files."""
    for node in subject.kustomizations:
        if mapping(node.spec).get("prune") is not True:
            yield Place(
                node.file,
                subject.line(node, "spec", "prune"),
                "{name} leaves in the cluster what is deleted in Git",
                "set prune: true; what must stay gets the annotation kustomize.toolkit.fluxcd.io/prune: disabled",
                node.ref,
                {"name": node.ref},
            )
