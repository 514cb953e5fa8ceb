"""`flotilla run` says at once why it cannot run here."""

import fcntl
import os
import socket
import subprocess
import sys
from pathlib import Path


def run(port: int, data_dir: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "clusters_app.cli", "run", "--no-demo", "--port", str(port)]
    environment = {**os.environ, "FLOTILLA_DATA_DIR": str(data_dir)}
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)


def test_a_port_that_is_taken_is_named_with_the_way_out(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        refused = run(port, tmp_path)
    assert refused.returncode == 1
    assert f"Port {port} of 127.0.0.1 cannot be used" in refused.stderr
    assert f"make run PORT={port + 1}" in refused.stderr


def test_a_data_directory_in_use_is_named_with_the_way_out(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with (tmp_path / "run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused = run(port, tmp_path)
    assert refused.returncode == 1
    assert f"Flotilla runs on {tmp_path} already" in refused.stderr
    assert "FLOTILLA_DATA_DIR" in refused.stderr
