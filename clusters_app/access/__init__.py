"""Who may ask for what: every route and method has its need in one table. What has no entry is refused.

`table` says what each route needs, `rights` whether a request has it, `door` asks both before any view runs. Which rows
are behind a door is decided by `…_visible_to(user)`; a view that acts in one environment asks `may` again with it.
"""

from .door import AccessMiddleware, actor_of, address_of
from .rights import is_allowed, may
from .table import PUBLIC, SIGNED_IN, Need, access_table, need_of
from .words import problem

__all__ = [
    "PUBLIC",
    "SIGNED_IN",
    "AccessMiddleware",
    "Need",
    "access_table",
    "actor_of",
    "address_of",
    "is_allowed",
    "may",
    "need_of",
    "problem",
]
