"""160 situations of real controllers, each with the verdict of an experienced operator."""

import argparse
import io
import json
import re
from datetime import datetime

import pytest

from clusters_app.commands import explain
from clusters_app.flux.identity import ObjectRef
from clusters_app.flux.resources import decode_object
from clusters_app.flux.revisions import short
from clusters_app.flux.status import Memory, Verdict, judge, remember
from clusters_app.flux.structs import Deployment, Lease, Resource
from clusters_app.flux.times import parse_time

from .recorded import Situation, situations

SITUATIONS = list(situations())


def moment(text: str) -> datetime:
    parsed = parse_time(text)
    assert parsed
    return parsed


def subject_of(situation: Situation) -> ObjectRef:
    subject = situation.record["subject"]
    return ObjectRef(subject["kind"], subject.get("namespace") or "", subject["name"])


def remembered(situation: Situation) -> dict[ObjectRef, Memory]:
    """What an observer knew before: the state in front of this one, and when the generation changed."""
    memory: dict[ObjectRef, Memory] = {}
    for state in situation.previous:
        items, seen_at = [decode_object(state["object"])], moment(state["seen_at"])
        verdicts = judge(items, [], memory, seen_at, is_whole_cluster=False)
        memory = remember(items, verdicts, memory, seen_at)
    if changed_at := situation.hints.get("generation_changed_at"):
        generation = situation.record["objects"][0]["metadata"]["generation"]
        memory[subject_of(situation)] = Memory(generation=generation, generation_seen_at=moment(changed_at))
    return memory


def verdict_on(situation: Situation) -> Verdict:
    items = [decode_object(item) for item in situation.record["objects"]]
    leases = [item for item in map(decode_object, situation.record["leases"]) if isinstance(item, Lease)]
    verdicts = judge(
        items,
        leases,
        remembered(situation),
        moment(situation.record["recorded_at"]),
        deployments=[item for item in items if isinstance(item, Deployment)],
        is_whole_cluster=False,
    )
    assert all(isinstance(item, Resource) for item in items)
    return verdicts[subject_of(situation)]


def said(verdict: Verdict) -> dict[str, str | None]:
    return {
        "health": verdict.health,
        "control": verdict.control,
        "settled_health": verdict.settled_health,
        "caused_by": str(verdict.caused_by) if verdict.caused_by else None,
        "explain": verdict.explanation.id,
        "revision": short(verdict.revision),
        "deployed": verdict.deployed,
        "attempted": short(verdict.attempted),
        "origin_revision": short(verdict.origin_revision),
        "freshness": verdict.freshness,
    }


def test_all_of_them_are_here() -> None:
    assert len(SITUATIONS) == 160


@pytest.mark.parametrize("situation", SITUATIONS, ids=repr)
def test_the_verdict_is_that_of_an_operator(situation: Situation) -> None:
    verdict = said(verdict_on(situation))
    wrong = {name: verdict[name] for name in situation.expected if verdict[name] not in situation.right(name)}
    assert not wrong


@pytest.mark.parametrize("situation", SITUATIONS, ids=repr)
def test_the_command_says_the_same(situation: Situation) -> None:
    states = [state["object"] for state in situation.previous]
    document = {
        "apiVersion": "v1",
        "kind": "List",
        "items": [*states, *situation.record["objects"], *situation.record["leases"]],
    }
    arguments = argparse.Namespace(file="-", output="json", now=moment(situation.record["recorded_at"]))
    stdout = io.StringIO()
    assert explain.run(arguments, io.StringIO(json.dumps(document)), stdout, io.StringIO()) == 0
    rows = {(row["kind"], row["namespace"] or "", row["name"]): row for row in json.loads(stdout.getvalue())["objects"]}
    row = rows[subject_of(situation)] | {"explain": rows[subject_of(situation)]["explain"]["id"]}
    fields = situation.expected.keys() & row.keys()
    assert not {name: row[name] for name in fields if row[name] not in situation.right(name)}


@pytest.mark.parametrize("situation", SITUATIONS, ids=repr)
def test_whoever_needs_help_gets_a_sentence_and_a_remedy(situation: Situation) -> None:
    explanation = verdict_on(situation).explanation
    assert explanation.cause
    assert not re.search(r"(?<!\$)\{\w+\}|\bNone\b", f"{explanation.cause} {explanation.remedy} {explanation.command}")
    if explanation.id not in {"ok", "static"}:
        assert explanation.remedy
        assert explanation.link.startswith("https://")
