"""The same file in another environment: a path with the environment's name in it, confirmed by what the files hold."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from clusters_app.repo.documents import MANIFEST_SUFFIXES, documents
from clusters_app.repo.environments import canonical, tokens
from clusters_app.repo.kustomize import KUSTOMIZATION_NAMES
from clusters_app.repo.tree import Tree

_HOLE = "\0"


def find_counterparts(
    tree: Tree, environment_of: Mapping[str, str], roots: Sequence[tuple[str, str]]
) -> tuple[tuple[str, str], ...]:
    """Pairs of files. `environment_of`: files that one environment alone reaches; `roots`: sync path and environment.

    A file is paired by its own name first; below the sync paths of two clusters also by the place in them.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for path, environment in environment_of.items():
        groups[without_environment(path, environment)].append(path)
    for key, path in _below_roots(environment_of, roots):
        groups[key].append(path)
    pairs: dict[tuple[str, str], None] = {}
    for group in groups.values():
        for one, other in _across(group, environment_of):
            if (one, other) not in pairs and _holds_the_same(tree, one, other):
                pairs[one, other] = None
    return tuple(sorted(pairs))


def without_environment(path: str, environment: str) -> str:
    """A path with every mention of its environment taken out: equal for the same file of two environments."""
    wanted = canonical(environment)
    return "/".join(_segment_without(segment, wanted) for segment in path.split("/"))


def _segment_without(segment: str, wanted: str) -> str:
    if canonical(segment) == wanted:
        return _HOLE
    if not any(canonical(token) == wanted for token in tokens(segment)):
        return segment
    parts = re.split(r"([-_.])", segment)
    return "".join(_HOLE if canonical(part) == wanted else part for part in parts)


def _below_roots(environment_of: Mapping[str, str], roots: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Files of the first cluster of each environment, by their place below the sync path."""
    first: dict[str, str] = {}
    for path, environment in roots:
        if path:
            first.setdefault(environment, path)
    for path, environment in environment_of.items():
        root = first.get(environment)
        if root and path.startswith(f"{root}/"):
            yield f"{_HOLE}{_HOLE}/{path.removeprefix(root)}", path


def _across(group: Sequence[str], environment_of: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    by_environment: dict[str, list[str]] = defaultdict(list)
    for path in group:
        by_environment[environment_of[path]].append(path)
    names = list(by_environment)
    for index, name in enumerate(names):
        for other in names[index + 1 :]:
            # Several clusters of one environment have the same file: the first stands for all.
            for one, two in zip(by_environment[name], by_environment[other], strict=False):
                yield (one, two) if one < two else (two, one)


def _holds_the_same(tree: Tree, one: str, other: str) -> bool:
    """Whether two files describe the same objects (or neither describes any: values, settings, kustomizations)."""
    if one.rpartition("/")[2] in KUSTOMIZATION_NAMES or not one.endswith(MANIFEST_SUFFIXES):
        return True
    mine, yours = _objects(tree, one), _objects(tree, other)
    return bool(mine & yours) if mine and yours else not mine and not yours


def _objects(tree: Tree, path: str) -> set[tuple[str, str, str]]:
    return {(each.group, each.kind, each.name) for each in documents(tree, path).documents if each.is_object}
