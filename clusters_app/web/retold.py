"""Texts that were stored, said again in the viewer's language.

Workers have no viewer: what they store (problems, steps of a check, timelines) is English, made of a sentence of the
catalogue with its blanks filled in. Here the sentence is recognised by the text between the blanks, translated, and
filled again. What nobody's catalogue knows, such as the words of Flux or of a server, stays as it is.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from django.utils.translation import get_language
from django.utils.translation.trans_real import translation

#: A blank of either kind: `%(name)s`, `%(name)d`, `{name}`.
_BLANK = re.compile(r"%\((\w+)\)[sd]|\{(\w+)\}")
#: A sentence with fewer letters than this around its blanks could be taken for anything.
_LEAST_LITERAL = 10
_LONGEST = 2_000


def retold(text: str) -> str:
    """The text in the active language, or as it is. Some sentences in a row are told one by one."""
    language = get_language()
    if not text or not language or language.startswith("en") or len(text) > _LONGEST:
        return text
    return _retold(text, language)


@lru_cache(maxsize=4096)
def _retold(text: str, language: str) -> str:
    if told := _one(text, language):
        return told
    for end in _sentence_ends(text):
        head, tail = text[:end], text[end + 1 :]
        if told := _one(head, language):
            return f"{told} {_retold(tail, language)}"
    return text


def _sentence_ends(text: str) -> Iterator[int]:
    """Where one sentence may end and the next begin, the longest first sentence first."""
    return (match.end() for match in reversed(list(re.finditer(r"[.:!?](?= )", text))))


def _one(text: str, language: str) -> str | None:
    known = _sentences(language)
    if text in known.whole:
        return known.whole[text]
    found = ((pattern.fullmatch(text), translated) for pattern, translated in known.with_blanks)
    return next((_filled(translated, match.groupdict()) for match, translated in found if match), None)


def _filled(translated: str, values: Mapping[str, str]) -> str:
    parts, at = [], 0
    for blank in _BLANK.finditer(translated):
        parts += [_plain(translated[at : blank.start()]), values.get(blank[1] or blank[2], "")]
        at = blank.end()
    return "".join(parts) + _plain(translated[at:])


class _Sentences:
    """A language's catalogue: whole texts, and sentences with blanks, those that say most by themselves first."""

    def __init__(self, catalogue: Mapping[object, str]) -> None:
        texts = {english: told for english, told in catalogue.items() if isinstance(english, str) and english and told}
        self.whole = {english: told for english, told in texts.items() if not _BLANK.search(english)}
        blanks = [english for english in texts if _BLANK.search(english) and _literal(english) >= _LEAST_LITERAL]
        blanks.sort(key=_literal, reverse=True)
        self.with_blanks = [(_pattern(english), texts[english]) for english in blanks]


@cache
def _sentences(language: str) -> _Sentences:
    # Django has no public way to list a catalogue; its own view for scripts reads the same attribute.
    catalogue = translation(language)._catalog  # type: ignore[attr-defined]
    return _Sentences({key: catalogue[key] for key in catalogue.keys()})  # noqa: SIM118  it is no mapping


def _plain(part: str) -> str:
    """Text between blanks as it comes out: doubled braces are one."""
    return part.replace("{{", "{").replace("}}", "}")


def _literal(sentence: str) -> int:
    return len(_BLANK.sub("", sentence))


def _pattern(sentence: str) -> re.Pattern[str]:
    """The sentence as a pattern; a blank that comes twice holds the same text both times."""
    parts, seen, at = [], set[str](), 0
    for blank in _BLANK.finditer(sentence):
        name = blank[1] or blank[2]
        parts += [
            re.escape(_plain(sentence[at : blank.start()])),
            f"(?P={name})" if name in seen else f"(?P<{name}>.*?)",
        ]
        seen.add(name)
        at = blank.end()
    return re.compile("".join(parts) + re.escape(_plain(sentence[at:])), re.DOTALL)
