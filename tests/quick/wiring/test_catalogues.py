"""The program that keeps the catalogues of translations."""

from pathlib import Path

import pytest

from tests import catalogues

PYTHON = """
from django.utils.translation import gettext as _, ngettext, pgettext

def words(n):
    return _("Fleet"), ngettext("%d cluster", "%d clusters", n) % n, pgettext("a state", "Open")
"""
TEMPLATE = """
{% load i18n %}
<p>{% translate "Fleet" %}</p>
      <b>{% blocktranslate with name=cluster.name trimmed %}
        {{ name }} is
        late{% endblocktranslate %}</b>
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in ("clusters_app", "fleet", "templates"):
        (tmp_path / folder).mkdir()
    (tmp_path / "clusters_app" / "words.py").write_text(PYTHON)
    (tmp_path / "templates" / "fleet.html").write_text(TEMPLATE)
    monkeypatch.setattr(catalogues, "ROOT", tmp_path)
    return tmp_path


def catalogue(project: Path) -> Path:
    return project / "clusters_app" / "locale" / "ru" / "LC_MESSAGES" / "django.po"


def translate(project: Path, **replacements: str) -> None:
    """Fill in the catalogue as a translator would, and compile it."""
    text = catalogue(project).read_text()
    for before, after in {
        'msgid "Fleet"\nmsgstr ""': 'msgid "Fleet"\nmsgstr "Флот"',
        'msgstr[0] ""': 'msgstr[0] "%d кластер"',
        'msgstr[1] ""': 'msgstr[1] "%d кластера"',
        'msgstr[2] ""': 'msgstr[2] "%d кластеров"',
        'msgid "Open"\nmsgstr ""': 'msgid "Open"\nmsgstr "Открыто"',
        'late"\nmsgstr ""': f'late"\nmsgstr "{replacements.get("late", "%(name)s опаздывает")}"',
    }.items():
        assert before in text
        text = text.replace(before, after)
    catalogue(project).write_text(text)
    catalogues.main(["update"])


def test_it_finds_the_texts_of_code_and_templates() -> None:
    found = {message.id for message in catalogues.messages_of_the_code() if message.id}
    assert found == {"Fleet", ("%d cluster", "%d clusters"), "Open", "%(name)s is late"}


def test_an_untranslated_text_is_named_with_its_file(project: Path) -> None:
    catalogues.main(["update"])
    problems = list(catalogues.problems_of("ru"))
    assert "not translated: 'Fleet' (clusters_app/words.py, templates/fleet.html)" in problems[0]
    assert len(problems) == 4


def test_a_complete_catalogue_has_no_problem(project: Path) -> None:
    catalogues.main(["update"])
    translate(project)
    assert list(catalogues.problems_of("ru")) == []


def test_a_translation_that_loses_a_parameter_is_a_problem(project: Path) -> None:
    catalogues.main(["update"])
    translate(project, late="%(cluster)s опаздывает")
    assert ["late" in problem for problem in catalogues.problems_of("ru")] == [True]


def test_a_text_that_nothing_says_any_more_is_a_problem_until_it_is_removed(project: Path) -> None:
    catalogues.main(["update"])
    translate(project)
    (project / "templates" / "fleet.html").unlink()
    assert ["nothing says this any more" in problem for problem in catalogues.problems_of("ru")] == [True]
    catalogues.main(["update"])
    assert list(catalogues.problems_of("ru")) == []


def test_a_catalogue_that_was_not_compiled_is_a_problem(project: Path) -> None:
    catalogues.main(["update"])
    translate(project)
    catalogue(project).with_suffix(".mo").unlink()
    assert ["compiled form" in problem for problem in catalogues.problems_of("ru")] == [True]
