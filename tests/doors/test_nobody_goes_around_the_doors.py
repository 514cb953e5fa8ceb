"""Reads the source of the product: who may talk to the outside, parse YAML, start processes and see a secret's value.

Each list is short and reviewed. A new entry is a decision: write why, or use the door.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A module may be imported in these files or directories alone.
IMPORTERS: dict[str, tuple[str, ...]] = {
    "urllib3": ("clusters_app/egress/",),
    "requests": (),
    "httpx": (),
    "http.client": ("clusters_app/egress/",),
    "urllib.request": (),
    "ftplib": (),
    "smtplib": (),
    "telnetlib": (),
    "xmlrpc": (),
    "ssl": (
        "clusters_app/egress/",
        "clusters_app/kube/",
        "clusters_app/simulation/",  # it is the server, where kube is the client
    ),
    "socket": (
        "clusters_app/egress/",
        "clusters_app/kube/",
        "clusters_app/commands/",  # free ports and health of our own processes on loopback
    ),
    "aiohttp": ("clusters_app/kube/", "clusters_app/simulation/"),
    "kubernetes": ("clusters_app/kube/",),
    "git": ("clusters_app/git/",),
    "pygit2": ("clusters_app/git/",),
    "subprocess": (
        "clusters_app/git/runner.py",
        "clusters_app/render/",
        "clusters_app/commands/",
        "clusters_app/simulation/",
    ),
    "multiprocessing": (),
    "pty": (),
    "pickle": (),
    "marshal": (),
    "shelve": (),
    "ruamel": (),
    "cryptography.fernet": (),
}

# PyYAML is a writer for everybody; these names read.
YAML_READERS = {
    "load", "load_all", "safe_load", "safe_load_all", "full_load", "full_load_all", "unsafe_load", "unsafe_load_all",
    "compose", "compose_all", "parse", "scan", "Loader", "CLoader", "SafeLoader", "CSafeLoader", "FullLoader",
    "CFullLoader", "UnsafeLoader", "CUnsafeLoader", "BaseLoader", "CBaseLoader",
}  # fmt: skip
MAY_READ_YAML = ("clusters_app/safe_yaml.py",)
# Only how PyYAML types a plain scalar is asked; no document passes.
MAY_NAME_A_LOADER = ("clusters_app/repo/scalars.py",)

# Where the value of a Secret is needed: each file sends it, seals it or proves something with it.
REVEALERS = (
    "clusters_app/egress/target.py",  # the header of a request
    "clusters_app/forges/__init__.py",  # the scheme in front of a token, as a secret again
    "clusters_app/forges/gitea_webhook.py",  # HMAC of a webhook's body
    "clusters_app/git/environment.py",  # the environment of one git process
    "clusters_app/kube/client.py",  # the header of a request
    "clusters_app/kube/connection.py",  # the client key, by a file in memory
    "clusters_app/kube/expiry.py",  # when the token ends
    "clusters_app/sealed.py",  # encryption
)

CALLS_THAT_RUN_TEXT = {"eval", "exec", "compile", "__import__"}
PROCESS_STARTERS = {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "startfile"}
MAY_EXEC = (
    "clusters_app/git/launch.py",  # becomes git, with limits
    "clusters_app/render/",
    "clusters_app/commands/",
)


@dataclass(frozen=True)
class Source:
    path: str
    tree: ast.Module

    def is_one_of(self, allowed: tuple[str, ...]) -> bool:
        return any(self.path == entry or (entry.endswith("/") and self.path.startswith(entry)) for entry in allowed)


def _sources() -> Iterator[Source]:
    for top in ("clusters_app", "fleet"):
        for path in sorted((ROOT / top).rglob("*.py")):
            yield Source(path.relative_to(ROOT).as_posix(), ast.parse(path.read_bytes()))


SOURCES = tuple(_sources())


def imported(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Dotted names that are imported anywhere in a file, `from a import b` both as `a` and as `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module, node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
        elif isinstance(node, ast.Call) and _called(node) in {"import_module", "__import__"}:
            yield from (
                (str(argument.value), node.lineno) for argument in node.args if isinstance(argument, ast.Constant)
            )


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def wrong_imports(source: Source) -> list[str]:
    return sorted(
        {
            f"{source.path}:{line} imports {module}"
            for name, line in imported(source.tree)
            for module, allowed in IMPORTERS.items()
            if (name == module or name.startswith(f"{module}.")) and not source.is_one_of(allowed)
        }
    )


def wrong_yaml(source: Source) -> list[str]:
    if source.is_one_of(MAY_READ_YAML) or (source.is_one_of(MAY_NAME_A_LOADER) and "yaml.parse" not in _dotted(source)):
        return []
    aliases = {alias.asname or alias.name for node in ast.walk(source.tree) if isinstance(node, ast.Import)
               for alias in node.names if alias.name == "yaml"}  # fmt: skip
    named = [
        (node.lineno, node.attr)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases
    ]
    named += [
        (node.lineno, alias.name)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ImportFrom) and node.module in {"yaml", "yaml.loader", "yaml.cyaml"}
        for alias in node.names
    ]
    return [f"{source.path}:{line} uses yaml.{name}" for line, name in named if name in YAML_READERS | {"*"}]


def _dotted(source: Source) -> set[str]:
    return {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }


def wrong_calls(source: Source) -> list[str]:
    found = []
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call):
            continue
        name = _called(node)
        if isinstance(node.func, ast.Name) and name in CALLS_THAT_RUN_TEXT:
            found.append(f"{source.path}:{node.lineno} calls {name}()")
        is_os = (
            isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "os"
        )
        starts = name in PROCESS_STARTERS or name.startswith(("exec", "spawn"))
        if is_os and starts and not source.is_one_of(MAY_EXEC):
            found.append(f"{source.path}:{node.lineno} calls os.{name}()")
        if name in {"create_subprocess_exec", "create_subprocess_shell"} and not source.is_one_of(
            IMPORTERS["subprocess"]
        ):
            found.append(f"{source.path}:{node.lineno} calls {name}()")
        if any(keyword.arg == "shell" and not _is_false(keyword.value) for keyword in node.keywords):
            found.append(f"{source.path}:{node.lineno} passes shell=")
    return found


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def wrong_revealing(source: Source) -> list[str]:
    """Every mention counts, also `secret.reveal` without a call and `getattr(secret, "reveal")`."""
    if source.path == "clusters_app/secret.py" or source.is_one_of(REVEALERS):
        return []
    attributes = [
        node.lineno for node in ast.walk(source.tree) if isinstance(node, ast.Attribute) and node.attr == "reveal"
    ]
    texts = [node.lineno for node in ast.walk(source.tree) if isinstance(node, ast.Constant) and node.value == "reveal"]
    return [f"{source.path}:{line} reveals a secret" for line in attributes + texts]


CHECKS = {"imports": wrong_imports, "yaml": wrong_yaml, "calls": wrong_calls, "reveal": wrong_revealing}


@pytest.mark.parametrize("check", CHECKS)
def test_nobody_goes_around_the_doors(check: str) -> None:
    wrong = [line for source in SOURCES for line in CHECKS[check](source)]
    assert not wrong, "\n".join(wrong)


def test_the_doors_lean_on_nothing_of_ours() -> None:
    doors = ("clusters_app/egress/", "clusters_app/ingest.py", "clusters_app/safe_yaml.py", "clusters_app/secret.py",
             "clusters_app/sealed.py")  # fmt: skip
    own = (
        "clusters_app.yaml_nodes",
        "clusters_app.egress",
        "clusters_app.ingest",
        "clusters_app.safe_yaml",
        "clusters_app.secret",
    )
    wrong = [
        f"{source.path}:{line} imports {name}"
        for source in SOURCES
        if source.is_one_of(doors)
        for name, line in imported(source.tree)
        if name.startswith(("clusters_app", "fleet", "django")) and not name.startswith(own)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_lists_name_files_that_exist_and_need_it() -> None:
    revealing = {
        source.path
        for source in SOURCES
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Attribute) and node.attr == "reveal"
    }
    assert set(REVEALERS) <= revealing
    assert {"clusters_app/safe_yaml.py", *MAY_NAME_A_LOADER} <= {source.path for source in SOURCES}


@pytest.mark.parametrize(
    ("check", "code"),
    [
        ("imports", "import requests"),
        ("imports", "import requests.adapters as r"),
        ("imports", "from urllib import request"),
        ("imports", "from urllib.request import urlopen"),
        ("imports", "def f():\n    from http import client"),
        ("imports", "import importlib\nimportlib.import_module('urllib3')"),
        ("imports", "import subprocess"),
        ("imports", "from git import Repo"),
        ("imports", "import pickle"),
        ("yaml", "import yaml\nyaml.safe_load('a')"),
        ("yaml", "import yaml as y\ny.load('a', Loader=None)"),
        ("yaml", "from yaml import safe_load"),
        ("yaml", "from yaml import *"),
        ("yaml", "import yaml\nread = yaml.compose"),
        ("calls", "eval('1')"),
        ("calls", "import os\nos.system('id')"),
        ("calls", "import os\nos.execvp('id', [])"),
        ("calls", "import asyncio\nasyncio.create_subprocess_shell('id')"),
        ("calls", "run('id', shell=True)"),
        ("reveal", "x = token.reveal()"),
        ("reveal", "f = token.reveal"),
        ("reveal", "x = getattr(token, 'reveal')()"),
    ],
)
def test_the_checks_see_what_they_are_for(check: str, code: str) -> None:
    assert CHECKS[check](Source("clusters_app/services/new.py", ast.parse(code)))


@pytest.mark.parametrize("check", CHECKS)
def test_the_checks_leave_honest_code_alone(check: str) -> None:
    code = "import yaml, re\nfrom urllib.parse import quote\nyaml.safe_dump({})\nre.compile('a')\nrun(shell=False)"
    assert CHECKS[check](Source("clusters_app/services/new.py", ast.parse(code))) == []
