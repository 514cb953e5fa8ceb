"""The catalogues of translations: brought up to date with the code, and checked to be complete, without gettext.

`python -m tests.catalogues update` (make messages) rewrites the catalogue and its compiled form, which is committed, so
that a checkout and a wheel speak Russian as they are. `… check` (make lint) says what is missing.
"""

import io
import os
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
LANGUAGES = ("ru",)
SHOWN = 25
_ONE, _PLURAL, _CONTEXT, _BOTH = (1,), (1, 2), ((1, "c"), 2), ((1, "c"), 2, 3)
_FUNCTIONS = {"gettext": _ONE, "ngettext": _PLURAL, "pgettext": _CONTEXT, "npgettext": _BOTH}
KEYWORDS = {
    "_": _ONE,
    "gettext_noop": _ONE,
    **_FUNCTIONS,
    **{f"{name}_lazy": spec for name, spec in _FUNCTIONS.items()},
}


def main(words: list[str]) -> int:
    if words == ["update"]:
        for language in LANGUAGES:
            _update(language)
        return 0
    if words == ["check"]:
        problems = [problem for language in LANGUAGES for problem in problems_of(language)]
        for problem in problems[:SHOWN]:
            print(problem, file=sys.stderr)
        if len(problems) > SHOWN:
            print(f"… and {len(problems) - SHOWN} more", file=sys.stderr)
        return 1 if problems else 0
    print("usage: python -m tests.catalogues update|check", file=sys.stderr)
    return 2


def problems_of(language: str) -> Iterator[str]:
    """What keeps the catalogue from being complete: one line each, with the file that says the text."""
    catalogue, wanted = _read(language), messages_of_the_code()
    name = _file(language).relative_to(ROOT)
    for message in _texts(wanted):
        found = catalogue.get(message.id, message.context)
        place = ", ".join(file for file, _ in message.locations)
        if found is None or not all(_strings(found)):
            yield f"{name}: not translated: {_shown(message)} ({place})"
        elif found.fuzzy:
            yield f"{name}: fuzzy: {_shown(message)}"
        else:
            yield from (f"{name}: {_shown(message)}: {error}" for error in found.check(catalogue))
    for message in _texts(catalogue):
        if wanted.get(message.id, message.context) is None:
            yield f"{name}: nothing says this any more (make messages removes it): {_shown(message)}"
    if not _is_compiled(language, catalogue):
        yield f"{name}: its compiled form is missing or old: make messages"


def messages_of_the_code() -> Catalog:
    """Every text that the Python files and the templates pass to translation."""
    catalogue = Catalog()
    for file, source in [*_python_sources(), *_template_sources()]:
        place = str(file.relative_to(ROOT))
        for _line, text, comments, context in extract("python", source, KEYWORDS, ("Translators:",)):
            catalogue.add(text, locations=[(place, 0)], auto_comments=comments, context=context)
    return catalogue


def _python_sources() -> Iterator[tuple[Path, io.BytesIO]]:
    for folder in ("clusters_app", "fleet"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield file, io.BytesIO(file.read_bytes())


def _template_sources() -> Iterator[tuple[Path, io.BytesIO]]:
    """Templates as Django shows them to gettext: their texts as Python calls, all else blotted out."""
    from django.utils.translation.template import templatize

    for file in sorted(path for path in (ROOT / "templates").rglob("*") if path.suffix in {".html", ".txt", ".svg"}):
        calls = templatize(file.read_text(encoding="utf-8"), origin=str(file))
        # Indentation means something in Python, and nothing here.
        yield file, io.BytesIO("\n".join(line.strip() for line in calls.splitlines()).encode())


def _update(language: str) -> None:
    catalogue = _read(language)
    # Guessing a translation from a similar text would put words into the translator's mouth.
    catalogue.update(messages_of_the_code(), no_fuzzy_matching=True, update_creation_date=False)
    catalogue.obsolete.clear()
    file = _file(language)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as stream:
        write_po(stream, catalogue, width=120, sort_output=True, include_lineno=False, ignore_obsolete=True)
    with file.with_suffix(".mo").open("wb") as stream:
        write_mo(stream, catalogue)
    missing = sum(1 for message in _texts(catalogue) if not all(_strings(message)))
    print(f"{file.relative_to(ROOT)}: {len(catalogue)} texts, {missing} without a translation")


def _read(language: str) -> Catalog:
    file = _file(language)
    if not file.exists():
        return Catalog(
            locale=language,
            project="Flotilla",
            version="1",
            msgid_bugs_address="see SECURITY.md and CONTRIBUTING.md",
            last_translator="the authors",
            language_team="the authors",
            creation_date=datetime(2026, 1, 1, tzinfo=UTC),
            revision_date=datetime(2026, 1, 1, tzinfo=UTC),
            header_comment="# Flotilla's texts. `make messages` brings this file up to date.",
            fuzzy=False,
        )
    with file.open("rb") as stream:
        return read_po(stream, locale=language)


def _is_compiled(language: str, catalogue: Catalog) -> bool:
    file = _file(language).with_suffix(".mo")
    if not file.exists():
        return False
    with file.open("rb") as stream:
        compiled = read_mo(stream)
    translated, compiled_texts = _translations(catalogue), _translations(compiled)
    # Babel compiles a plural without a translation to its English; only what is translated is compared.
    return translated == {key: compiled_texts.get(key, ()) for key in translated}


def _translations(catalogue: Catalog) -> dict[tuple[str, str], tuple[str, ...]]:
    found = {(str(message.context or ""), _key(message)): tuple(_strings(message)) for message in _texts(catalogue)}
    return {key: strings for key, strings in found.items() if all(strings)}


def _texts(catalogue: Catalog) -> Iterable[Message]:
    """All but the header, which is the translation of nothing."""
    return (message for message in catalogue if message.id)


def _key(message: Message) -> str:
    return message.id if isinstance(message.id, str) else message.id[0]


def _strings(message: Message) -> list[str]:
    """One text, or one for each plural form; a text that was never translated is empty."""
    if message.string is None or isinstance(message.string, str):
        return [message.string or ""]
    return list(message.string)


def _shown(message: Message) -> str:
    return repr(_key(message))


def _file(language: str) -> Path:
    return ROOT / "clusters_app" / "locale" / language / "LC_MESSAGES" / "django.po"


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fleet.settings")
    sys.exit(main(sys.argv[1:]))
