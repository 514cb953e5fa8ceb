"""Every command line that git is started with. Variables stand behind `--end-of-options` or inside a checked ref."""

from dataclasses import dataclass
from pathlib import Path

from .credentials import Address
from .refs import check_branch, check_sha


@dataclass(frozen=True, slots=True)
class Operation:
    """git's arguments without the program. Made by the functions of this module alone."""

    name: str
    arguments: tuple[str, ...]


def fetch(mirror: Path, address: Address) -> Operation:
    """Make the mirror's branches those of the remote: new, moved and deleted ones alike. No tags, no submodules."""
    return _on(
        mirror,
        "fetch", "--prune", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules",
        "--no-show-forced-updates", "--quiet", "--end-of-options", address.url, "+refs/heads/*:refs/heads/*",
    )  # fmt: skip


def list_remote(address: Address) -> Operation:
    """Branches of the remote and where its HEAD points."""
    return Operation("ls-remote", ("ls-remote", "--symref", "--end-of-options", address.url, "HEAD", "refs/heads/*"))


def push(mirror: Path, address: Address, branch: str, sha: str, expect: str | None) -> Operation:
    """Put `branch` at `sha` only if it is at `expect` now; None: only if it is not there."""
    ref = f"refs/heads/{check_branch(branch)}"
    return _push(mirror, address, ref, check_sha(sha), check_sha(expect) if expect else "")


def try_push(mirror: Path, address: Address, sha: str) -> Operation:
    """Ask for the right to push and stop there: the server checks the credential, and no ref moves."""
    ref = "refs/heads/flotilla/nothing"
    return _on(
        mirror,
        "push",
        "--dry-run",
        "--porcelain",
        "--no-verify",
        "--end-of-options",
        address.url,
        f"{check_sha(sha)}:{ref}",
    )


def delete(mirror: Path, address: Address, branch: str, expect: str) -> Operation:
    """Delete `branch` only if it is at `expect` now."""
    return _push(mirror, address, f"refs/heads/{check_branch(branch)}", "", check_sha(expect))


def merge_trees(mirror: Path, base: str, head: str) -> Operation:
    """The tree of a three-way merge, or the conflicting paths; writes objects, moves no ref."""
    return _on(
        mirror, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", "--end-of-options",
        check_sha(base), check_sha(head),
    )  # fmt: skip


def maintain(mirror: Path) -> Operation:
    """Pack loose objects when there are many of them."""
    return _on(mirror, "gc", "--auto", "--quiet")


def _push(mirror: Path, address: Address, ref: str, sha: str, expect: str) -> Operation:
    return _on(
        mirror,
        "push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--no-signed",
        f"--force-with-lease={ref}:{expect}", "--end-of-options", address.url, f"{sha}:{ref}",
    )  # fmt: skip


def _on(mirror: Path, command: str, *options: str) -> Operation:
    return Operation(command, (f"--git-dir={mirror}", command, *options))
