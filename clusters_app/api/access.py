"""The verbs of the API's routes, by name and method; enforced by `clusters_app.access` before any view runs."""

from collections.abc import Mapping

_SAFE = ("GET", "HEAD", "OPTIONS")


def _verbs(get: str = "view", **writes: str) -> dict[str, str]:
    return {**dict.fromkeys(_SAFE, get), **writes}


def _act(verb: str) -> dict[str, str]:
    return {"POST": verb, "OPTIONS": verb}


API: dict[str, Mapping[str, str]] = {
    "api-schema": _verbs("signed-in"),
    "api-docs": _verbs("signed-in"),
    "api-fleet": _verbs(),
    "api-environments": _verbs(POST="edit"),
    "api-environment-order": _act("edit"),
    "api-environment": _verbs(DELETE="edit"),
    "api-repositories": _verbs(POST="administer"),
    "api-repository": _verbs(DELETE="administer"),
    "api-repository-refresh": _act("operate"),
    "api-repository-scaffold": _act("edit"),
    "api-repository-reviews": _verbs(),
    "api-repository-review-merge": _act("approve"),
    "api-repository-review-close": _act("approve"),
    "api-clusters": _verbs(POST="administer"),
    "api-cluster-manifest": _verbs("administer"),
    "api-cluster": _verbs(DELETE="administer"),
    "api-cluster-refresh": _act("operate"),
    "api-cluster-token": _act("administer"),
    "api-objects": _verbs(),
    "api-object": _verbs(),
    "api-problems": _verbs(),
    "api-apps": _verbs(),
    "api-app": _verbs(),
    "api-releases": _verbs(),
    "api-promotions": _verbs(POST="promote"),
    "api-promotion": _verbs(),
    "api-promotion-abort": _act("promote"),
    "api-promotion-retry": _act("promote"),
    "api-operation": _verbs(),
    "api-events": _verbs("operate"),
    "api-tokens": _verbs("signed-in", POST="signed-in"),
    "api-token": {"DELETE": "signed-in", "OPTIONS": "signed-in"},
    "api-system": _verbs("operate"),
}
