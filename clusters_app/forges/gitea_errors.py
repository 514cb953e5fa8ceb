"""What Gitea's refusals mean: by status and by text, because one status stands for very different things."""

import re
from collections.abc import Sequence

from .errors import ForgeError, forge_error
from .transport import Reply


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# In this order; the first row whose status and words fit decides. None of the texts is translated by Gitea.
_MEANINGS: tuple[tuple[int, re.Pattern[str], str], ...] = (
    (401, _words(""), "forge.token"),
    (403, _words(r"scope|public[- ]only"), "forge.scope"),
    (403, _words(r"archived"), "forge.archived"),
    (403, _words(""), "forge.forbidden"),
    (404, _words(""), "forge.not-found"),
    (423, _words(""), "forge.archived"),
    (405, _words(r"already (been )?merged|has been merged"), "forge.already-merged"),
    # The same words come when a check is running, for ever on a conflict, and for ever when base holds the head.
    (405, _words(r"try again later"), "forge.later"),
    (405, _words(r"status checks|approvals|behind|review request|rejected by"), "forge.waiting"),
    (405, _words(r"merge style|not allowed.*style|disallowed"), "forge.style"),
    (405, _words(r"user not allowed|not allowed to merge"), "forge.forbidden"),
    (405, _words(r"protected"), "forge.protected"),
    (409, _words(r"pull request already exists"), "forge.already-open"),
    (409, _words(r"head out of date"), "forge.head-moved"),
    (409, _words(r"already scheduled"), "forge.already-merged"),
    (409, _words(r"cannot lock ref"), "forge.base-moved"),
    (409, _words(r"PushRejected|hook declined"), "forge.hook"),
    (409, _words(r"conflict"), "forge.conflict"),
    (422, _words(r"no changes between"), "forge.no-changes"),
)


def refusal(reply: Reply, host: str, segments: Sequence[str | int]) -> ForgeError:
    """The error of an answer that is not 2xx. A redirect on any method means moved, and is never followed."""
    facts: dict[str, str | int] = {
        "host": host,
        "status": reply.status,
        "said": reply.text or "no reason",
        "path": "/" + "/".join(map(str, segments)),
        "head": "the branch",
        "base": "its base",
    }
    if 300 <= reply.status < 400:
        return forge_error("forge.moved", **facts)
    if reply.status >= 500:
        return forge_error("forge.server", **facts)
    for status, words, code in _MEANINGS:
        if reply.status == status and words.search(reply.text):
            return forge_error(code, **facts)
    return forge_error("forge.refused", **facts)
