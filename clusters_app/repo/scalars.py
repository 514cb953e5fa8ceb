"""When a text may stand unquoted, and how it is written when it may not.

Two readers type plain scalars: PyYAML (YAML 1.1) and the Go library of kustomize (a mixture of 1.1 and 1.2). A text
is written plain only when both read the same string.
"""

import json
import re

import yaml

# What Go's YAML library, or a struct that takes a number for a text, reads as something else than this very string.
_NOT_A_STRING_IN_GO = re.compile(
    r"""
      [-+]?[\d_,]*\.?[\d_]+\.?([eE][-+]?\d+)?     # integers, floats, 1_000, 553640e6, 0e12345, .5
    | [-+]?\d[\d_]*\.([eE][-+]?\d+)?              # 1.
    | [-+]?0[xob][\da-fA-F_]+                     # 0x1f, 0o17, 0b101
    | [-+]?\.(inf|nan)
    | [-+]?\d+(:[0-5]?\d)+(\.\d*)?                # 1:30, base sixty
    | \d{4}-\d\d?-\d\d?([Tt\s].*)?                # dates
    | y|n|yes|no|on|off|true|false|null|~|<<|=
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PLAIN_SHAPE = re.compile(
    r"[^\s\-?:,\[\]{}#&*!|>'\"%@`](?:[^\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]*[^\s:])?|-[^\s,\[\]{}#:]+"
)
_RESOLVER = yaml.SafeLoader("")


def is_plain_string(text: str) -> bool:
    """Whether both readers read this text, written without quotes in block style, as the same string."""
    if not _PLAIN_SHAPE.fullmatch(text) or ": " in text or " #" in text or ":\t" in text or "\t#" in text:
        return False
    return resolves_to_string(text)


def resolves_to_string(text: str) -> bool:
    """Whether a plain scalar of this text is typed as a string by both readers."""
    if not text or _NOT_A_STRING_IN_GO.fullmatch(text):
        return False
    tag: str = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    return tag == "tag:yaml.org,2002:str"


def is_safe_in_flow(text: str) -> bool:
    return not any(character in text for character in ",[]{}")


def quoted(text: str, style: str) -> str:
    """The text between quotes of this style; double ones where single ones cannot hold it."""
    if style == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return double_quoted(text)


def double_quoted(text: str) -> str:
    """Double quotes that JSON and YAML read alike. A slash is never escaped: kustomize refuses `\\/`."""
    return json.dumps(text, ensure_ascii=not text.isprintable())
