"""Reads: what a person may see, and may do where. Always querysets that start at `…_visible_to(user)`."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Q, QuerySet

from clusters_app.flux.freshness import Freshness, freshness_of_round, older
from clusters_app.models import (
    App,
    AppStage,
    AuditRecord,
    Cluster,
    ClusterStatus,
    Environment,
    FluxObject,
    Membership,
    Promotion,
    Release,
    Repository,
)

#: What can be done at all, weakest first.
VERBS = ("view", "promote", "edit", "approve", "operate", "administer")

#: What each role may do.
ROLE_VERBS: dict[str, frozenset[str]] = {
    Membership.Role.VIEWER: frozenset({"view"}),
    Membership.Role.DEVELOPER: frozenset({"view", "promote"}),
    Membership.Role.OPERATOR: frozenset({"view", "promote", "edit", "approve", "operate"}),
    Membership.Role.ADMIN: frozenset(VERBS),
}

#: What a round may take, and the shortest period by which missed rounds are counted: a busy worker is no missed round.
_ROUND = _SHORTEST_PERIOD = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class Host:
    """Whoever gives commands on the installation's own host: the database is in their hands, so nothing is hidden."""

    is_authenticated: Literal[True] = True


HOST = Host()

type Person = User | AnonymousUser | Host


def roles_that_may(verb: str) -> list[str]:
    return [role for role, verbs in ROLE_VERBS.items() if verb in verbs]


def environments_where(user: Person, verb: str) -> QuerySet[Environment]:
    """The environments in which the person may do this; all of them for a role that holds everywhere. One query."""
    if isinstance(user, Host):
        return Environment.objects.all()
    if not user.is_authenticated:
        return Environment.objects.none()
    granted = Membership.objects.filter(user=user, role__in=roles_that_may(verb))
    if granted.filter(environment=None).exists():
        return Environment.objects.all()
    return Environment.objects.filter(pk__in=granted.values("environment"))


def can(user: Person, verb: str, environment: Environment | None = None) -> bool:
    """Whether the person may do this in that environment; with None: everywhere (things that no environment owns)."""
    if isinstance(user, Host):
        return True
    if not user.is_authenticated:
        return False
    granted = Membership.objects.filter(user=user, role__in=roles_that_may(verb))
    return granted.filter(Q(environment=None) | Q(environment=environment)).exists()


def can_somewhere(user: Person, verb: str) -> bool:
    """Whether the person may do this in at least one environment: enough to enter a page that then narrows down."""
    if isinstance(user, Host):
        return True
    return user.is_authenticated and Membership.objects.filter(user=user, role__in=roles_that_may(verb)).exists()


def environments_visible_to(user: Person) -> QuerySet[Environment]:
    return environments_where(user, "view")


def clusters_visible_to(user: Person) -> QuerySet[Cluster]:
    """With environment, repository and status joined: a list of them is one query."""
    return Cluster.objects.filter(environment__in=environments_visible_to(user)).select_related(
        "environment", "repository", "status"
    )


def objects_visible_to(user: Person) -> QuerySet[FluxObject]:
    return FluxObject.objects.filter(cluster__environment__in=environments_visible_to(user)).select_related(
        "cluster", "cluster__environment", "cluster__status"
    )


def repositories_visible_to(user: Person) -> QuerySet[Repository]:
    """All for who sees everything; else those that a visible cluster follows."""
    if can(user, "view"):
        return Repository.objects.all()
    return Repository.objects.filter(clusters__environment__in=environments_visible_to(user)).distinct()


def apps_visible_to(user: Person) -> QuerySet[App]:
    visible = AppStage.objects.filter(environment__in=environments_visible_to(user))
    return App.objects.filter(is_gone=False, pk__in=visible.values("app")).select_related("repository")


def app_stages_visible_to(user: Person) -> QuerySet[AppStage]:
    return AppStage.objects.filter(environment__in=environments_visible_to(user)).select_related("app", "environment")


def releases_visible_to(user: Person) -> QuerySet[Release]:
    return Release.objects.filter(environment__in=environments_visible_to(user)).select_related(
        "environment", "repository"
    )


def promotions_visible_to(user: Person) -> QuerySet[Promotion]:
    return Promotion.objects.filter(target__in=environments_visible_to(user)).select_related(
        "source", "target", "release", "repository", "requested_by"
    )


def audit_visible_to(user: Person) -> QuerySet[AuditRecord]:
    """The record concerns everything, so only who may operate everywhere reads it."""
    return AuditRecord.objects.all() if can(user, "operate") else AuditRecord.objects.none()


def freshness_of(status: ClusterStatus, now: datetime) -> Freshness:
    """The freshness of what is known of a cluster, from the age of its last complete round; no query.

    It is derived when it is read, so that knowledge grows old also when no worker is alive to say so.
    """
    missed = 0
    if status.observed_at is not None:
        period = max(timedelta(seconds=settings.FLOTILLA_OBSERVE_SECONDS), _SHORTEST_PERIOD)
        missed = max(status.failures, int((now - status.observed_at - _ROUND) / period))
    return freshness_of_round(status.observed_at, now, missed_rounds=missed)


def object_freshness(row: FluxObject, read_at: datetime | None, now: datetime) -> Freshness:
    """The older of the object's own heartbeat and the age of its kind's last reading; no query."""
    return older(Freshness(row.heartbeat), freshness_of_round(read_at, now))
