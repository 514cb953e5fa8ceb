"""What the documents say about the project is so."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


def test_every_variable_that_is_read_is_documented_and_the_other_way_round() -> None:
    sources = [(ROOT / "fleet" / name).read_text() for name in ("settings.py", "logs.py")]
    read = set(re.findall(r'(?:env_\w+|environ\.get)\(\s*"([A-Z_]+)"', "".join(sources)))
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", (ROOT / "docs/settings.md").read_text(), re.MULTILINE))
    assert documented == read


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text())
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_every_make_target_that_is_mentioned_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    mentioned = {name for document in DOCUMENTS for name in re.findall(r"\bmake ([a-z]+)`?", _code(document))}
    assert mentioned <= targets


def _code(document: Path) -> str:
    """What stands in backquotes: elsewhere, `make` is an English word."""
    return "\n".join(re.findall(r"```.*?```|`[^`\n]+`", document.read_text(), re.DOTALL))
