"""The apps of a fleet: the overlay of one component in one environment, found by what it deploys.

A directory is an app when it brings a workload and its path has a name of its own; a directory that only collects
(`apps/staging`, `clusters/dev/apps`) is opened, down to single HelmReleases. What has one name is one app.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from clusters_app.repo.build import HELM_GROUP, Builder, BuiltObject
from clusters_app.repo.documents import documents, mapping
from clusters_app.repo.environments import canonical, rank, tokens, word_in_path
from clusters_app.repo.kustomize import KUSTOMIZATION_NAMES
from clusters_app.repo.sources import source_key
from clusters_app.repo.walk import FluxKustomizationNode, Walked

_WORKLOADS = frozenset(
    {
        "Deployment",
        "StatefulSet",
        "DaemonSet",
        "CronJob",
        "Job",
        "ReplicaSet",
        "Rollout",
        "HelmRelease",
        "Pod",
        "Service",
    }
)
_NOT_ALONE = frozenset({"Service"})

_COLLECTING = frozenset(
    [
        "app",
        "apps",
        "application",
        "applications",
        "overlay",
        "overlays",
        "base",
        "bases",
        "env",
        "envs",
        "environment",
        "environments",
        "cluster",
        "clusters",
        "kubernetes",
        "k8s",
        "manifests",
        "infra",
        "infrastructure",
        "deploy",
        "deployment",
        "deployments",
        "kustomize",
        "kustomization",
        "kustomizations",
        "flux",
        "fluxcd",
        "flux-system",
        "fleet",
        "gitops",
        "git",
        "services",
        "workloads",
        "components",
        "releases",
        "release",
        "helm",
        "helmreleases",
        "ks",
        "variants",
        "variant",
        "config",
        "configs",
        "controllers",
        "controller",
        "resources",
        "main",
        "core",
        "instances",
        "regions",
        "region",
        "stacks",
        "sources",
        "system",
        "src",
        "platform",
        "tenants",
        "teams",
    ]
)
_PLACES = frozenset("east west north south central eu us asia emea apac primary secondary".split())  # noqa: SIM905


@dataclass(frozen=True)
class AppPlace:
    """One overlay: `path` is its directory, or the one file in which it stands.

    `files`: its own, which clusters of no other environment reach (and siblings that nothing lists yet); `reached`:
    with its bases; `kustomizations`: the Flux Kustomizations that apply it; `releases`: the HelmReleases that it
    holds, as `HelmRelease/namespace/name`.
    """

    path: str
    files: tuple[str, ...]
    reached: tuple[str, ...]
    clusters: tuple[str, ...]
    kustomizations: tuple[FluxKustomizationNode, ...]
    releases: tuple[str, ...] = ()


@dataclass(frozen=True)
class AppNode:
    """An app with its places by environment; an environment may hold several (one a cluster)."""

    name: str
    environments: Mapping[str, tuple[AppPlace, ...]]


@dataclass(frozen=True, slots=True)
class Member:
    """A cluster as the search for apps sees it."""

    name: str
    environment: str
    walked: Walked
    kustomizations: tuple[FluxKustomizationNode, ...]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A component as one Kustomization applies it. `shares`: it stands in a file or directory with other components."""

    name: str
    path: str
    objects: tuple[BuiltObject, ...]
    reached: frozenset[str]
    shares: bool = False


@dataclass(slots=True)
class _Gathered:
    units: list[_Unit] = field(default_factory=list)
    clusters: dict[str, None] = field(default_factory=dict)
    nodes: list[FluxKustomizationNode] = field(default_factory=list)


def find_apps(builder: Builder, members: Sequence[Member], reach: Mapping[str, frozenset[str]]) -> tuple[AppNode, ...]:
    """Every app, by name. `reach`: the environments of each reached file."""
    gathered: dict[tuple[str, str, str], _Gathered] = defaultdict(_Gathered)
    names = frozenset(each.name for each in members)
    searches = {each.environment: _Search(builder, each.environment, names, reach) for each in members}
    for member in members:
        for unit, node in _units_of(searches[member.environment], member):
            found = gathered[unit.name, member.environment, unit.path]
            found.units.append(unit)
            found.clusters[member.name] = None
            found.nodes.append(node)
    places: dict[str, dict[str, list[AppPlace]]] = defaultdict(lambda: defaultdict(list))
    called = _names({(name, environment) for name, environment, _ in gathered})
    for (name, environment, _), found in sorted(gathered.items(), key=lambda item: item[0]):
        places[called[name, environment]][environment].append(_place(builder, found, environment, reach))
    return tuple(
        AppNode(name, {environment: tuple(_without_inner(each)) for environment, each in by_environment.items()})
        for name, by_environment in sorted(places.items())
    )


