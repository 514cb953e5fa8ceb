"""Variables in the few texts that the graph follows, such as `path: ./apps/${ENVIRONMENT}`.

The full rules of Flux's post-build substitution are `render`'s business; here an unknown variable stays as it is.
"""

import re
from collections.abc import Mapping

from clusters_app.ingest import JsonValue

_VARIABLE = re.compile(r"(?<!\$)\$\{([A-Za-z_]\w*)(?::?[=-]([^}$]*))?\}")


def substituted(value: JsonValue, variables: Mapping[str, str]) -> JsonValue:
    """The value with known variables and defaults put into every text of it."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: _replacement(found, variables), value) if "${" in value else value
    if isinstance(value, dict):
        return {key: substituted(item, variables) for key, item in value.items()}
    if isinstance(value, list):
        return [substituted(item, variables) for item in value]
    return value


def _replacement(found: re.Match[str], variables: Mapping[str, str]) -> str:
    known = variables.get(found[1])
    if known is not None:
        return known
    return found[0] if found[2] is None else found[2]


def has_variable(text: str) -> bool:
    return _VARIABLE.search(text) is not None
