"""Reads: what a person may see, may do where, and how pages and API put it together. Database only.

`visible` holds the querysets that everything starts at; `fleet`, `apps` and `problems` are the read models that page,
API and command of the same name share, so that no two of them can differ.
"""

from .visible import (
    HOST,
    ROLE_VERBS,
    VERBS,
    Person,
    app_stages_visible_to,
    apps_visible_to,
    audit_visible_to,
    can,
    can_somewhere,
    clusters_visible_to,
    environments_visible_to,
    environments_where,
    freshness_of,
    object_freshness,
    objects_visible_to,
    promotions_visible_to,
    releases_visible_to,
    repositories_visible_to,
)

__all__ = [
    "HOST",
    "ROLE_VERBS",
    "VERBS",
    "Person",
    "app_stages_visible_to",
    "apps_visible_to",
    "audit_visible_to",
    "can",
    "can_somewhere",
    "clusters_visible_to",
    "environments_visible_to",
    "environments_where",
    "freshness_of",
    "object_freshness",
    "objects_visible_to",
    "promotions_visible_to",
    "releases_visible_to",
    "repositories_visible_to",
]
