"""Search over everything that has a name. A fixed number of queries, each bounded."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from .visible import (
    Person,
    apps_visible_to,
    clusters_visible_to,
    objects_visible_to,
    promotions_visible_to,
    repositories_visible_to,
)

#: Hits of one kind at most.
MOST = 20


@dataclass(frozen=True, slots=True)
class Hit:
    kind: str
    name: str
    under: str
    url: str


def search(user: Person, text: str) -> list[Hit]:
    """Clusters, apps, repositories, promotions and objects whose name holds the text, in this order."""
    clusters = clusters_visible_to(user).filter(name__icontains=text)[:MOST]
    apps = apps_visible_to(user).filter(name__icontains=text)[:MOST]
    repositories = repositories_visible_to(user).filter(name__icontains=text)[:MOST]
    promotions = promotions_visible_to(user).filter(slot__icontains=text)[:MOST]
    objects = objects_visible_to(user).filter(name__icontains=text, gone_at=None)[:MOST]
    return [
        *(Hit(_("cluster"), row.name, row.environment.name, row.get_absolute_url()) for row in clusters),
        *(Hit(_("app"), row.name, row.repository.name, row.get_absolute_url()) for row in apps),
        *(Hit(_("repository"), row.name, row.url, row.get_absolute_url()) for row in repositories),
        *(Hit(_("promotion"), str(row), row.get_state_display(), row.get_absolute_url()) for row in promotions),
        *(Hit(_("object"), str(row), row.cluster.name, row.get_absolute_url()) for row in objects),
    ]
