"""`flotilla graph` and `flotilla scaffold` on a directory, without a server."""

import json
from pathlib import Path

import pytest

from clusters_app.cli import main
from tests.quick.repo.fleets import answers


@pytest.fixture
def given(tmp_path: Path) -> Path:
    (tmp_path / "answers.json").write_text(json.dumps(answers()))
    return tmp_path / "answers.json"


def test_scaffold_writes_and_then_has_nothing_to_do(
    given: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = tmp_path / "fleet"
    assert main(["scaffold", str(fleet), "--answers", str(given)]) == 0
    assert "--path=clusters/prod/prod-a" in capsys.readouterr().out
    assert (fleet / "clusters/dev/apps/web/version.yaml").is_file()
    assert main(["scaffold", str(fleet)]) == 0
    assert "Nothing to write." in capsys.readouterr().out


def test_a_dry_run_writes_nothing(given: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scaffold", str(tmp_path / "fleet"), "--answers", str(given), "--dry-run", "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {"file": "clusters/dev/kustomization.yaml", "action": "write"} in document["files"]
    assert not (tmp_path / "fleet").exists()


def test_a_file_changed_by_hand_is_said_and_kept(
    given: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = tmp_path / "fleet"
    main(["scaffold", str(fleet), "--answers", str(given)])
    (fleet / "README.md").write_text("ours\n")
    more = {**answers(), "clusters": [{"name": "dev", "environment": "dev"}]}
    given.write_text(json.dumps(more))
    capsys.readouterr()
    assert main(["scaffold", str(fleet), "--answers", str(given)]) == 1
    assert "changed by hand: kept   README.md" in capsys.readouterr().out
    assert (fleet / "README.md").read_text() == "ours\n"


def test_wrong_answers_are_named_by_their_path(given: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given.write_text(json.dumps({**answers(), "environments": [{"name": "Dev"}]}))
    assert main(["scaffold", str(tmp_path / "fleet"), "--answers", str(given)]) == 2
    assert "$.environments[0].name" in capsys.readouterr().err
    assert main(["scaffold", str(tmp_path / "empty")]) == 2


def test_a_link_in_the_way_is_refused(given: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet, outside = tmp_path / "fleet", tmp_path / "outside"
    fleet.mkdir()
    outside.mkdir()
    (fleet / "clusters").symlink_to(outside)
    assert main(["scaffold", str(fleet), "--answers", str(given)]) == 2
    assert "clusters: a file or a link is in the way" in capsys.readouterr().err
    assert list(outside.iterdir()) == []


def test_graph_prints_its_contract(given: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = tmp_path / "fleet"
    main(["scaffold", str(fleet), "--answers", str(given)])
    capsys.readouterr()
    assert main(["graph", str(fleet), "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document) == {"environments", "clusters", "apps", "files", "counterparts", "unreferenced", "unknown"}
    assert document["environments"][0] == {"name": "dev", "order_certain": True}
    assert document["clusters"][0].keys() == {"name", "environment", "path", "evidence"}
    assert document["apps"][1] == {
        "name": "web",
        "environments": {each: f"clusters/{each}/apps/web" for each in ("dev", "prod", "staging")},
    }
    assert document["files"]["base/apps/web/deployment.yaml"]["environments"] == ["dev", "staging", "prod"]


def test_graph_prints_tables_for_people(given: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["scaffold", str(tmp_path / "fleet"), "--answers", str(given)])
    capsys.readouterr()
    assert main(["graph", str(tmp_path / "fleet")]) == 0
    assert "prod          prod-a    clusters/prod/prod-a" in capsys.readouterr().out
    assert main(["graph", str(tmp_path / "nowhere")]) == 2
