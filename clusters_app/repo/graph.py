"""The fleet that a repository describes: who follows it, what each cluster reaches, and what belongs together.

The graph decides, not the names: it is found by walking from every cluster's sync path. See `discovery` and `walk`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from clusters_app.repo.apps import AppNode, AppPlace, Member, find_apps
from clusters_app.repo.build import Builder
from clusters_app.repo.counterparts import find_counterparts
from clusters_app.repo.discovery import HOME, find_clusters, given_cluster
from clusters_app.repo.documents import text
from clusters_app.repo.environments import Located, assign, in_order
from clusters_app.repo.model import MODEL_PATH, FleetModel, ModelError, read_model
from clusters_app.repo.sourceignore import artifact_filter
from clusters_app.repo.tree import Tree, case_clashes, normal_directory
from clusters_app.repo.walk import FluxKustomizationNode, Root, Unknown, Walked, walk

__all__ = [
    "AppNode",
    "AppPlace",
    "ClusterNode",
    "ClusterRoot",
    "EnvironmentNode",
    "FleetGraph",
    "FluxKustomizationNode",
    "Reach",
    "Unknown",
    "build_graph",
]


@dataclass(frozen=True, slots=True)
class ClusterRoot:
    """A cluster that somebody named: at its registration, or in the model."""

    name: str
    path: str
    environment: str = ""


@dataclass(frozen=True, slots=True)
class EnvironmentNode:
    """An environment; `order_certain` is false where its place among the others is a guess."""

    name: str
    order_certain: bool


@dataclass(frozen=True)
class ClusterNode:
    """A cluster with its sync path (`""` is the root of the repository) and why it is believed to be one."""

    name: str
    environment: str
    path: str
    evidence: str
    kustomizations: tuple[FluxKustomizationNode, ...]


@dataclass(frozen=True, slots=True)
class Reach:
    """The environments (in order) and clusters that a file reaches."""

    environments: tuple[str, ...]
    clusters: tuple[str, ...]

    @property
    def is_shared(self) -> bool:
        return len(self.environments) > 1


@dataclass(frozen=True)
class FleetGraph:
    """What one commit says about the fleet. All paths are from the repository's root."""

    environments: tuple[EnvironmentNode, ...]
    clusters: tuple[ClusterNode, ...]
    apps: tuple[AppNode, ...]
    files: Mapping[str, Reach]
    counterparts: tuple[tuple[str, str], ...]
    unreferenced: tuple[str, ...]
    unknown: tuple[Unknown, ...]

    @cached_property
    def _paired(self) -> Mapping[str, frozenset[str]]:
        paired: dict[str, set[str]] = defaultdict(set)
        for one, other in self.counterparts:
            paired[one].add(other)
            paired[other].add(one)
        return {path: frozenset(others) for path, others in paired.items()}

    def counterpart(self, path: str, environment: str) -> tuple[str, ...]:
        """The same file in another environment: usually one, several where each cluster has its own, or none."""
        others = self._paired.get(path, frozenset())
        return tuple(sorted(other for other in others if self.files[other].environments == (environment,)))

    def app(self, name: str) -> AppNode | None:
        return next((app for app in self.apps if app.name == name), None)

    def cluster(self, name: str) -> ClusterNode | None:
        return next((cluster for cluster in self.clusters if cluster.name == name), None)

    def clusters_in(self, environment: str) -> tuple[ClusterNode, ...]:
        return tuple(cluster for cluster in self.clusters if cluster.environment == environment)


def build_graph(
    tree: Tree, clusters: Sequence[ClusterRoot] | None = None, *, home_urls: tuple[str, ...] = ()
) -> FleetGraph:
    """The graph of a tree. Without `clusters` they are found; `home_urls`: under which this repository is known.

    Never raises for content: what cannot be followed is in `unknown`. Cost: one parse of each manifest that is reached
    or declares Flux objects (cached by content id), and one walk for each cluster.
    """
    model, complaint = _model(tree)
    builder = Builder(tree, left_out=artifact_filter(tree, None))
    walks = _walks(builder, clusters, model, home_urls)
    builder, walks = _with_own_ignore(builder, walks, home_urls)
    members = _members(walks, model)
    order, certain = _order(members, model)
    reach = _reach(members, order)
    environments_of = {path: frozenset(each.environments) for path, each in reach.items()}
    return FleetGraph(
        environments=tuple(EnvironmentNode(name, certain) for name in order),
        clusters=tuple(
            ClusterNode(
                each.name, each.environment, each.walked.root.path, each.walked.root.evidence, each.kustomizations
            )
            for each in members
        ),
        apps=find_apps(builder, members, environments_of),
        files=reach,
        counterparts=find_counterparts(
            tree,
            {path: each.environments[0] for path, each in reach.items() if not each.is_shared},
            [(each.walked.root.path, each.environment) for each in members],
        ),
        unreferenced=tuple(path for path in tree.files() if path not in reach),
        unknown=tuple(dict.fromkeys([*complaint, *_unknown(tree, members)])),
    )


