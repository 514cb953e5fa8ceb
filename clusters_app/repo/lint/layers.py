"""GRP001 and GRP003: the order of the layers of a cluster."""

from collections.abc import Iterator, Mapping, Sequence

from clusters_app.repo.documents import at, sequence
from clusters_app.repo.graph import FluxKustomizationNode
from clusters_app.repo.lint.finding import Place
from clusters_app.repo.lint.subject import Subject


def dependencies_go_round(subject: Subject) -> Iterator[Place]:
    """A cycle of dependsOn: none of its members is ever applied, and events of their source reach nobody."""
    for cluster in subject.graph.clusters:
        nodes = {node.ref: node for node in cluster.kustomizations}
        for cycle in _cycles(nodes):
            first = nodes[min(cycle)]
            way = " → ".join([*_from(cycle, first.ref), first.ref])
            yield Place(
                first.file,
                subject.line(first, "spec", "dependsOn"),
                "{way} goes round in a circle, so none of them is ever applied",
                "take one dependsOn out of the circle",
                first.ref,
                {"way": way},
            )


def _cycles(nodes: Mapping[str, FluxKustomizationNode]) -> Iterator[list[str]]:
    """Each cycle once, found on a walk in depth; the stack is our own, as chains may be long."""
    done: set[str] = set()
    for start in sorted(nodes):
        path: list[str] = []
        stack = [(start, iter(nodes[start].depends_on))]
        path.append(start)
        while stack:
            ref, rest = stack[-1]
            following = next((each for each in rest if each in nodes and each not in done), None)
            if following is None:
                done.add(ref)
                stack.pop()
                path.pop()
            elif following in path:
                yield path[path.index(following) :]
            else:
                stack.append((following, iter(nodes[following].depends_on)))
                path.append(following)


def _from(cycle: Sequence[str], first: str) -> list[str]:
    start = cycle.index(first)
    return [*cycle[start:], *cycle[:start]]


def dependency_does_not_wait(subject: Subject) -> Iterator[Place]:
    """What others depend on is Ready as soon as it is applied, unless it waits or has health checks."""
    wanted = {
        (cluster.name, ref)
        for cluster in subject.graph.clusters
        for node in cluster.kustomizations
        for ref in node.depends_on
    }
    for cluster in subject.graph.clusters:
        for node in cluster.kustomizations:
            if (cluster.name, node.ref) in wanted and subject.is_ours(node) and not _is_awaited(node):
                yield Place(
                    node.file,
                    node.line,
                    "others depend on {name}, which is Ready before its objects are",
                    "set wait: true, or name healthChecks",
                    node.ref,
                    {"name": node.ref},
                )


def _is_awaited(node: FluxKustomizationNode) -> bool:
    checks = sequence(node.spec, "healthChecks") or sequence(node.spec, "healthCheckExprs")
    return at(node.spec, "wait") is True or bool(checks)
