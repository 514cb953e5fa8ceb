"""Which service does which kind of operation."""

from collections.abc import Callable
from typing import Any

from clusters_app.models import Operation

from . import clusters, repositories, reviews, scaffolding

WORKS: dict[str, Callable[[Operation], dict[str, Any]]] = {
    repositories.ADD: repositories.check_and_add,
    clusters.REGISTER: clusters.check_and_register,
    scaffolding.SCAFFOLD: scaffolding.open_scaffold,
    reviews.MERGE: reviews.do_merge,
    reviews.CLOSE: reviews.do_close,
}


def do_work(operation: Operation) -> dict[str, Any]:
    return WORKS[operation.kind](operation)
