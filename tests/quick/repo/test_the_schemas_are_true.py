"""The JSON Schemas in `docs/schemas/` describe what the commands print and what the model accepts."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from clusters_app.cli import main
from clusters_app.repo.model import model_schema
from clusters_app.repo.scaffold import scaffold
from tests.quick.repo.fleets import answers, fleet

ROOT = Path(__file__).parents[3]
TREES = sorted(path for path in (ROOT / "tests/trees/trees").iterdir() if path.is_dir())


def validator(name: str) -> Draft202012Validator:
    schema = json.loads((ROOT / f"docs/schemas/{name}.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("command", ["graph", "lint"])
@pytest.mark.parametrize("tree", TREES, ids=[path.name for path in TREES])
def test_what_a_command_prints_is_as_described(command: str, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([command, str(tree), "-o", "json"])
    validator(command).validate(json.loads(capsys.readouterr().out))


def test_the_schema_of_the_model_is_the_models_own() -> None:
    written: dict[str, Any] = json.loads((ROOT / "docs/schemas/fleet.json").read_text())
    own = json.loads(json.dumps(model_schema()))
    assert {key: value for key, value in written.items() if key not in ("$schema", "title")} == own


def test_answers_and_what_is_written_from_them_are_as_described() -> None:
    validator("fleet").validate(answers())
    validator("fleet").validate(yaml.safe_load(scaffold(fleet())[".flotilla/fleet.yaml"]))
    assert not validator("fleet").is_valid({**answers(), "colour": "red"})
