"""What a ResourceSet makes, as far as its inputs stand in Git.

Its resources are templates with `<< inputs.name >>`: https://fluxcd.control-plane.io/operator/resourcesets/introduction/
"""

import re

from clusters_app.ingest import JsonValue
from clusters_app.repo.documents import Value, mapping, sequence, text

_INPUT = re.compile(r"<<-?\s*inputs\.([\w.]+)(?:\s*\|\s*(?:quote|toString))?\s*-?>>")
_MAX_INPUTS = 1_000


def expanded(resource_set: Value) -> tuple[list[Value], str]:
    """The objects for every inline input, and why there are more that Git does not tell (empty: there are none)."""
    spec = mapping(resource_set, "spec")
    inputs = [item for item in sequence(spec, "inputs")[:_MAX_INPUTS] if isinstance(item, dict)]
    if not inputs and not sequence(spec, "inputsFrom"):
        inputs = [{}]
    namespace = text(resource_set, "metadata", "namespace")
    objects = [_made(template, each, namespace) for each in inputs for template in sequence(spec, "resources")]
    whole = [each for each in objects if each is not None]
    return whole, _what_is_missing(spec, len(whole) == len(objects))


def _what_is_missing(spec: Value, all_made: bool) -> str:
    if sequence(spec, "inputsFrom"):
        return "its inputs come from a provider: known only in the cluster"
    if text(spec, "resourcesTemplate"):
        return "its resources are the result of a template: known only in the cluster"
    return "" if all_made else "a placeholder that no input fills"


def _made(template: JsonValue, inputs: Value, namespace: str) -> Value | None:
    made = _filled(template, inputs)
    if not isinstance(made, dict) or "<<" in str(made):
        return None
    metadata = dict(mapping(made, "metadata"))
    metadata.setdefault("namespace", namespace)
    return {**made, "metadata": metadata}


def _filled(value: JsonValue, inputs: Value) -> JsonValue:
    if isinstance(value, str):
        return _INPUT.sub(lambda found: _input(found, inputs), value)
    if isinstance(value, dict):
        return {str(_filled(key, inputs)): _filled(item, inputs) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, inputs) for item in value]
    return value


def _input(found: re.Match[str], inputs: Value) -> str:
    value: object = inputs
    for key in found[1].split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return str(value) if isinstance(value, (str, int, float)) else found[0]
