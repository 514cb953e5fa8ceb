"""The order in which people expect names: numbers in them count as numbers."""

import re

_PIECES = re.compile(r"\d+|\D+")

type NaturalKey = tuple[tuple[tuple[int, int, str], ...], str]


def natural(text: str) -> NaturalKey:
    """A sort key: `prod-2` before `prod-10`. Texts that read the same (`a1`, `a01`) are told apart by themselves."""
    pieces = _PIECES.findall(text.casefold())
    # isdecimal, not isdigit: what int() reads.
    return tuple((0, int(piece), "") if piece.isdecimal() else (1, 0, piece) for piece in pieces), text
