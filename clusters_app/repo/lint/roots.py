"""GRP009 and GRP010: what the root of a cluster takes in, and what it leaves out."""

from collections.abc import Iterator

from clusters_app.repo.build import KUSTOMIZE_GROUP
from clusters_app.repo.graph import ClusterNode, FluxKustomizationNode
from clusters_app.repo.lint.finding import Place
from clusters_app.repo.lint.subject import Subject

_EXPLICIT = "write a kustomization.yaml in {root} that lists Flux objects only"


def generated_root_takes_in_more(subject: Subject) -> Iterator[Place]:
    """A sync path without kustomization.yaml takes in every directory below, also one that another object applies."""
    for cluster, root in subject.roots():
        if root.path is not None and not root.outside and subject.artifact.kustomization(root.path) is None:
            yield from _nested_clusters(subject, cluster, root)
            yield from _overlays(subject, cluster, root)


def _nested_clusters(subject: Subject, cluster: ClusterNode, root: FluxKustomizationNode) -> Iterator[Place]:
    for each in subject.artifact.build(root.path or "").objects:
        is_same = each.kind == "Kustomization" and each.group == KUSTOMIZE_GROUP and each.name == root.name
        if is_same and each.namespace == root.namespace and root.file and each.file != root.file:
            yield Place(
                _listing(subject, each.file.rpartition("/")[0]) or each.file,
                1,
                "{root} has no kustomization.yaml, so {cluster} takes in the second cluster below it",
                _EXPLICIT.format(root=root.path),
                root.ref,
                {"root": root.path or ".", "cluster": cluster.name},
            )


def _overlays(subject: Subject, cluster: ClusterNode, root: FluxKustomizationNode) -> Iterator[Place]:
    taken = subject.artifact.build(root.path or "").files
    for node in cluster.kustomizations[1:]:
        path = node.path
        if path is None or path == root.path or not path.startswith(f"{root.path}/" if root.path else ""):
            continue
        # Only files that the root applies itself: a Kustomization below that is merely listed is what a root is for.
        applied = sorted(file for file in node.files & taken if file.startswith(f"{path}/"))
        if applied:
            yield Place(
                _listing(subject, path) or applied[0],
                1,
                "{root} has no kustomization.yaml, so {cluster} applies {path} directly, beside {name}",
                _EXPLICIT.format(root=root.path),
                node.ref,
                {"root": root.path or ".", "cluster": cluster.name, "path": path, "name": node.ref},
            )


def _listing(subject: Subject, directory: str) -> str | None:
    kustomization = subject.artifact.kustomization(directory)
    return kustomization.path if kustomization is not None else None


def root_leaves_out_flux_system(subject: Subject) -> Iterator[Place]:
    """A root that does not list `flux-system` prunes Flux's own objects, or never updates them."""
    for cluster, root in subject.roots():
        if root.implied or root.path is None or root.file in root.files:
            continue
        kustomization = subject.artifact.kustomization(root.path)
        if kustomization is not None:
            yield Place(
                kustomization.path,
                kustomization.document.line_of("resources"),
                "the root of {cluster} leaves out {file}, from which Flux follows this repository",
                f"add {root.file.rpartition('/')[0].removeprefix(f'{root.path}/')} to resources",
                root.ref,
                {"cluster": cluster.name, "file": root.file},
            )
