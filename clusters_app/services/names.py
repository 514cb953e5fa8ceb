"""Names that would hide behind an address of ours: `/clusters/register/` is a page, so no cluster is called that."""

from django.utils.translation import gettext as _

from .errors import ServiceError

RESERVED = frozenset({"add", "order", "register"})


def refuse_reserved_name(name: str) -> None:
    """ServiceError for a name of a cluster, repository or environment that a page or route has."""
    if name in RESERVED:
        raise ServiceError("name.reserved", _("The name %(name)s is taken by a page.") % {"name": name}, field="name")
