"""Which environment a cluster belongs to and in which order environments stand, from what a repository says.

Names are hints only: a model or a person overrules them, and an order that rests on unknown words is not certain.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_STAGES = (
    ("local", "sandbox", "playground"),
    ("dev", "development", "develop", "devel"),
    ("ci", "int", "integration"),
    ("test", "testing", "tst", "tests"),
    ("qa", "quality"),
    ("nonprod",),
    ("uat", "acc", "acceptance", "accept"),
    ("staging", "stage", "stg"),
    ("preprod", "preproduction", "pre"),
    ("canary",),
    ("prod", "production", "prd", "live"),
)
_RANK = {word: rank for rank, words in enumerate(_STAGES) for word in words}

_VARIABLE_NAMES = frozenset({"environment", "env", "stage", "cluster_env", "cluster_environment", "tier"})

DEFAULT_ENVIRONMENT = "default"


@dataclass(frozen=True, slots=True)
class Located:
    """What is known of a cluster before its environment is: sync path, paths that it follows, its variables."""

    path: str
    followed: tuple[str, ...]
    variables: Mapping[str, str]
    environment: str = ""


def rank(word: str) -> int | None:
    """The place of a well-known environment word, from the first stage to the last; None for other words."""
    return _RANK.get(word.lower())


def canonical(word: str) -> str:
    """One name for all spellings of a stage: `production` and `prd` are `prod`; other words stay."""
    found = rank(word)
    return word.lower() if found is None else _STAGES[found][0] if found != len(_STAGES) - 1 else "prod"


def tokens(segment: str) -> list[str]:
    joined = re.sub(r"\b(pre|non)[-_.](?=prod)", r"\1", segment)
    return [token for token in re.split(r"[-_.]", joined) if token]


def word_in(segment: str) -> str | None:
    """The environment word of a path segment: all of it (`prod`) or a part (`prod-fra`, `eu-prod-1`)."""
    if rank(segment) is not None:
        return segment
    return next((token for token in tokens(segment) if rank(token) is not None), None)


def word_in_path(path: str, common: frozenset[str] = frozenset()) -> str | None:
    """The word that names a path's environment; a whole segment says more than a part of one.

    `common`: words that say nothing, because they stand in every path (`live/dev`, `live/prod`).
    """
    segments = path.split("/")
    whole = [segment for segment in segments if rank(segment) is not None]
    telling = [segment for segment in whole if segment not in common] or whole
    return next(iter(telling), None) or next((word for segment in segments if (word := word_in(segment))), None)


def _words_of_all(paths: Sequence[str]) -> frozenset[str]:
    shared = set.intersection(*(set(path.split("/")) for path in paths)) if paths else set()
    return frozenset(segment for segment in shared if rank(segment) is not None)


def assign(clusters: Sequence[Located]) -> list[str]:
    """The environment of each cluster; clusters of which nothing is known share one."""
    common = _words_of_all([each.path for each in clusters])
    guesses = [each.environment or word_in_path(each.path, common) or _by_content(each) for each in clusters]
    guesses = _by_position(clusters, guesses)
    guesses = _by_parent(clusters, guesses)
    return _one_spelling([guess or DEFAULT_ENVIRONMENT for guess in guesses])


def _by_content(cluster: Located) -> str | None:
    """A variable called ENVIRONMENT, else the one word that most of the followed paths share."""
    for name, value in cluster.variables.items():
        if name.lower() in _VARIABLE_NAMES and re.fullmatch(r"[a-z0-9][a-z0-9-]{0,40}", value.lower()):
            return value
    words = Counter(canonical(word) for path in cluster.followed if (word := word_in_path(path)))
    if not words:
        return None
    best = words.most_common(1)[0][0]
    written = [word for path in cluster.followed if (word := word_in_path(path)) and canonical(word) == best]
    return written[0] if words[best] * 2 > sum(words.values()) else None


def _by_position(clusters: Sequence[Located], guesses: list[str | None]) -> list[str | None]:
    """Where the others name their environment in the path, the rest do too: `clusters/{dev,prod,hub}`."""
    positions: Counter[int] = Counter()
    for cluster in clusters:
        positions.update(
            [index for index, segment in enumerate(cluster.path.split("/")) if rank(segment) is not None][:1]
        )
    if not positions:
        return guesses
    position = positions.most_common(1)[0][0]
    return [
        guess or (cluster.path.split("/") + [""] * 9)[position] or None
        for cluster, guess in zip(clusters, guesses, strict=True)
    ]


def _by_parent(clusters: Sequence[Located], guesses: list[str | None]) -> list[str | None]:
    """`clusters/<group>/<cluster>` with a group of several is a group by environment, whatever it is called."""
    parents = Counter(each.path.rpartition("/")[0] for each in clusters)
    deep = {parent for parent in parents if parent.count("/") >= 1}
    if len(deep) < 2 or max(parents[parent] for parent in deep) < 2:
        return guesses
    named = [each.path.rpartition("/")[0] for each in clusters]
    return [
        guess or (parent.rpartition("/")[2] if parent in deep else None)
        for parent, guess in zip(named, guesses, strict=True)
    ]


def _one_spelling(names: list[str]) -> list[str]:
    spelled: dict[str, str] = {}
    for name, _ in Counter(names).most_common():
        spelled.setdefault(canonical(name), name)
    return [spelled[canonical(name)] for name in names]


def in_order(names: Iterable[str]) -> tuple[list[str], bool]:
    """Environments in promotion order, and whether that order is certain."""
    distinct = list(dict.fromkeys(names))
    ranks = [rank(name) for name in distinct]
    certain = len(distinct) <= 1 or (None not in ranks and len(set(ranks)) == len(ranks))
    # Unknown words come first: the last place means production, and that must be earned.
    return sorted(distinct, key=lambda name: (found if (found := rank(name)) is not None else -1, name)), certain
