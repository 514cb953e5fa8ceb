"""Becomes kustomize with nothing to reach: run as a script, never imported, so that no thread or library is around.

Arguments: the directory with the files, seconds, bytes of memory, bytes of output, and the command. It is confined in
three ways before it becomes the command, and ends with status 97 when one of them cannot be had:

- Landlock: of all files only the directory may be read and the program run; nothing may be written, no TCP used;
- seccomp: no socket of any kind, no io_uring, no tracing or signalling of other processes;
- limits of time, memory and output.
"""

import ctypes
import os
import platform
import resource
import signal
import struct
import sys

NOT_ISOLATED = 97

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _FILTER = 22, 38, 2
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3

# How many rights over files each version of Landlock knows: a right that is not named here would stay allowed.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
_NEWEST_FILE_RIGHTS = 16

# socket, socketpair, io_uring_setup, ptrace, process_vm_readv, process_vm_writev, kill, pidfd_send_signal, bpf,
# userfaultfd, perf_event_open, keyctl, mount, unshare, setns
_FORBIDDEN = {
    "x86_64": (0xC000003E, (41, 53, 425, 101, 310, 311, 62, 424, 321, 323, 298, 250, 165, 272, 308)),
    "aarch64": (0xC00000B7, (198, 199, 425, 117, 270, 271, 129, 424, 280, 282, 241, 219, 40, 97, 268)),
}
_LOAD, _EQUAL, _GREATER, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050001, 0x80000000
_X32 = 0x40000000

_libc = ctypes.CDLL(None, use_errno=True)


class NotIsolated(Exception):
    """A confinement that this machine does not offer."""


def main() -> None:
    directory, seconds, memory_bytes, output_bytes, *command = sys.argv[1:]
    try:
        limit(int(seconds), int(memory_bytes), int(output_bytes))
        _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
        confine_files(directory, command[0])
        confine_calls()
    except NotIsolated as error:
        sys.stderr.write(str(error))
        sys.exit(NOT_ISOLATED)
    os.execve(command[0], command, dict(os.environ))  # noqa: S606 — no shell is the point


def limit(seconds: int, memory_bytes: int, output_bytes: int) -> None:
    """The alarm survives exec, and ends a program whose parent is no longer there to do it."""
    for kind, value in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_DATA, memory_bytes),
        (resource.RLIMIT_FSIZE, output_bytes),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bound, bound))
    signal.alarm(seconds + 5)


def confine_files(directory: str, program: str) -> None:
    version = _libc.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        raise NotIsolated("Landlock is not available")
    rights = (1 << _FILE_RIGHTS.get(version, _NEWEST_FILE_RIGHTS)) - 1
    # From version 4 on TCP, from version 6 on signals and abstract sockets are confined too.
    attributes = struct.pack("QQQ", rights, 3, 3)[: 24 if version >= 6 else 16 if version >= 4 else 8]
    rules = _libc.syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    _check(rules, "a Landlock ruleset")
    _allow(rules, directory, _READ_FILE | _READ_DIR)
    _allow(rules, program, _READ_FILE | _EXECUTE)
    _check(_libc.syscall(_RESTRICT_SELF, rules, 0), "Landlock")
    os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    _check(_libc.syscall(_ADD_RULE, rules, 1, struct.pack("=Qi", rights, descriptor), 0), f"a rule for {path}")
    os.close(descriptor)


def confine_calls() -> None:
    """A filter that asks: is it this machine's own kind of call, and none of the forbidden ones?"""
    if platform.machine() not in _FORBIDDEN:
        raise NotIsolated(f"no list of system calls for {platform.machine()}")
    kind, forbidden = _FORBIDDEN[platform.machine()]
    rows = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, kind), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    rows += [(_GREATER, 0, 1, _X32), (_RETURN, 0, 0, _KILL)]
    for number in forbidden:
        rows += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    rows.append((_RETURN, 0, 0, _ALLOW))
    filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    program = struct.pack("HxxxxxxP", len(rows), ctypes.addressof(filters))
    _check(_libc.prctl(_PR_SET_SECCOMP, _FILTER, program, 0, 0), "seccomp")


def _check(result: int, what: str) -> None:
    if result < 0:
        raise NotIsolated(f"{what} is refused: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    main()
