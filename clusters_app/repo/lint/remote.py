"""KST010: builds that depend on somebody else's server."""

from collections.abc import Iterator

from clusters_app.repo.kustomize import Fate
from clusters_app.repo.lint.finding import Place
from clusters_app.repo.lint.subject import Subject


def base_is_remote(subject: Subject) -> Iterator[Place]:
    """kustomize fetches it at every build, without a pin that this repository reviews."""
    for kustomization in subject.kustomization_files:
        for reference in kustomization.references:
            if reference.fate is Fate.REMOTE:
                yield Place(
                    kustomization.path,
                    reference.line,
                    "{target} is fetched from elsewhere at every build",
                    "copy it into this repository, or follow it with a source of its own",
                    "",
                    {"target": reference.target},
                )
