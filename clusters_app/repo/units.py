"""The templates of `cookiecutter-repo/`, rendered in memory.

Each unit is an ordinary Cookiecutter template (`cookiecutter cookiecutter-repo/app` works); here its context and Jinja
environment come from Cookiecutter, and its files are compiled once. There are no hooks, and no value is ever rendered.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment

from clusters_app import safe_yaml
from clusters_app.ingest import JsonValue

ROOT = Path(__file__).resolve().parents[2] / "cookiecutter-repo"


class UnitError(RuntimeError):
    """A rendered file is not what the unit promises: the template is wrong, or a value got past its check."""


type _Text = Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class _File:
    path: _Text
    text: _Text


@dataclass(frozen=True, slots=True)
class Unit:
    """One compiled unit. `documents`: the objects that each of its manifests must hold, as `Kind/name`."""

    name: str
    defaults: dict[str, Any]
    files: tuple[_File, ...]
    documents: tuple[tuple[_Text, tuple[_Text, ...]], ...]

    def render(self, **values: Any) -> dict[str, bytes]:
        """The files by path below the unit's root, in order of path; a file that renders to nothing is left out.

        Values are data: what they hold is never read as a template. Raises UnitError when a result is not as promised.
        """
        unknown = values.keys() - self.defaults.keys()
        if unknown:
            raise UnitError(f"unit {self.name} has no variable {', '.join(sorted(unknown))}")
        context = {"cookiecutter": {**self.defaults, **values}}
        rendered = {file.path(context): file.text(context) for file in self.files}
        kept = {path: text for path, text in sorted(rendered.items()) if text.strip()}
        expected = {path(context): tuple(each(context) for each in names) for path, names in self.documents}
        for path, text in kept.items():
            if path.endswith((".yaml", ".yml")) and _objects_in(text) != expected.get(path):
                raise UnitError(f"unit {self.name}: {path} holds {_objects_in(text)}, not {expected.get(path)}")
        return {path: text.encode() for path, text in kept.items()}


@lru_cache(maxsize=4096)
def _objects_in(text: str) -> tuple[str, ...] | None:
    """The objects of a manifest, None when it cannot be read. Most clusters share most texts, hence the cache."""
    parsed = safe_yaml.load_repository(text.encode())
    if parsed.problem is not None:
        return None
    plain = [safe_yaml.to_plain(document.root) for document in parsed.documents if document.root is not None]
    return tuple(_name_of(each) for each in plain if isinstance(each, dict) and "kind" in each)


def forget_texts() -> None:
    """Read every text anew, as a process that has just started does."""
    _objects_in.cache_clear()


def _name_of(document: Mapping[str, JsonValue]) -> str:
    metadata = document.get("metadata")
    name = metadata.get("name", "") if isinstance(metadata, dict) else ""
    return f"{document['kind']}/{name}"


def _compiled(environment: Environment, written: str) -> _Text:
    """A template, or the text itself where it has nothing to fill in."""
    if "{{" not in written and "{%" not in written:
        return lambda _: written
    return environment.from_string(written).render


@cache
def unit(name: str) -> Unit:
    """A unit of `cookiecutter-repo/` by its directory's name, read and compiled at the first use."""
    from cookiecutter.find import find_template
    from cookiecutter.generate import generate_context
    from cookiecutter.utils import create_env_with_context

    directory = ROOT / name
    context = generate_context(str(directory / "cookiecutter.json"))
    environment = create_env_with_context(context)
    top = find_template(directory, environment)
    files = tuple(
        _File(
            _compiled(environment, path.relative_to(top).as_posix()),
            _compiled(environment, path.read_text(encoding="utf-8")),
        )
        for path in sorted(top.rglob("*"))
        if path.is_file()
    )
    defaults = json.loads(json.dumps(context["cookiecutter"]))
    documents = tuple(
        (_compiled(environment, path), tuple(_compiled(environment, each) for each in names))
        for path, names in defaults.pop("_documents").items()
    )
    plain = {key: value for key, value in defaults.items() if not key.startswith("_")}
    return Unit(name, plain, files, documents)
