"""Conditions, looked up and read the way Flux writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .structs import Condition, Resource, Status

_TEMPORARY = re.compile(r"(?:/private)?/(?:var/)?tmp/[A-Za-z0-9_.\-]+")
_CURRENT_TIME = re.compile(r"current time \S+")
_DURATION = re.compile(r"\b(?:\d+(?:\.\d+)?(?:h|m|s|ms|µs|us|ns))+\b")
_WRAPPED = re.compile(r"\s*\n\s*\|\s?")
_HOOK = re.compile(r"/hook/[0-9A-Za-z]+")


def conditions_of(resource: Resource) -> Sequence[Condition]:
    status = getattr(resource, "status", None)
    return (status.conditions or ()) if isinstance(status, Status) else ()


def condition(resource: Resource, *types: str) -> Condition | None:
    """The first of these types that the object has."""
    present = {item.type: item for item in conditions_of(resource) if item.type}
    return next((present[name] for name in types if name in present), None)


def is_true(resource: Resource, type_: str) -> bool:
    return has_status(resource, type_, "True")


def is_false(resource: Resource, type_: str) -> bool:
    return has_status(resource, type_, "False")


def has_status(resource: Resource, type_: str, status: str) -> bool:
    found = condition(resource, type_)
    return found is not None and found.status == status


def is_about(resource: Resource, found: Condition) -> bool:
    """Whether a condition is about the generation that the object has now.

    `status.observedGeneration` counts only where the condition has none (HelmRelease v2beta1): its default of -1 stays
    until the first success, also under Ready=False. Flux always says one of the two, so silence is no evidence there.
    """
    status = getattr(resource, "status", None)
    fallback = status.observed_generation if isinstance(status, Status) else None
    return (found.observed_generation or fallback or 0) >= (resource.metadata.generation or 0)


def comparable(message: str) -> str:
    """A message without what differs at every retry: temporary directories, durations, "current time"."""
    message = _TEMPORARY.sub("…", message)
    message = _CURRENT_TIME.sub("current time …", message)
    return _DURATION.sub("…", message).strip()


def redacted(message: str) -> str:
    """A message without the path of a Receiver, which lets whoever has it trigger."""
    return (_HOOK.sub("/hook/***", message) if "/hook/" in message else message).strip()


def unwrapped(message: str) -> str:
    """A message without the frame that SOPS draws around its lines."""
    return _WRAPPED.sub(" ", message)


def texts(conditions: Iterable[Condition | None]) -> str:
    return "\n".join(item.message for item in conditions if item and item.message)
