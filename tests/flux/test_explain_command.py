"""`flotilla explain`: any document on the input, JSON or text on the output, and no server, quickly."""

import argparse
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from clusters_app.commands import explain

from .documents import NOW, failing, git_repository, kustomization, ready

APPS = kustomization("apps", failing("ArtifactFailed", "Source artifact not found, retrying in 30s"))
SOURCE = git_repository("fleet", failing("GitOperationFailed", "authentication required"), revision="")
KEYS = {
    "kind",
    "namespace",
    "name",
    "health",
    "control",
    "settled_health",
    "caused_by",
    "rule",
    "revision",
    "deployed",
    "explain",
}


def ran(text: str, output: str = "json") -> tuple[int, str, str]:
    arguments = argparse.Namespace(file="-", output=output, now=NOW)
    stdout, stderr = io.StringIO(), io.StringIO()
    return explain.run(arguments, io.StringIO(text), stdout, stderr), stdout.getvalue(), stderr.getvalue()


def rows(text: str) -> list[dict[str, Any]]:
    code, stdout, stderr = ran(text)
    assert (code, stderr) == (0, "")
    found: list[dict[str, Any]] = json.loads(stdout)["objects"]
    return found


KINDLESS = {key: value for key, value in APPS.items() if key != "kind"}
INPUTS = {
    "a List": json.dumps({"kind": "List", "apiVersion": "v1", "items": [APPS, SOURCE]}),
    "a typed List": json.dumps({"kind": "KustomizationList", "items": [{k: v for k, v in APPS.items() if k != "kind"}]})
    + json.dumps(SOURCE),
    "JSON after JSON": json.dumps(APPS) + "\n" + json.dumps(SOURCE),
    "a JSON array": json.dumps([APPS, SOURCE]),
    "YAML documents": yaml.safe_dump_all([APPS, SOURCE]),
    "a YAML List": yaml.safe_dump({"kind": "List", "items": [APPS, SOURCE]}),
    "YAML with empty documents": "---\n---\n" + yaml.safe_dump_all([APPS, None, SOURCE]),
    "watch events": "".join(json.dumps({"type": "ADDED", "object": item}) for item in (APPS, SOURCE)),
}


@pytest.mark.parametrize("name", INPUTS)
def test_siblings_are_context_in_every_form_of_input(name: str) -> None:
    first, second = rows(INPUTS[name])
    assert (first["name"], first["caused_by"], first["explain"]["id"]) == (
        "apps",
        "GitRepository/flux-system/fleet",
        "source-not-ready",
    )
    assert (second["name"], second["explain"]["id"]) == ("fleet", "authentication-failed")


def test_a_row_has_exactly_the_promised_keys() -> None:
    (row,) = rows(json.dumps(kustomization("apps", ready())))
    assert row.keys() == KEYS
    assert row["explain"].keys() == {"id", "cause", "remedy", "command", "link"}
    assert (row["caused_by"], row["deployed"], row["health"]) == (None, None, "Ready")


def test_one_object_alone_is_explained_by_what_it_says() -> None:
    (row,) = rows(json.dumps(APPS))
    assert (row["caused_by"], row["explain"]["id"]) == ("GitRepository/flux-system/fleet", "source-not-ready")


def test_a_later_state_of_an_object_is_judged_with_the_memory_of_the_earlier() -> None:
    running = kustomization(
        "apps",
        {"type": "Ready", "status": "Unknown", "observedGeneration": 1, "lastTransitionTime": "2026-11-30T16:59:50Z"},
    )
    (row,) = rows(json.dumps(kustomization("apps", ready())) + json.dumps(running))
    assert (row["health"], row["settled_health"]) == ("Progressing", "Ready")


def test_an_odd_object_is_a_row_and_the_others_stay() -> None:
    odd, fine = rows(json.dumps([{**APPS, "status": {"conditions": {}}}, kustomization("web", ready())]))
    assert (odd["explain"]["id"], fine["health"]) == ("unreadable", "Ready")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no Kubernetes object"),
        ("{}", "no Kubernetes object"),
        ("just words", "no Kubernetes object"),
        ('{"a": 1}', "without kind"),
        ('{"kind": "Kustomization", "a": NaN}', "infinite"),
        ("kind: [", "line"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(text: str, said: str) -> None:
    code, stdout, stderr = ran(text)
    assert (code, stdout) == (2, "")
    assert said in stderr
    assert stderr.count("\n") == 1


def test_a_file_that_is_not_there() -> None:
    arguments = argparse.Namespace(file="/nowhere/at-all.yaml", output="text", now=NOW)
    stderr = io.StringIO()
    assert explain.run(arguments, io.StringIO(), io.StringIO(), stderr) == 2
    assert "No such file" in stderr.getvalue()


def test_text_tells_people_what_to_do() -> None:
    _, text, _ = ran(json.dumps([APPS, SOURCE]), "text")
    assert "Kustomization/flux-system/apps: Failing\n" in text
    assert "  caused by GitRepository/flux-system/fleet\n" in text
    assert "  $ flux reconcile source git fleet -n flux-system\n" in text


def test_a_terminal_obeys_nothing_that_came_out_of_a_cluster() -> None:
    hostile = kustomization("apps", failing("Odd\x1b[31m", "\x1b]0;title\x07 and \x1b[2J"))
    for document in (json.dumps(hostile), yaml.safe_dump(hostile)):
        _, text, _ = ran(document, "text")
        assert not {"\x1b", "\x07"} & set(text)


def test_it_starts_fast_and_without_django(tmp_path: Path) -> None:
    file = tmp_path / "apps.json"
    file.write_text(json.dumps(APPS))
    words = [
        "-X",
        "importtime",
        "-c",
        "from clusters_app.cli import main; raise SystemExit(main())",
        "explain",
        str(file),
        "-o",
        "json",
    ]
    root = Path(__file__).parents[2]
    began = os.times().children_user + os.times().children_system
    started = time.monotonic()
    done = subprocess.run([sys.executable, *words], cwd=root, capture_output=True, text=True, check=False, timeout=60)
    spent = os.times().children_user + os.times().children_system - began
    assert done.returncode == 0, done.stderr[-500:]
    assert json.loads(done.stdout)["objects"][0]["name"] == "apps"
    assert not {"django", "kubernetes", "celery"} & {
        line.rpartition("|")[2].strip() for line in done.stderr.splitlines()
    }
    # The processor's time, not the clock's: other work on this machine is not the command's.
    assert spent < 0.5, f"{spent:.2f} s of {time.monotonic() - started:.2f} s"
