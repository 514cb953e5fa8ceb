"""What git's words about a remote mean. Git and its servers answer in prose, so prose is what is classified here."""

import re

from clusters_app.ingest import clean_line

from .credentials import Address
from .errors import GitError, GitPermanent, GitTransient
from .runner import Result


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


# The forge's own sentence about an archive comes with a plain 403, so the order of the rows matters.
_MEANINGS: tuple[tuple[re.Pattern[str], type[GitError], str], ...] = (
    (_words(r"(repo|repository|project) (is|was) (now )?archived"), GitPermanent, "git.archived"),
    (_words("host key verification failed", "remote host identification"), GitPermanent, "git.host-key"),
    (
        _words("ssl certificate problem", "certificate verif", "server certificate", "no alternative certificate"),
        GitPermanent,
        "git.tls",
    ),
    (_words("redirect", r"returned error: 30\d", r"error: 30\d"), GitPermanent, "git.moved"),
    (_words("returned error: 403", "access denied", "write access to repository"), GitPermanent, "git.forbidden"),
    (
        _words(
            "authentication failed",
            "failed to authenticate",
            "could not read (username|password)",
            "returned error: 401",
            r"permission denied \(",
            "(invalid|bad) (username|credentials)",
        ),
        GitPermanent,
        "git.auth",
    ),
    (
        _words(
            "returned error: 404",
            "repository .*not found",
            "does not appear to be a git repository",
            "(could not|cannot) find repository",
            "is this a git repository",
            "project you were looking for",
        ),
        GitPermanent,
        "git.not-found",
    ),
    (_words("no space left on device", "disk quota"), GitTransient, "git.disk-full"),
    (_words("file too large", "out of memory", "cannot allocate", "malloc.* failed"), GitPermanent, "git.too-large"),
    (
        _words(
            "could not resolve",
            "failed to connect",
            "couldn't connect",
            "connection (refused|timed out|reset|closed)",
            "no route to host",
            "network is unreachable",
            "timed? ?out",
            "operation too slow",
            r"less than \d+ bytes",
        ),
        GitTransient,
        "git.unreachable",
    ),
    (
        _words(
            r"returned error: (429|5\d\d)",
            "rpc failed",
            "early eof",
            "unexpected disconnect",
            "hung up unexpectedly",
            "empty reply",
            "invalid index-pack output",
            "unexpected end of",
            "gnutls|ssl_|http/?2",
            "bad line length",
            "protocol error",
        ),
        GitTransient,
        "git.server",
    ),
)


def remote_failure(result: Result, address: Address) -> GitError:
    """The error of an operation with a remote that ended with a status other than 0. Unknown words are transient."""
    said = spoken(result.errors)
    facts = {"host": address.host or "this machine", "url": address.url, "said": said}
    for words, kind, code in _MEANINGS:
        if words.search(result.errors):
            return kind(code, **facts)
    return GitTransient("git.failed", **facts)


def spoken(errors: str, limit: int = 400) -> str:
    """Foreign text fit for an error: one line, no control characters, `remote:` lines first."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    remote = [line.removeprefix("remote:").strip() for line in lines if line.startswith("remote:")]
    chosen = [line for line in remote if line] or lines
    return clean_line(" ".join(chosen), limit=limit) or "nothing"
