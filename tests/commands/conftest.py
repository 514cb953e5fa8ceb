"""Commands as a person gives them, on an installation whose workers are told nothing."""

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from clusters_app import cli
from tests.services.conftest import api, environment, installation, register, register_at, repository
from tests.services.fleet import fleet

__all__ = ["api", "environment", "fleet", "installation", "register", "register_at", "repository"]


@dataclass(frozen=True)
class Told:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


type Flotilla = Callable[..., Told]


@pytest.fixture
def flotilla(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Flotilla:
    """`flotilla("cluster", "list", stdin="")`: give a command."""

    def give(*words: str, stdin: str = "") -> Told:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        code = cli.main(list(words))
        shown = capsys.readouterr()
        return Told(code, shown.out, shown.err)

    return give
