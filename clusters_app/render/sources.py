"""The files that a build reads, found before it starts; what would lead out of the repository is refused here."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from clusters_app.repo.build import Build, Builder, Problem
from clusters_app.repo.tree import TreeError, normal_directory

from .errors import RenderRefused

MOST_BYTES = 64 * 1024 * 1024

# What the graph's build met on its way, and what that means here. What is merely missing kustomize names by itself.
_REFUSED = {
    "reference.outside": "render.outside",
    "reference.remote": "render.remote",
    "reference.link": "render.link",
    "reference.cycle": "render.cycle",
    "reference.too-deep": "render.cycle",
    "kustomize.helm": "render.charts",
}


@dataclass(frozen=True, slots=True)
class Sources:
    """A directory to build and the paths that it needs. `resources`: what Flux lists where no kustomization file is."""

    directory: str
    paths: tuple[str, ...]
    resources: tuple[str, ...] | None
    key: str


def sources(builder: Builder, path: str) -> Sources:
    """Everything that building `path` reads. Raises RenderRefused, naming file and line of what is in the way."""
    directory = normal_directory(path)
    if directory not in builder.directories:
        raise RenderRefused("render.no-directory", path=path)
    build = builder.build(directory)
    for problem in build.problems:
        if code := _code(problem):
            raise RenderRefused(code, file=problem.file, line=problem.line, what=problem.what[:200])
    resources = _generated(builder, build) if build.generated else None
    paths = tuple(sorted(build.files))
    return Sources(directory, paths, resources, _key(builder, directory, paths, resources))


def _code(problem: Problem) -> str | None:
    # `git::https://…` names a getter; the graph takes it for a file that is missing.
    if problem.code == "reference.missing" and "::" in problem.what:
        return "render.remote"
    return _REFUSED.get(problem.code)


def _generated(builder: Builder, build: Build) -> tuple[str, ...]:
    """Flux lists each YAML file below the directory, and a directory that has a kustomization file as itself."""
    inner = frozenset().union(*(builder.build(listed).files for listed in build.listed))
    found = [*build.files.difference(inner), *build.listed]
    prefix = f"{build.directory}/" if build.directory else ""
    return tuple(sorted(each.removeprefix(prefix) for each in found))


def _key(builder: Builder, directory: str, paths: tuple[str, ...], resources: tuple[str, ...] | None) -> str:
    """Equal keys render equally: the same contents under the same paths."""
    entries = builder.tree.files()
    digest = hashlib.sha256(repr((directory, resources)).encode(errors="surrogateescape"))
    for path in paths:
        digest.update(f"{path}\0{entries[path].oid}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()


def contents(builder: Builder, found: Sources) -> Mapping[str, bytes]:
    """The bytes of every file, and the kustomization that Flux would generate."""
    files = {path: _read(builder, path) for path in found.paths}
    if found.resources is not None:
        generated = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
        text = yaml.safe_dump(generated | {"resources": list(found.resources)})
        files[f"{found.directory}/kustomization.yaml".lstrip("/")] = text.encode()
    if sum(map(len, files.values())) > MOST_BYTES:
        raise RenderRefused("render.too-many-files", limit=MOST_BYTES)
    return files


def _read(builder: Builder, path: str) -> bytes:
    try:
        return builder.tree.read(path)
    except TreeError as error:
        raise RenderRefused("render.unreadable", file=path, what=error.code) from error
