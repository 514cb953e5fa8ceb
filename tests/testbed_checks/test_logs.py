"""When a test fails, what the servers said is kept."""

from pathlib import Path

from tests.testbed.fixtures import keep_logs


def test_logs_are_kept_in_their_places_and_old_ones_are_not(tmp_path: Path) -> None:
    servers, kept = tmp_path / "servers", tmp_path / "kept"
    (servers / "one" / "source-controller").mkdir(parents=True)
    (servers / "one" / "etcd.log").write_text("etcd says\n")
    (servers / "one" / "source-controller" / "source-controller.log").write_text("source says\n")
    (servers / "one" / "tokens.csv").write_text("secret\n")
    kept.mkdir()
    (kept / "old.log").write_text("from the run before\n")

    keep_logs(servers, kept)

    found = {str(path.relative_to(kept)): path.read_text() for path in kept.rglob("*") if path.is_file()}
    assert found == {
        "one/etcd.log": "etcd says\n",
        "one/source-controller/source-controller.log": "source says\n",
    }
