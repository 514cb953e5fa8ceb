"""Environments and their promotion order."""

from collections.abc import Sequence

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from clusters_app.models import Environment

from .audit import Actor, record
from .errors import ServiceError
from .names import refuse_reserved_name


def create_environment(*, name: str, actor: Actor, is_production: bool | None = None) -> Environment:
    """A new environment at the end of the promotion order. `is_production` None: judged by its name."""
    if is_production is None:
        is_production = name in {"prod", "prd", "production", "live"}
    with transaction.atomic():
        last = Environment.objects.aggregate(last=Max("position"))["last"] or 0
        environment = Environment(name=name, position=last + 1, is_production=is_production)
        try:
            environment.full_clean()
        except ValidationError as error:
            raise ServiceError("environment.name", " ".join(error.messages), field="name") from error
        refuse_reserved_name(name)
        environment.save()
        record(actor=actor, verb="environment.create", subject=name, position=environment.position)
    return environment


def order_environments(*, names: Sequence[str], actor: Actor) -> None:
    """Set the promotion order, first to receive first. `names` must be exactly the environments that exist."""
    with transaction.atomic():
        by_name = {environment.name: environment for environment in Environment.objects.select_for_update()}
        if sorted(names) != sorted(by_name):
            raise ServiceError(
                "environment.order",
                _("The order must name each environment once: %(names)s.") % {"names": ", ".join(sorted(by_name))},
                field="names",
            )
        # Positions are unique, so they step aside before they are set.
        offset = len(names) + max((environment.position for environment in by_name.values()), default=0)
        for position, name in enumerate(names, start=1):
            Environment.objects.filter(pk=by_name[name].pk).update(position=offset + position)
        for position, name in enumerate(names, start=1):
            Environment.objects.filter(pk=by_name[name].pk).update(position=position)
        record(actor=actor, verb="environment.order", subject=" → ".join(names))


def remove_environment(*, environment: Environment, actor: Actor) -> None:
    """Remove an environment that holds nothing; ServiceError names what it still holds."""
    clusters = list(environment.clusters.values_list("name", flat=True)[:3])
    if clusters:
        raise ServiceError(
            "environment.has-clusters",
            _("%(name)s still has clusters: %(clusters)s.") % {"name": environment, "clusters": ", ".join(clusters)},
            remedy=_("Remove or move them first."),
        )
    if environment.promotions_into.exists() or environment.promotions_from.exists() or environment.releases.exists():
        raise ServiceError(
            "environment.has-history",
            _("%(name)s has a history of promotions, which is kept.") % {"name": environment},
            remedy=_("Move it to the end of the order instead."),
        )
    with transaction.atomic():
        record(actor=actor, verb="environment.remove", subject=environment.name)
        environment.delete()
