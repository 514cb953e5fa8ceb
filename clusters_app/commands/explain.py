"""Say what state the Flux objects of a document are in, why, and what to do about it. Needs no server and no cluster.

Reads what `kubectl get -o json` or `-o yaml` prints: an object, a List, or several documents. All objects of the input
are each other's context, Leases of the Flux namespace too. An object that occurs again is a later state of the same,
as `kubectl get --watch` prints it: the last one is judged, with the memory of those before.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from clusters_app.commands.output import Tone, paint

if TYPE_CHECKING:
    from clusters_app.flux.identity import ObjectRef
    from clusters_app.flux.resources import Unreadable
    from clusters_app.flux.status import Memory, Verdict
    from clusters_app.flux.structs import Resource
    from clusters_app.ingest import JsonValue

EXAMPLE = """\
kubectl get kustomizations,helmreleases,gitrepositories,helmrepositories,helmcharts -A -o json | flotilla explain -
  flotilla explain broken.yaml -o json --now 2026-11-30T16:50:45Z"""

MAX_BYTES = 64 * 1024 * 1024
MAX_VALUES = 5_000_000
_TONES = {"Ready": Tone.GOOD, "Failing": Tone.BAD, "Stalled": Tone.BAD, "Degraded": Tone.WARNING, "Static": Tone.QUIET}


class Refused(Exception):
    """The input cannot be read; the message says what is wrong with it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="JSON or YAML of one or more objects; - reads standard input")
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="default: text")
    parser.add_argument(
        "--now", type=_moment, metavar="TIME", help="the moment to judge at (RFC 3339); default: the clock"
    )