def _model(tree: Tree) -> tuple[FleetModel | None, list[Unknown]]:
    try:
        return read_model(tree), []
    except ModelError as error:
        return None, [Unknown(MODEL_PATH, str(error), MODEL_PATH, error.line)]


def _walks(
    builder: Builder, clusters: Sequence[ClusterRoot] | None, model: FleetModel | None, home_urls: tuple[str, ...]
) -> list[Walked]:
    if clusters is None:
        found = find_clusters(builder, home_urls)
        known = {walked.root.path for walked in found}
        listed = [ClusterRoot(each.name, each.path, each.environment) for each in model.clusters] if model else []
        missing = [each for each in listed if normal_directory(each.path) not in known]
        return [*found, *(_given(builder, each, f"{MODEL_PATH} lists it", home_urls) for each in missing)]
    return [_given(builder, each, "registered", home_urls) for each in clusters]


def _given(builder: Builder, cluster: ClusterRoot, evidence: str, home_urls: tuple[str, ...]) -> Walked:
    path = normal_directory(cluster.path)
    root = Root(path, evidence, HOME, cluster=cluster.name, environment=cluster.environment)
    return given_cluster(builder, root, home_urls)


def _with_own_ignore(builder: Builder, walks: list[Walked], home_urls: tuple[str, ...]) -> tuple[Builder, list[Walked]]:
    """Walk again where a root's source leaves out more than `.sourceignore` does."""
    builders = {"": builder}
    result = []
    for walked in walks:
        ignore = text(walked.sources.get(walked.root.source, {}), "spec", "ignore")
        if ignore not in builders:
            builders[ignore] = Builder(builder.tree, left_out=artifact_filter(builder.tree, ignore))
        result.append(walk(builders[ignore], walked.root, home_urls) if ignore else walked)
    return builder, result


def _members(walks: Sequence[Walked], model: FleetModel | None) -> list[Member]:
    named = {normal_directory(each.path): each for each in model.clusters} if model else {}
    located = [
        Located(
            walked.root.path,
            tuple(each.path for each in walked.kustomizations if each.path),
            walked.variables,
            walked.root.environment or (named[walked.root.path].environment if walked.root.path in named else ""),
        )
        for walked in walks
    ]
    environments = assign(located)
    names = _names(walks, environments, {path: each.name for path, each in named.items()})
    return [
        Member(name, environment, walked, tuple(replace(each, cluster=name) for each in walked.kustomizations))
        for name, environment, walked in zip(names, environments, walks, strict=True)
    ]


def _names(walks: Sequence[Walked], environments: Sequence[str], known: Mapping[str, str]) -> list[str]:
    """The last segment of the sync path, with the environment in front where two clusters would be called the same."""
    plain = [
        walked.root.cluster or known.get(walked.root.path) or walked.root.path.rpartition("/")[2] or walked.root.name
        for walked in walks
    ]
    repeated = {name for name, count in Counter(plain).items() if count > 1}
    longer = [
        f"{environment}-{name}" if name in repeated else name
        for name, environment in zip(plain, environments, strict=True)
    ]
    still = {name for name, count in Counter(longer).items() if count > 1}
    return [
        walked.root.path.replace("/", "-") if name in still else name
        for name, walked in zip(longer, walks, strict=True)
    ]


def _order(members: Sequence[Member], model: FleetModel | None) -> tuple[list[str], bool]:
    found = [member.environment for member in members]
    if model is None:
        return in_order(found)
    listed = [each.name for each in model.environments]
    rest, certain = in_order([name for name in found if name not in listed])
    return [*listed, *rest], certain and not rest


def _reach(members: Sequence[Member], order: Sequence[str]) -> dict[str, Reach]:
    clusters: dict[str, list[str]] = defaultdict(list)
    environments: dict[str, set[str]] = defaultdict(set)
    for member in members:
        for path in member.walked.files:
            clusters[path].append(member.name)
            environments[path].add(member.environment)
    made: dict[tuple[frozenset[str], tuple[str, ...]], Reach] = {}
    result = {}
    for path in sorted(clusters):
        key = (frozenset(environments[path]), tuple(clusters[path]))
        if key not in made:
            made[key] = Reach(tuple(name for name in order if name in key[0]), key[1])
        result[path] = made[key]
    return result


def _unknown(tree: Tree, members: Sequence[Member]) -> Iterator[Unknown]:
    for member in members:
        yield from member.walked.unknown
    for group in case_clashes(tree.files()):
        yield Unknown(group[0], f"is one file with {group[1]} where names ignore case", group[0], 0)
