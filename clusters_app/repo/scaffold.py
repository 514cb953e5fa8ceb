"""The files of a fleet repository, made from its model: layout `clusters`, where each environment has its directory.

Scaffolding is a function of the model, so the same answers give the same bytes. What it writes falls into classes:
*managed* files are rewritten while nobody has touched them (the lock knows their hashes), *seeded* ones are written
once, and everything else in a repository is foreign and never written.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import msgspec
import yaml

from clusters_app.repo.bootstrap import bootstrap_command
from clusters_app.repo.model import (
    LOCK_PATH,
    MODEL_PATH,
    AppFacts,
    AppInEnvironment,
    ChartFacts,
    ClusterFacts,
    EnvironmentFacts,
    FleetModel,
    ImageFacts,
    check_model,
    flux_minor,
    plain_model,
)
from clusters_app.repo.tree import Tree, TreeError, check_path
from clusters_app.repo.units import unit

TEMPLATE_VERSION = 1

_SEEDED_PARTS = ("flux-system/", "base/apps/", "base/infrastructure/")
_SEEDED_NAMES = ("version.yaml", "settings.yaml", "env.yaml")
_MODEL_HEAD = """\
# The fleet that this repository describes: environments in the order of promotion, clusters, apps.
# Flotilla reads it for the layout and the order; edit it like any other file.
"""


@dataclass(frozen=True, slots=True)
class ScaffoldPlan:
    """What scaffolding would write into a tree. `conflicts`: managed files that were changed by hand and stay so."""

    files: Mapping[str, bytes]
    conflicts: tuple[str, ...] = ()


def scaffold(model: FleetModel) -> dict[str, bytes]:
    """Every file of the fleet, by path. Raises ModelError when the model has a mistake.

    Cost: about a tenth of a millisecond for each file.
    """
    check_model(model)
    model = with_paths(model)
    files: dict[str, bytes] = {}
    for part in parts_of(model):
        rendered = unit(part.unit).render(**part.values)
        files |= {f"{part.directory}/{path}": data for path, data in rendered.items()} if part.directory else rendered
    files[MODEL_PATH] = model_text(model)
    files[LOCK_PATH] = _lock_text({path: data for path, data in files.items() if is_managed(path)})
    return {check_path(path): files[path] for path in sorted(files)}


@dataclass(frozen=True, slots=True)
class Part:
    """One unit to render: its name, the directory that it fills (empty: the repository), its variables."""

    unit: str
    directory: str
    values: Mapping[str, Any]


def parts_of(model: FleetModel) -> Iterator[Part]:
    """The units of a fleet whose paths are all written out."""
    yield _repository(model)
    for environment in model.environments:
        yield _environment(model, environment)
        yield from (_app(app, environment.name) for app in model.apps if app.is_in(environment.name))
    yield from (_cluster(model, cluster) for cluster in model.clusters)


def plan_scaffold(tree: Tree, model: FleetModel) -> ScaffoldPlan:
    """What is to be written so that a tree has the fleet; a second run plans nothing.

    Raises TreeError when a file, a link or a submodule stands where a directory has to be.
    """
    wanted = scaffold(model)
    _check_directories(tree, wanted)
    locked = _locked(tree)
    changes: dict[str, bytes] = {}
    conflicts = []
    for path, data in wanted.items():
        if path == LOCK_PATH:
            continue
        current = _current(tree, path)
        if current is None or path == MODEL_PATH:
            changes[path] = data
        elif current != data and path in locked:
            if locked[path] == _hash(current):
                changes[path] = data
            else:
                conflicts.append(path)
    written = {path: data for path, data in changes.items() if _current(tree, path) != data}
    lock = _lock_text(_lock_after(wanted, written, locked))
    if _current(tree, LOCK_PATH) != lock and (written or not locked):
        written[LOCK_PATH] = lock
    return ScaffoldPlan(written, tuple(conflicts))


def _check_directories(tree: Tree, wanted: Iterable[str]) -> None:
    needed = {str(parent) for path in wanted for parent in PurePosixPath(path).parents}
    for path in needed & tree.files().keys():
        raise TreeError("tree.not-a-directory", path, "a file or a link is in the way of a directory")


def with_paths(model: FleetModel) -> FleetModel:
    """The model with every sync path written out.

    A cluster alone in its environment has the environment's directory, one of several a directory in it. A path that
    is there already stays: a second cluster never moves the first.
    """
    clusters = tuple(
        each if each.path else msgspec.structs.replace(each, path=_path_of(model, each)) for each in model.clusters
    )
    return msgspec.structs.replace(model, clusters=clusters)


def _path_of(model: FleetModel, cluster: ClusterFacts) -> str:
    directory = environment_directory(cluster.environment)
    alone = len(model.clusters_in(cluster.environment)) == 1
    return directory if alone else f"{directory}/{cluster.name}"


def environment_directory(environment: str) -> str:
    return f"clusters/{environment}"


def is_managed(path: str) -> bool:
    """Whether a scaffolded file stays ours: those of an app, a component or Flux itself belong to their editors."""
    if path in (MODEL_PATH, LOCK_PATH) or any(part in path for part in _SEEDED_PARTS):
        return False
    in_app = "/apps/" in path and path.count("/") > 3
    return not in_app and path.rpartition("/")[2] not in _SEEDED_NAMES and "/infrastructure/" not in path


def bootstrap_commands(model: FleetModel) -> dict[str, str]:
    """The bootstrap command of each cluster, by its name."""
    whole = with_paths(model)
    return {cluster.name: bootstrap_command(whole.repository, cluster) for cluster in whole.clusters}


def model_text(model: FleetModel) -> bytes:
    """`.flotilla/fleet.yaml`."""
    dumped = yaml.dump(plain_model(model), Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=120)
    return (_MODEL_HEAD + dumped).encode()


def _repository(model: FleetModel) -> Part:
    commands = bootstrap_commands(model)
    clusters = [
        {"name": each.name, "environment": each.environment, "path": each.path, "bootstrap": commands[each.name]}
        for each in model.clusters
    ]
    environments = [{"name": each.name, "age": ",".join(each.age)} for each in model.environments]
    fleet = {"environments": environments, "clusters": clusters, "apps": [{"name": each.name} for each in model.apps]}
    values = {"forge": model.repository.forge, "branch": model.repository.branch, "fleet": fleet}
    return Part("repository", "", values)


def _environment(model: FleetModel, environment: EnvironmentFacts) -> Part:
    directory = environment_directory(environment.name)
    apps = sorted(app.name for app in model.apps if app.is_in(environment.name))
    return Part("environment", directory, {"root": directory, "name": environment.name, "fleet": {"apps": apps}})


def _cluster(model: FleetModel, cluster: ClusterFacts) -> Part:
    environment = model.environment(cluster.environment)
    values = {
        "root": cluster.path,
        "name": cluster.name,
        "environment": cluster.environment,
        "url": model.repository.url,
        "branch": model.repository.branch,
        "base": "../" * (cluster.path.count("/") + 1) + "base",
        "layers": environment_directory(cluster.environment),
        "interval": environment.interval or _usual_interval(model, environment),
        "retry_interval": environment.retry_interval,
        "timeout": environment.timeout,
        "source_interval": environment.source_interval,
        "decrypts": bool(environment.age),
        "ignores": flux_minor(cluster) >= 9,
        "fleet": {"variables": cluster.variables},
    }
    return Part("cluster", cluster.path, values)


def _usual_interval(model: FleetModel, environment: EnvironmentFacts) -> str:
    """The first environment is where people wait for their changes."""
    return "10m" if len(model.environments) > 1 and environment == model.environments[0] else "1h"


def _app(app: AppFacts, environment: str) -> Part:
    particular = app.environments.get(environment, AppInEnvironment())
    values: dict[str, object] = {
        "name": app.name,
        "namespace": app.namespace or app.name,
        "environment": environment,
        "version": app.version_in(environment),
        "replicas": particular.replicas,
        "host": particular.host,
    }
    if app.image is not None:
        values |= _image(app.image)
    if app.chart is not None:
        values |= _chart(app.chart)
    return Part("app", "", values)


def _image(image: ImageFacts) -> dict[str, object]:
    return {"kind": "image", "image": image.name, "port": image.port, "health": image.health}


def _chart(chart: ChartFacts) -> dict[str, object]:
    return {
        "kind": "chart",
        "source": chart.source,
        "chart_url": chart.url,
        "chart": chart.name,
        "insecure": chart.insecure,
        "secret": chart.secret,
        "ca_secret": chart.ca_secret,
        "fleet": {"version_value": list(chart.version_value)},
    }


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _lock_text(files: Mapping[str, bytes | str]) -> bytes:
    hashes = {path: data if isinstance(data, str) else _hash(data) for path, data in sorted(files.items())}
    return (json.dumps({"template": TEMPLATE_VERSION, "files": hashes}, indent=2) + "\n").encode()


def _lock_after(
    wanted: Mapping[str, bytes], written: Mapping[str, bytes], locked: Mapping[str, str]
) -> dict[str, bytes | str]:
    """Files that were there before the first scaffold are foreign, and so never locked."""
    ours = [path for path in wanted if is_managed(path)]
    return {
        path: wanted[path] if path in written else locked[path] for path in ours if path in written or path in locked
    }


def _locked(tree: Tree) -> dict[str, str]:
    data = _current(tree, LOCK_PATH)
    try:
        files = msgspec.json.decode(data, type=_Lock).files if data is not None else {}
    except msgspec.DecodeError:
        return {}
    return files


class _Lock(msgspec.Struct, frozen=True):
    files: dict[str, str]


def _current(tree: Tree, path: str) -> bytes | None:
    try:
        return tree.read(path)
    except TreeError:
        return None
