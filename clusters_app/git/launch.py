"""Becomes the git program with limits and with nothing of the worker's environment. Run as a script, never imported.

GitPython adds its variables to a copy of this process's environment, so the copy is thinned here, after the start:
arguments are the names to keep, the limits, and git's own command line. No secret is among them.
"""

import os
import resource
import signal
import sys


def main() -> None:
    names, seconds, memory_bytes, file_bytes, *command = sys.argv[1:]
    _limit(resource.RLIMIT_DATA, int(memory_bytes))
    _limit(resource.RLIMIT_FSIZE, int(file_bytes))
    _limit(resource.RLIMIT_CPU, int(seconds))
    _limit(resource.RLIMIT_CORE, 0)
    # The alarm survives exec: when the worker is killed, nobody else is left to end a git that waits.
    signal.alarm(int(seconds) + 5)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    # Ignored, a file that grows too large is an error that git tells of, and not a death without words.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    kept = {name: os.environ[name] for name in names.split(",")}
    os.execve(command[0], command, kept)  # noqa: S606 — no shell is the point


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))


if __name__ == "__main__":
    main()
