"""How a value stands in a YAML text, for the templates and for everything else that writes YAML by hand."""

import json
import re
from typing import Any

from jinja2 import Environment
from jinja2.ext import Extension

# Read as a text by every YAML 1.1 and 1.2 parser: starts with a letter, and is none of the words for other types.
_PLAIN = re.compile(
    r"(?!(?:y|n|yes|no|on|off|true|false|null)$)[A-Za-z/][A-Za-z0-9._/@+-]*(?::[A-Za-z0-9._/@+-]+)*", re.IGNORECASE
)


def yaml_scalar(value: object) -> str:
    """A text, number or truth value as YAML: plain where no parser could read it otherwise, else in double quotes."""
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    written = str(value)
    return written if _PLAIN.fullmatch(written) else json.dumps(written, ensure_ascii=False)


class YamlText(Extension):
    """The filter `yaml` in templates."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        filters: dict[str, Any] = environment.filters
        filters["yaml"] = yaml_scalar
