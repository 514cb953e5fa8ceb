"""Kubernetes' and Git's rules for what people may call things, checked before a value comes near a template."""

import re

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_IMAGE = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,127}")
_BRANCH = re.compile(r"(?!-)[A-Za-z0-9._/-]{1,200}")
_DURATION = re.compile(r"([0-9]{1,6}(h|m|s))+")
_HOST = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")
_URL = re.compile(r"(https?|ssh|oci|git|file)://[A-Za-z0-9._~:/@\[\]%+-]{1,500}")
_AGE = re.compile(r"age1[a-z0-9]{58}|age1pq1[a-z0-9]{100,4000}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._/:@+-]{0,250}")


def is_label(text: str) -> bool:
    """RFC 1123 label, at most 63 characters: names of namespaces, environments, clusters, apps."""
    return _LABEL.fullmatch(text) is not None


def is_image(text: str) -> bool:
    """An image's name without tag or digest, as a registry reads it."""
    return len(text) <= 255 and _IMAGE.fullmatch(text) is not None


def is_tag(text: str) -> bool:
    """A tag of an image or an artifact, or a chart's version."""
    return _TAG.fullmatch(text) is not None


def is_branch(text: str) -> bool:
    good = _BRANCH.fullmatch(text) is not None
    return good and ".." not in text and "//" not in text and not text.endswith(("/", ".", ".lock"))


def is_duration(text: str) -> bool:
    """Go's spelling: `1h`, `10m`, `1m30s`."""
    return _DURATION.fullmatch(text) is not None


def is_host(text: str) -> bool:
    return len(text) <= 253 and _HOST.fullmatch(text) is not None


def is_url(text: str) -> bool:
    """A URL that stands in YAML without quotes or surprises: no query, no fragment, no password."""
    userinfo = text.partition("://")[2].partition("/")[0].rpartition("@")[0]
    return _URL.fullmatch(text) is not None and ":" not in userinfo


def is_path(text: str) -> bool:
    """A directory inside a repository."""
    parts = text.split("/")
    return len(text) <= 400 and all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", part) for part in parts)


def is_age_recipient(text: str) -> bool:
    return _AGE.fullmatch(text) is not None


def is_variable(text: str) -> bool:
    return _VARIABLE.fullmatch(text) is not None


def is_plain_value(text: str) -> bool:
    """A short text in one line without anything that YAML, a shell or Flux's substitution would read."""
    return _PLAIN.fullmatch(text) is not None and not text.endswith(" ")
