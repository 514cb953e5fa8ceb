"""The templates of `cookiecutter-repo/`, rendered in memory.

Each unit is an ordinary Cookiecutter template (`cookiecutter cookiecutter-repo/app` works); here its context and Jinja
environment come from Cookiecutter, and its files are compiled once. There are no hooks, and no value is ever rendered.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Template

from clusters_app import safe_yaml

ROOT = Path(__file__).resolve().parents[2] / "cookiecutter-repo"


class UnitError(RuntimeError):
    """A rendered file is not what the unit promises: the template is wrong, or a value got past its check."""


@dataclass(frozen=True, slots=True)
class _File:
    path: Template
    text: Template


@dataclass(frozen=True, slots=True)
class Unit:
    """One compiled unit. `documents`: what each of its manifests must hold, as `Kind/name`."""

    name: str
    defaults: dict[str, Any]
    files: tuple[_File, ...]
    documents: tuple[tuple[Template, tuple[Template, ...]], ...]

    def render(self, **values: Any) -> dict[str, bytes]:
        """The files by path below the unit's root, in order of path; a file that renders to nothing is left out.

        Values are data: what they hold is never read as a template. Raises UnitError when a result is not as promised.
        """
        unknown = values.keys() - self.defaults.keys()
        if unknown:
            raise UnitError(f"unit {self.name} has no variable {', '.join(sorted(unknown))}")
        context = {"cookiecutter": {**self.defaults, **values}}
        rendered = {file.path.render(context): file.text.render(context) for file in self.files}
        kept = {path: text for path, text in sorted(rendered.items()) if text.strip()}
        expected = {path.render(context): [each.render(context) for each in names] for path, names in self.documents}
        for path, text in kept.items():
            if path.endswith((".yaml", ".yml")):
                self._check(path, text, expected.get(path))
        return {path: text.encode() for path, text in kept.items()}

    def _check(self, path: str, text: str, expected: list[str] | None) -> None:
        parsed = safe_yaml.load_repository(text.encode())
        if parsed.problem is not None:
            raise UnitError(f"unit {self.name}: {path} is not YAML") from parsed.problem
        found = [_name_of(safe_yaml.to_plain(document.root)) for document in parsed.documents]
        if expected and found != expected:
            raise UnitError(f"unit {self.name}: {path} holds {found}, not {expected}")


def _name_of(document: object) -> str:
    if not isinstance(document, dict):
        return ""
    metadata = document.get("metadata")
    name = metadata.get("name", "") if isinstance(metadata, dict) else ""
    return f"{document.get('kind', '')}/{name}"


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
            environment.from_string(path.relative_to(top).as_posix()),
            environment.from_string(path.read_text(encoding="utf-8")),
        )
        for path in sorted(top.rglob("*"))
        if path.is_file()
    )
    defaults = json.loads(json.dumps(context["cookiecutter"]))
    documents = tuple(
        (environment.from_string(path), tuple(environment.from_string(each) for each in names))
        for path, names in defaults.pop("_documents").items()
    )
    plain = {key: value for key, value in defaults.items() if not key.startswith("_")}
    return Unit(name, plain, files, documents)
