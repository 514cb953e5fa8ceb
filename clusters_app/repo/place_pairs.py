"""Which place of an app in the source feeds which place in the target, and which file is which there."""

from collections.abc import Iterator
from dataclasses import dataclass

from clusters_app.repo.apps import AppNode, AppPlace
from clusters_app.repo.counterparts import without_environment
from clusters_app.repo.environments import tokens
from clusters_app.repo.graph import FleetGraph
from clusters_app.repo.tree import Tree


@dataclass(frozen=True)
class PlacePair:
    """One target place with the source place that it is promoted from."""

    app: str
    source_environment: str
    environment: str
    source: AppPlace
    target: AppPlace


@dataclass(frozen=True, slots=True)
class FilePair:
    """A file of the source place and the same file of the target; one of the two may not exist."""

    source: str
    target: str


def pair_places(app: AppNode, source: str, target: str) -> list[PlacePair]:
    """Every target place with its source: the one whose path differs in the environment alone, else the nearest."""
    sources = app.environments.get(source, ())
    pairs = []
    for place in app.environments.get(target, ()):
        wanted = without_environment(place.path, target)
        ranked = sorted(sources, key=lambda each: _distance(each.path, source, place.path, wanted))
        if ranked:
            pairs.append(PlacePair(app.name, source, target, ranked[0], place))
    return pairs


def _distance(path: str, environment: str, target: str, wanted: str) -> tuple[bool, int, str]:
    shared = {token for part in path.split("/") for token in tokens(part)}
    there = {token for part in target.split("/") for token in tokens(part)}
    return without_environment(path, environment) != wanted, -len(shared & there), path


def pair_files(tree: Tree, graph: FleetGraph, pair: PlacePair) -> list[FilePair]:
    """The files of both places, paired by their place below the two paths, else by the graph's counterparts."""
    source, target = pair.source, pair.target
    if not _is_directory(tree, source.path) or not _is_directory(tree, target.path):
        return _pairs_of_single_files(graph, pair)
    below = f"{source.path}/"
    pairs = [
        FilePair(path, f"{target.path}/{path.removeprefix(below)}") if path.startswith(below) else other
        for path in source.files
        for other in [_by_counterpart(graph, path, pair)]
    ]
    known = {each.target for each in pairs}
    rest = [path for path in target.files if path not in known and path.startswith(f"{target.path}/")]
    pairs += [FilePair(f"{source.path}/{path.removeprefix(target.path + '/')}", path) for path in rest]
    return sorted((each for each in pairs if each.source and each.target), key=lambda each: each.target)


def _is_directory(tree: Tree, path: str) -> bool:
    return tree.tree_id(path) is not None


def _by_counterpart(graph: FleetGraph, path: str, pair: PlacePair) -> FilePair:
    own = [other for other in graph.counterpart(path, pair.environment) if other in pair.target.files]
    return FilePair(path, own[0] if own else "")


def _pairs_of_single_files(graph: FleetGraph, pair: PlacePair) -> list[FilePair]:
    pairs = {FilePair(pair.source.path, pair.target.path): None}
    pairs.update({_by_counterpart(graph, path, pair): None for path in pair.source.files})
    return [each for each in pairs if each.source and each.target and _is_file(each, pair)]


def _is_file(each: FilePair, pair: PlacePair) -> bool:
    return each.source in own_files(pair.source) and each.target in own_files(pair.target)


def own_files(place: AppPlace) -> frozenset[str]:
    """The files of a place; the one file that it is, where it is a file."""
    return frozenset({*place.files, place.path})


def kustomization_files(pair: PlacePair) -> Iterator[tuple[FilePair, int, int]]:
    """Files and document numbers of the Flux Kustomizations that apply the two places, the nearest ones alone."""
    source = next((each for each in pair.source.kustomizations if not each.implied and each.file), None)
    if source is None:
        return
    seen = set()
    for node in pair.target.kustomizations:
        if not node.implied and node.file and (node.file, node.document) not in seen:
            seen.add((node.file, node.document))
            yield FilePair(source.file, node.file), source.document, node.document
