"""The one table of routes and methods. OPTIONS has no entry anywhere: a page's view would take it for its act."""

from collections.abc import Mapping
from typing import Final, NamedTuple


class Need(NamedTuple):
    """What a door asks for: a verb of `queries.VERBS`, in at least one environment or in all of them.

    A thing that an environment owns is behind a door for "somewhere", and its view asks for that environment; what no
    environment owns (people, repositories, the order of environments) is behind a door for "everywhere".
    """

    verb: str
    is_everywhere: bool = False

    def __str__(self) -> str:
        return f"{self.verb} everywhere" if self.is_everywhere else self.verb


#: No account is needed.
PUBLIC: Final = Need("public")
#: Any signed-in person, for what is the person's own.
SIGNED_IN: Final = Need("signed-in")

VIEW, PROMOTE, EDIT = Need("view"), Need("promote"), Need("edit")
APPROVE, OPERATE, ADMINISTER = Need("approve"), Need("operate"), Need("administer")
EDIT_ALL, OPERATE_ALL, ADMINISTER_ALL = Need("edit", True), Need("operate", True), Need("administer", True)

type Entry = Mapping[str, Need]


def reads(need: Need = VIEW, **writes: Need) -> Entry:
    """GET and HEAD under one need, and what else the route takes."""
    return {"GET": need, "HEAD": need, **writes}


def form(need: Need) -> Entry:
    """A page with a form: the same need shows and submits it."""
    return reads(need, POST=need)


def act(need: Need) -> Entry:
    return {"POST": need}


PAGES: Mapping[str, Entry] = {
    "healthz": reads(PUBLIC),
    "set_language": act(PUBLIC),
    "sign-in": form(PUBLIC),
    "first-run": form(PUBLIC),
    "sign-out": act(SIGNED_IN),
    "account": form(SIGNED_IN),
    "fleet": reads(),
    "problems": reads(),
    "search": reads(),
    "cluster-register": form(ADMINISTER),
    "cluster-manifest": reads(ADMINISTER),
    "cluster": reads(),
    "cluster-refresh": act(OPERATE),
    "cluster-remove": form(ADMINISTER),
    "cluster-credential": form(ADMINISTER),
    "object": reads(),
    "apps": reads(),
    "app": reads(),
    "promote": form(PROMOTE),
    "promotions": reads(),
    "promotion": reads(),
    "promotion-abort": act(PROMOTE),
    "promotion-retry": act(PROMOTE),
    "repositories": reads(),
    "repository-add": form(ADMINISTER_ALL),
    "repository": reads(),
    "repository-refresh": act(OPERATE),
    "scaffold": form(EDIT_ALL),
    "scaffold-preview": act(EDIT_ALL),
    "review": reads(),
    "review-merge": act(APPROVE),
    "review-close": act(APPROVE),
    "operation": reads(),
    "activity": reads(OPERATE_ALL),
    "settings": reads(EDIT),
    "environments": form(EDIT_ALL),
    "environment-remove": act(EDIT_ALL),
    "people": form(ADMINISTER_ALL),
    "person-remove": act(ADMINISTER_ALL),
    "tokens": form(SIGNED_IN),
    "token-revoke": act(SIGNED_IN),
    "system": reads(OPERATE_ALL),
}

API: Mapping[str, Entry] = {
    "api-index": reads(SIGNED_IN),
    "api-schema": reads(SIGNED_IN),
    "api-docs": reads(SIGNED_IN),
    "api-fleet": reads(),
    "api-environments": reads(POST=EDIT_ALL),
    "api-environment-order": act(EDIT_ALL),
    "api-environment": reads(DELETE=EDIT_ALL),
    "api-repositories": reads(POST=ADMINISTER_ALL),
    "api-repository": reads(DELETE=ADMINISTER_ALL),
    "api-repository-refresh": act(OPERATE),
    "api-repository-scaffold": act(EDIT_ALL),
    "api-repository-reviews": reads(),
    "api-repository-review": reads(),
    "api-repository-review-merge": act(APPROVE),
    "api-repository-review-close": act(APPROVE),
    "api-clusters": reads(POST=ADMINISTER),
    "api-cluster-manifest": reads(ADMINISTER),
    "api-cluster": reads(DELETE=ADMINISTER),
    "api-cluster-refresh": act(OPERATE),
    "api-cluster-token": act(ADMINISTER),
    "api-objects": reads(),
    "api-object": reads(),
    "api-problems": reads(),
    "api-apps": reads(),
    "api-app": reads(),
    "api-releases": reads(),
    "api-promotions": reads(POST=PROMOTE),
    "api-promotion": reads(),
    "api-promotion-abort": act(PROMOTE),
    "api-promotion-retry": act(PROMOTE),
    "api-operation": reads(),
    "api-events": reads(OPERATE_ALL),
    "api-tokens": reads(SIGNED_IN, POST=SIGNED_IN),
    "api-token": reads(SIGNED_IN, DELETE=SIGNED_IN),
    "api-system": reads(OPERATE_ALL),
}

#: Django's admin site shows rows of every environment, all read-only: one entry for its views, one for leaving it.
ADMIN_NAMESPACE: Final = "admin"
_ADMIN_VIEW, _ADMIN_LOGOUT = reads(ADMINISTER_ALL), act(SIGNED_IN)


def access_table() -> dict[str, Entry]:
    return {**PAGES, **API}


def entry_of(view_name: str) -> Entry:
    """Method → need of one route; empty when it has no entry, which means that nothing is allowed."""
    if view_name == f"{ADMIN_NAMESPACE}:logout":
        return _ADMIN_LOGOUT
    if view_name.startswith(f"{ADMIN_NAMESPACE}:"):
        return _ADMIN_VIEW
    return PAGES.get(view_name) or API.get(view_name) or {}


def need_of(view_name: str, method: str) -> Need | None:
    """What this route asks of this method; None when there is no entry, which means refused."""
    return entry_of(view_name).get(method)