def _names(found: set[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """One name for `shop-staging` and `shop-prod`; a name that several environments share is left as it is."""
    shared = defaultdict(set)
    for name, environment in found:
        shared[name].add(environment)
    plain = {(name, environment): _without_word(name, environment) for name, environment in found}
    partners = defaultdict(set)
    for (name, environment), short in plain.items():
        if len(shared[name]) == 1:
            partners[short].add(environment)
    return {
        (name, environment): short if len(shared[name]) == 1 and (len(partners[short]) > 1 or short in shared) else name
        for (name, environment), short in plain.items()
    }


def _without_word(name: str, environment: str) -> str:
    parts = re.split(r"[-_.]", name)
    kept = [part for part in parts if canonical(part) != canonical(environment)]
    return "-".join(kept) if kept and len(kept) < len(parts) else name


def _without_inner(places: list[AppPlace]) -> Iterable[AppPlace]:
    """A place that lies in another one of the same app is a part of it."""
    paths = {place.path for place in places}
    return [
        each for each in places if not any(each.path.startswith(f"{path}/") for path in paths - {each.path} if path)
    ]


class _Search:
    """The units below the paths of the Kustomizations of one environment."""

    def __init__(
        self, builder: Builder, environment: str, names: frozenset[str], reach: Mapping[str, frozenset[str]]
    ) -> None:
        self.builder = builder
        self.environment = environment
        self.cluster_names = names
        self.reach = reach
        self._found: dict[tuple[str, str, str], tuple[_Unit, ...]] = {}
        self.has_others = any(each != {environment} for each in reach.values())

    def applied(self, path: str, kustomization: str) -> tuple[_Unit, ...]:
        """What a Kustomization with this path and name applies; the same for every cluster of the environment."""
        return self._once(path, path, self.name_of(kustomization))

    def _once(self, directory: str, overlay: str, fallback: str) -> tuple[_Unit, ...]:
        """The units of a directory, found once and each once, however many ways lead to it."""
        key = directory, overlay, fallback
        if key not in self._found:
            distinct = {(unit.name, unit.path): unit for unit in self.units(*key)}
            self._found[key] = tuple(distinct.values())
        return self._found[key]

    def units(self, directory: str, overlay: str, fallback: str) -> Iterator[_Unit]:
        build = self.builder.build(directory)
        if not _deploys(build.objects):
            return
        parts = [inner for inner in build.listed if _deploys(self.builder.build(inner).objects)]
        name = self.name_of(directory)
        below = [inner for inner in parts if inner.startswith(f"{directory}/")]
        if name and len(below) < 2:
            yield _Unit(name, self._place(directory, overlay), build.objects, build.files)
            return
        shares = len(parts) > 1 or bool(parts and _deploys(build.own_objects))
        for inner in parts:
            for unit in self._once(inner, self._place(inner, overlay), ""):
                if unit.path == directory:
                    own = build.files & self._own(directory)
                    yield _Unit(unit.name, unit.path, unit.objects, unit.reached | own, shares or unit.shares)
                else:
                    yield unit
        yield from self._loose(directory, build.own_objects, "" if parts else fallback)

    def _own(self, directory: str) -> frozenset[str]:
        return frozenset(self.builder.directories.files[directory])

    def _place(self, directory: str, overlay: str) -> str:
        return directory if self.is_special(directory) or not self.is_special(overlay) else overlay

    def is_special(self, directory: str) -> bool:
        """Whether a directory is one environment's own, and so what a promotion would change."""
        own = [path for path in self.builder.directories.files.get(directory, ()) if path in self.reach]
        if not own or any(self.reach[path] != {self.environment} for path in own):
            return False
        # Where there is but one environment, every file is its own: then the name has to tell.
        return self.has_others or word_in_path(directory) is not None

    def _loose(self, directory: str, objects: Iterable[BuiltObject], fallback: str) -> Iterator[_Unit]:
        """Objects that a collecting directory lists as files: by sub-directory, else each HelmRelease, each file."""
        inside: dict[str, list[BuiltObject]] = defaultdict(list)
        direct: dict[str, list[BuiltObject]] = defaultdict(list)
        for each in objects:
            child = _child_directory(directory, each.file)
            (inside[child] if child else direct[each.file]).append(each)
        for child, found in inside.items():
            if _deploys(found):
                name = self.name_of(child) or _main_name(found)
                yield _Unit(name, child, tuple(found), frozenset(each.file for each in found))
        if fallback and not inside and len([found for found in direct.values() if _deploys(found)]) > 0:
            every = [each for found in direct.values() for each in found]
            yield _Unit(fallback, directory, tuple(every), self.builder.build(directory).files)
            return
        for file, found in direct.items():
            yield from _in_file(file, found, self.builder.build(directory).files & self._own(directory))

    def name_of(self, path: str) -> str:
        """The last part of a path that is no environment, cluster or word for a collection; empty if none is."""
        for segment in reversed(path.split("/")):
            if segment and not self._is_collecting(segment):
                return segment
        return ""

    def _is_collecting(self, segment: str) -> bool:
        low = segment.lower()
        if low in _COLLECTING or rank(low) is not None or canonical(low) == canonical(self.environment):
            return True
        if segment in self.cluster_names or segment.isdigit():
            return True
        words = tokens(low)
        if all(word in _COLLECTING for word in words):
            return True
        rest = [word for word in words if rank(word) is None]
        return len(rest) < len(words) and all(len(word) <= 3 or word in _PLACES for word in rest)


def _child_directory(directory: str, file: str) -> str:
    prefix = f"{directory}/" if directory else ""
    if not file.startswith(prefix):
        return ""
    child, slash, _ = file.removeprefix(prefix).partition("/")
    return prefix + child if slash else ""


def _in_file(file: str, objects: list[BuiltObject], around: frozenset[str]) -> Iterator[_Unit]:
    releases = [each for each in objects if each.kind == "HelmRelease"]
    for release in releases:
        yield _Unit(release.name, file, (release,), frozenset({file}) | around, shares=True)
    if not releases and _deploys(objects):
        yield _Unit(_main_name(objects), file, tuple(objects), frozenset({file}) | around, shares=True)


def _main_name(objects: Sequence[BuiltObject]) -> str:
    return next(each.name for each in objects if _is_workload(each))


def _is_workload(each: BuiltObject) -> bool:
    if each.kind not in _WORKLOADS or each.kind in _NOT_ALONE or is_bootstrap(each):
        return False
    return each.group == HELM_GROUP if each.kind == "HelmRelease" else True


def _deploys(objects: Iterable[BuiltObject]) -> bool:
    return any(_is_workload(each) for each in objects)


def is_bootstrap(each: BuiltObject) -> bool:
    """Whether an object is part of Flux itself, as bootstrap writes it."""
    labels = mapping(each.value, "metadata", "labels")
    return is_bootstrap_file(each.file) or labels.get("app.kubernetes.io/part-of") == "flux"


def is_bootstrap_file(path: str) -> bool:
    return path.rpartition("/")[2] in ("gotk-components.yaml", "gotk-sync.yaml")


def _units_of(search: "_Search", member: Member) -> Iterator[tuple[_Unit, FluxKustomizationNode]]:
    for node in member.kustomizations:
        if node.path is not None:
            for unit in search.applied(node.path, "" if node.parent is None else node.name):
                yield unit, node
        elif node.outside and (pinned := _from_outside(member.walked, node)) is not None:
            yield pinned, node


def _from_outside(walked: Walked, node: FluxKustomizationNode) -> _Unit | None:
    """A Kustomization of another source is an app of this repository when its version is pinned here."""
    key = source_key(mapping(node.spec, "sourceRef"), node.namespace)
    pinned = mapping(walked.sources.get(key, {}), "spec", "ref").keys() & {"tag", "semver", "digest", "commit"}
    if not pinned or "flux" in tokens(node.name):
        return None
    return _Unit(node.name, node.file, (), frozenset({node.file}), shares=True)


def _place(builder: Builder, found: _Gathered, environment: str, reach: Mapping[str, frozenset[str]]) -> AppPlace:
    path = found.units[0].path
    reached = frozenset().union(*(unit.reached for unit in found.units))
    own = {file for file in reached if reach.get(file) == frozenset({environment})}
    if any(unit.shares for unit in found.units):
        objects = {(each.kind, each.name) for unit in found.units for each in unit.objects}
        own = {file for file in own if _concerns(builder, file, objects, found.units[0].name)}
    elif own and path in builder.directories:
        own |= {file for file in builder.files_below(path) if file not in reach}
    kustomizations = tuple({(node.cluster, node.ref): node for node in found.nodes}.values())
    releases = {
        f"HelmRelease/{each.namespace}/{each.name}"
        for unit in found.units
        for each in unit.objects
        if each.kind == "HelmRelease" and each.namespace
    }
    return AppPlace(
        path,
        tuple(sorted(own)),
        tuple(sorted(reached)),
        tuple(found.clusters),
        kustomizations,
        tuple(sorted(releases)),
    )


def _concerns(builder: Builder, file: str, objects: set[tuple[str, str]], name: str) -> bool:
    """Whether a file of a shared directory speaks of this component: by its objects, else by its name."""
    if file.rpartition("/")[2] in KUSTOMIZATION_NAMES:
        return True
    spoken = {(each.kind, each.name) for each in documents(builder.tree, file).documents if each.is_object}
    return bool(spoken & objects) if spoken else name in file.rpartition("/")[2]
