"""`flotilla run` with its demo: filled by itself, promoted through, broken on purpose, there again after a restart."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.path.installation import Installation, wait_for

pytestmark = pytest.mark.testbed

CLUSTERS = 11


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with Installation(tmp_path_factory.mktemp("demo"), demo=True) as running:
        running.sign_in()
        wait_for(lambda: _everything_read(running), "a reading of every cluster", seconds=90)
        yield running


def _everything_read(demo: Installation) -> bool | None:
    found = demo.get("clusters")["items"]
    return True if len([each for each in found if each["status"]["observed_at"]]) == CLUSTERS else None


def _promoted(demo: Installation, app: str, source: str, target: str) -> Any:
    here = f"promotions/{demo.post('promotions', {'app': app, 'from': source, 'to': target})['id']}"
    opened = wait_for(lambda: _in_state(demo, here, "Open"), "the pull request")
    review = f"repositories/fleet/reviews/{opened['pull_request_number']}"
    demo.done(demo.post(f"{review}/merge", {"head": opened["head"]}))
    return wait_for(lambda: _in_state(demo, here, "Verified", "Failed"), "the end of the rollout", seconds=90)


def _in_state(demo: Installation, path: str, *states: str) -> Any:
    found = demo.get(path)
    return found if found["state"] in states else None


def test_what_is_wrong_on_purpose_is_explained(demo: Installation) -> None:
    wait_for(lambda: _connection(demo, "lab") == "Unreachable" or None, "the cluster that falls silent")
    page = demo.page("/problems/")
    assert "charts.acme.example" in page
    assert "Kustomization/flux-system/cert-manager" in page
    assert re.search(r"lab\b", page)


def test_a_release_travels_from_dev_to_prod(demo: Installation) -> None:
    assert _promoted(demo, "web", "dev", "staging")["state"] == "Verified"
    assert _promoted(demo, "web", "staging", "prod")["state"] == "Verified"
    assert len(_versions(demo, "web")) == 1


def test_it_goes_on_after_a_restart(demo: Installation) -> None:
    head = _head(demo.folder)
    demo.restart()
    wait_for(lambda: _everything_read(demo), "the clusters", seconds=60)
    assert _head(demo.folder) == head
    assert len(_versions(demo, "web")) == 1


def _connection(demo: Installation, cluster: str) -> str:
    return str(demo.get(f"clusters/{cluster}")["status"]["connection"])


def _versions(demo: Installation, app: str) -> set[str]:
    return {found["version"] for found in demo.get(f"apps/{app}")["environments"].values()}


def _head(folder: Path) -> str:
    from clusters_app.git.mirror import Mirror

    return Mirror.open(folder / "data" / "demo" / "fleet.git").head("main")
