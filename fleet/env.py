"""The four ways in which a setting is read from the environment.

A variable that is set to nothing counts as absent, as compose files write it that way.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


class SettingError(ImproperlyConfigured):
    """A variable of the environment that cannot be read as what it should be."""


def env_bool(name: str, default: bool) -> bool:
    """1/true/yes/on or 0/false/no/off, in any case; anything else raises SettingError."""
    value = os.environ.get(name, "").strip().lower()
    if not value:
        return default
    if value not in _TRUE | _FALSE:
        raise SettingError(f"{name} is {value!r}: write 1 or 0")
    return value in _TRUE


def env_int(name: str, default: int) -> int:
    """A whole number; anything else raises SettingError."""
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    try:
        return int(value)
    except ValueError as error:
        raise SettingError(f"{name} is {value!r}: write a whole number") from error


def env_list(name: str, default: Sequence[str] = ()) -> list[str]:
    """Comma separated words, without the space around them and without empty ones."""
    value = os.environ.get(name, "").strip()
    if not value:
        return list(default)
    return [word.strip() for word in value.split(",") if word.strip()]


def env_secret(name: str, default: str = "") -> str:
    """The variable, or the content of the file that NAME_FILE names (how Docker and Kubernetes hand over secrets).

    Both at once raises SettingError, as does a file that cannot be read. The message never holds the value.
    """
    value, file = os.environ.get(name, ""), os.environ.get(f"{name}_FILE", "")
    if value and file:
        raise SettingError(f"{name} and {name}_FILE are both set: keep one of them")
    if not file:
        return value or default
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"{name}_FILE: {file} cannot be read: {type(error).__name__}") from error
