"""git gets what we mean it to have and not one variable more, and it ends when we say so."""

import logging
import os
import stat
import time
from contextlib import suppress
from pathlib import Path

import pytest

from clusters_app.egress import Policy
from clusters_app.git.credentials import Remote, SshCredential, TokenCredential
from clusters_app.git.errors import GitError, GitPermanent, GitTransient
from clusters_app.git.mirror import Mirror
from clusters_app.git.runner import Limits
from clusters_app.secret import Secret

from .conftest import message
from .server import GitServer, Handler

TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345"  # the shape of a real one, so that every mask has its chance


def program(directory: Path, name: str, script: str) -> None:
    directory.mkdir(exist_ok=True)
    file = directory / name
    file.write_text(f"#!/bin/sh\nhere={directory}\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory in front of the others in PATH: what a test puts there is started in the place of the real one."""
    directory = tmp_path / "programs"
    directory.mkdir()
    monkeypatch.setenv("PATH", f"{directory}:{os.environ['PATH']}")
    return directory


def is_running(pid: int) -> bool:
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_the_token_is_in_no_argument_and_the_worker_s_variables_stay_behind(
    programs: Path, mirror: Mirror, policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DJANGO_SECRET_KEY", "GIT_DIR", "GIT_SSH_COMMAND", "https_proxy", "GIT_TRACE", "GIT_CONFIG_PARAMETERS",
                 "LD_LIBRARY_PATH", "GIT_EXTERNAL_DIFF", "SSH_AUTH_SOCK", "NETRC"):  # fmt: skip
        monkeypatch.setenv(name, "leaked")
    program(programs, "git", 'printf "%s\\n" "$@" > $here/arguments; env > $here/variables')
    mirror.ls_remote(Remote("https://localhost:9/a/b", TokenCredential(Secret(TOKEN))), policy)
    arguments = (programs / "arguments").read_text()
    variables = dict(line.split("=", 1) for line in (programs / "variables").read_text().splitlines())

    assert arguments.split("\n")[:4] == ["ls-remote", "--symref", "--end-of-options", "https://localhost:9/a/b"]
    assert TOKEN not in arguments
    assert "Basic" not in arguments
    assert "leaked" not in variables.values()
    assert variables["GIT_ALLOW_PROTOCOL"] == "https"
    assert variables["GIT_CONFIG_GLOBAL"] == variables["GIT_CONFIG_SYSTEM"] == os.devnull
    assert variables["HOME"] == "/nonexistent"
    assert variables["GIT_TERMINAL_PROMPT"] == "0"
    header = next(name for name, value in variables.items() if value.startswith("Authorization: Basic"))
    assert variables[header.replace("VALUE", "KEY")] == "http.https://localhost:9/.extraHeader"


def test_an_ssh_key_is_a_file_in_memory_that_only_the_ssh_program_reads(
    programs: Path, mirror: Mirror, policy: Policy
) -> None:
    program(
        programs,
        "ssh",
        'printf "%s\\n" "$@" > $here/arguments; env > $here/variables; cat "$4" > $here/key\n'
        'stat -Lc %a "$4" > $here/mode; echo "Host key verification failed." >&2; exit 255',
    )
    remote = Remote(
        "ssh://git@localhost:2222/a/b", SshCredential(Secret("PRIVATE KEY")), known_hosts="localhost ssh-ed25519 AAAA"
    )
    with pytest.raises(GitPermanent) as refused:
        mirror.ls_remote(remote, policy)
    assert refused.value.code == "git.host-key"
    arguments = (programs / "arguments").read_text()
    assert (programs / "key").read_text() == "PRIVATE KEY"
    assert (programs / "mode").read_text().strip() == "600"
    assert "PRIVATE KEY" not in arguments + (programs / "variables").read_text()
    for option in ("StrictHostKeyChecking=yes", "BatchMode=yes", "HostKeyAlias=[localhost]:2222", "IdentityAgent=none"):
        assert option in arguments


def test_each_kind_of_url_wants_its_own_kind_of_credential(mirror: Mirror, policy: Policy) -> None:
    for remote in (
        Remote("https://localhost/a/b", SshCredential(Secret("k"))),
        Remote("ssh://git@localhost/a/b", TokenCredential(Secret("t"))),
        Remote("git@localhost:a/b"),
    ):
        with pytest.raises(GitPermanent) as refused:
            mirror.ls_remote(remote, policy)
        assert refused.value.code == "git.credential"


def test_a_server_that_repeats_the_credential_does_not_get_it_into_errors_or_logs(
    mirror: Mirror, server: GitServer, policy: Policy, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    remote = Remote(server.url(), TokenCredential(Secret(TOKEN)), server.ca_pem)

    def repeat(handler: Handler) -> None:
        header = handler.headers["Authorization"]
        text = f"{header} and {TOKEN} at {server.url()} are wrong"
        handler.answer(403, text.encode(), {"Content-Type": "text/plain"})

    server.fault = repeat
    with pytest.raises(GitError) as refused:
        mirror.fetch(remote, policy)
    shown = f"{refused.value!r} {refused.value} {refused.value.parameters} {caplog.text} {remote!r}"
    assert "are wrong" in shown
    assert server.authorizations[-1].startswith("Basic ")
    assert TOKEN not in shown
    assert server.authorizations[-1].split()[1] not in shown
    on_disk = b"".join(file.read_bytes() for file in mirror.path.rglob("*") if file.is_file())
    assert TOKEN.encode() not in on_disk


def test_a_redirect_takes_the_token_nowhere(mirror: Mirror, remote: Remote, server: GitServer, policy: Policy) -> None:
    server.fault = lambda handler: handler.answer(302, b"", {"Location": f"{server.url('elsewhere.git')}/info/refs"})
    with pytest.raises(GitPermanent) as refused:
        mirror.fetch(remote, policy)
    assert refused.value.code == "git.moved"
    assert not [line for line in server.seen if "elsewhere" in line]


def test_a_server_that_never_answers_costs_the_deadline_and_no_more(
    tmp_path: Path, remote: Remote, server: GitServer, policy: Policy
) -> None:
    server.fault = lambda handler: time.sleep(8)
    mirror = Mirror.open(tmp_path / "m.git", limits=Limits(seconds=1, slow_seconds=30))
    started = time.monotonic()
    with pytest.raises(GitTransient) as failed:
        mirror.fetch(remote, policy)
    assert failed.value.code == "git.deadline"
    assert time.monotonic() - started < 4


def test_the_whole_process_group_ends_at_the_deadline(programs: Path, tmp_path: Path, policy: Policy) -> None:
    program(programs, "git", "sleep 300 & echo $! > $here/child; echo $$ > $here/parent; trap '' TERM; wait")
    mirror = Mirror.open(tmp_path / "m.git", limits=Limits(seconds=1))
    with pytest.raises(GitTransient):
        mirror.ls_remote(Remote("https://localhost:9/a/b"), policy)
    for name in ("child", "parent"):
        assert not is_running(int((programs / name).read_text()))


def test_endless_output_is_cut_and_its_writer_killed(programs: Path, tmp_path: Path, policy: Policy) -> None:
    program(programs, "git", "echo $$ > $here/parent; exec cat /dev/zero")
    mirror = Mirror.open(tmp_path / "m.git", limits=Limits(output_bytes=100_000))
    with pytest.raises(GitPermanent) as refused:
        mirror.ls_remote(Remote("https://localhost:9/a/b"), policy)
    assert refused.value.code == "git.too-much-output"
    assert not is_running(int((programs / "parent").read_text()))


def test_a_pack_larger_than_the_limit_is_refused(
    tmp_path: Path, mirror: Mirror, remote: Remote, policy: Policy, first: str
) -> None:
    big = mirror.commit(first, {"noise": os.urandom(400_000)}, message())
    mirror.push(remote, policy, "main", big, first)
    small = Mirror.open(tmp_path / "m.git", limits=Limits(file_bytes=100_000))
    with pytest.raises(GitError) as refused:
        small.fetch(remote, policy)
    assert refused.value.code == "git.too-large"


def test_a_git_that_eats_memory_is_stopped(programs: Path, tmp_path: Path, policy: Policy) -> None:
    program(programs, "git", "exec python3 -c 'x = bytearray(500_000_000)'")
    mirror = Mirror.open(tmp_path / "m.git", limits=Limits(memory_bytes=100_000_000))
    with pytest.raises(GitError) as failed:
        mirror.ls_remote(Remote("https://localhost:9/a/b"), policy)
    assert "MemoryError" in str(failed.value)


def test_hooks_of_the_mirror_never_run(mirror: Mirror, remote: Remote, policy: Policy, first: str) -> None:
    trace = mirror.path.parent / "hook-ran"
    for name in ("reference-transaction", "pre-push", "post-update", "pre-auto-gc", "update", "post-checkout"):
        program(mirror.path / "hooks", name, f"touch {trace}")
    sha = mirror.commit(first, {"x": b"x"}, message())
    mirror.push(remote, policy, "topic", sha, None)
    mirror.fetch(remote, policy)
    mirror.maintain()
    assert mirror.branches() == {"main": first, "topic": sha}
    assert not trace.exists()


def test_a_machine_without_git_says_so(mirror: Mirror, policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clusters_app.git.runner.shutil.which", lambda name: None)
    with pytest.raises(GitPermanent) as failed:
        mirror.ls_remote(Remote("https://localhost:9/a/b"), policy)
    assert failed.value.code == "git.missing-program"