def run(arguments: argparse.Namespace, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """0 when the objects were explained, 2 when the input cannot be read."""
    try:
        verdicts = explain_documents(documents_of(_read(arguments.file, stdin)), arguments.now or datetime.now(UTC))
    except (Refused, OSError) as error:
        stderr.write(f"{arguments.file}: {getattr(error, 'strerror', None) or error}\n")
        return 2
    if arguments.output == "json":
        rows = [row_of(verdict) for verdict in verdicts]
        stdout.write(json.dumps({"objects": rows}, indent=2, ensure_ascii=False) + "\n")
    else:
        stdout.write("\n".join(_paragraph(verdict, stdout) for verdict in verdicts if _is_told(verdict)))
    return 0


def explain_documents(documents: Iterable[Mapping[str, object]], now: datetime) -> "list[Verdict]":
    """The last verdict of each object, in the order of the input."""
    from clusters_app.flux.resources import decode_object
    from clusters_app.flux.status import judge
    from clusters_app.flux.structs import Deployment, Lease

    states = [decode_object(document, number=number) for number, document in enumerate(documents)]
    latest = {state.ref: state for state in states}
    leases = [item for item in latest.values() if isinstance(item, Lease)]
    deployments = [item for item in latest.values() if isinstance(item, Deployment)]
    memory = _remembered(states, latest)
    objects = list(latest.values())
    verdicts = judge(objects, leases, memory, now, deployments=deployments, is_whole_cluster=False)
    return list(verdicts.values())


def _remembered(
    states: "Sequence[Resource | Unreadable]", latest: "Mapping[ObjectRef, object]"
) -> "dict[ObjectRef, Memory]":
    """What the earlier states of an object leave behind, each judged by itself at the time that it tells."""
    from clusters_app.flux.status import judge, remember
    from clusters_app.flux.structs import Resource

    memory: dict[ObjectRef, Memory] = {}
    for state in states:
        if state is not latest[state.ref] and isinstance(state, Resource):
            then = _told_time(state)
            verdicts = judge([state], (), memory, then, is_whole_cluster=False)
            memory.update(remember([state], verdicts, memory, then))
    return memory


def _told_time(state: "Resource") -> datetime:
    """The newest time in the conditions: an earlier state is from then, or later."""
    from clusters_app.flux.conditions import conditions_of
    from clusters_app.flux.times import newest

    told = newest(*(item.last_transition_time for item in conditions_of(state)), state.metadata.creation_timestamp)
    return told or datetime.fromtimestamp(0, UTC)


def row_of(verdict: "Verdict") -> "dict[str, JsonValue]":
    """The contract for scripts."""
    from clusters_app.flux.revisions import short

    return {
        "kind": verdict.ref.kind,
        "namespace": verdict.ref.namespace or None,
        "name": verdict.ref.name,
        "health": verdict.health,
        "control": verdict.control,
        "settled_health": verdict.settled_health,
        "caused_by": str(verdict.caused_by) if verdict.caused_by else None,
        "rule": verdict.rule,
        "revision": short(verdict.revision),
        "deployed": verdict.deployed,
        "explain": {
            "id": verdict.explanation.id,
            "cause": verdict.explanation.cause,
            "remedy": verdict.explanation.remedy,
            "command": verdict.explanation.command,
            "link": verdict.explanation.link,
        },
    }


def _is_told(verdict: "Verdict") -> bool:
    """People are not told of what is context only: Leases, ConfigMaps, accounts."""
    from clusters_app.flux.resources import KINDS

    return verdict.ref.kind in KINDS or verdict.explanation.id != "static"


def _paragraph(verdict: "Verdict", stream: TextIO) -> str:
    from clusters_app.flux.revisions import short

    explanation = verdict.explanation
    state = [paint(verdict.health, _TONES.get(verdict.health), stream)]
    state += [verdict.control] if verdict.control != "Active" else []
    state += [f"was {verdict.settled_health}"] if verdict.settled_health != verdict.health else []
    revision = f" at {short(verdict.revision)}" if verdict.revision else ""
    lines = [f"  {explanation.cause}"]
    lines += [f"  caused by {verdict.caused_by}"] if verdict.caused_by else []
    lines += [f"  note: {notice.text}" for notice in verdict.notices]
    if explanation.id not in {"ok", "static"}:
        lines += [f"  → {explanation.remedy}"] if explanation.remedy else []
        lines += [f"  $ {explanation.command}"] if explanation.command else []
        lines += [f"  {explanation.link}"] if explanation.link else []
    head = f"{_printable(str(verdict.ref))}: {', '.join(state)}{_printable(revision)}"
    return "\n".join([head, *map(_printable, lines)]) + "\n"


def _printable(line: str) -> str:
    """A terminal obeys no sequence that came out of a cluster."""
    return "".join(character if character.isprintable() else " " for character in line)


def _moment(text: str) -> datetime:
    from clusters_app.flux.times import parse_time

    moment = parse_time(text)
    if not moment:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time like 2026-11-30T16:50:45Z")
    return moment


def _read(name: str, stdin: TextIO) -> bytes:
    if name != "-":
        with Path(name).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    elif hasattr(stdin, "buffer"):
        data = stdin.buffer.read(MAX_BYTES + 1)
    else:
        data = stdin.read(MAX_BYTES + 1).encode()
    if len(data) > MAX_BYTES:
        raise Refused(f"more than {MAX_BYTES // 1024 // 1024} MiB")
    return data


def documents_of(data: bytes) -> list[Mapping[str, object]]:
    """Every object of the input, Lists opened. Raises Refused when it is neither JSON nor YAML of objects."""
    objects = [found for value in _values(data) for found in _opened(value)]
    if not objects:
        raise Refused("there is no Kubernetes object in it")
    return objects


def _opened(value: object) -> Iterator[Mapping[str, object]]:
    if isinstance(value, list):
        for item in value:
            yield from _opened(item)
    elif isinstance(value, Mapping):
        items = value.get("items")
        kind = value.get("kind")
        if isinstance(items, list) and isinstance(kind, str) and kind.endswith("List"):
            yield from _opened([_as_item(item, kind, value.get("apiVersion")) for item in items])
        elif isinstance(value.get("object"), Mapping) and isinstance(value.get("type"), str) and "kind" not in value:
            yield from _opened(value["object"])
        elif isinstance(kind, str):
            yield value
        elif value:
            raise Refused("an object without kind is in it")


def _as_item(item: object, kind: str, api_version: object) -> object:
    """Items of a typed list may leave out what the list says."""
    if not isinstance(item, Mapping) or kind == "List" or "kind" in item:
        return item
    return {"kind": kind.removesuffix("List"), "apiVersion": api_version, **item}


def _values(data: bytes) -> "list[JsonValue]":
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in {b"{", b"["}:
        try:
            return _json_values(data)
        except ValueError:
            pass
    return _yaml_values(data)


def _json_values(data: bytes) -> "list[JsonValue]":
    """One JSON document after the other, as `--watch` prints them. Raises ValueError when it is no JSON."""
    from clusters_app.ingest import IngestError, json_document

    text, decoder, position, pieces = data.decode("utf-8-sig"), json.JSONDecoder(), 0, []
    while position < len(text):
        _, end = decoder.raw_decode(text, position)
        pieces.append(text[position:end])
        position = end + len(text[end:]) - len(text[end:].lstrip())
    try:
        return [json_document(piece.encode(), max_bytes=MAX_BYTES, max_nodes=MAX_VALUES) for piece in pieces]
    except IngestError as error:
        raise Refused(str(error)) from error


def _yaml_values(data: bytes) -> "list[JsonValue]":
    from clusters_app.safe_yaml import load_repository, to_plain

    parsed = load_repository(data)
    if parsed.problem:
        raise Refused(str(parsed.problem))
    return [to_plain(document.root) for document in parsed.documents if document.root]
