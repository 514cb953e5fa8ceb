"""Say how the fleet stands: its clusters by environment in promotion order, with what each one is held up by.

With --cluster it prints the objects of one cluster as `flux get all -A` would, from what was last read of it. The exit
code is 1 when something fails or is not seen lately.
"""

import argparse
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, TextIO

from clusters_app.commands.output import Row, Tone, Value, add_format, print_document, print_rows

if TYPE_CHECKING:
    from clusters_app.models import Cluster, FluxObject
    from clusters_app.queries.fleet import Board, ClusterRow

EXAMPLE = "flotilla status --environment prod --behind"

_COLUMNS = ("environment", "cluster", "standing", "ready", "failing", "seen", "revision", "behind", "flux", "cause")
_STANDINGS = ("failing", "lost", "stale", "degraded", "progressing", "suspended", "ready", "unknown")
_FRESHNESS = ("Live", "Late", "Stale", "Lost", "unseen")
_BAD = {"failing", "lost", "stale", "degraded"}
_TONES = {"ready": Tone.GOOD, "failing": Tone.BAD, "lost": Tone.BAD, "stale": Tone.WARNING, "degraded": Tone.WARNING}
_READY_TONES = {"True": Tone.GOOD, "False": Tone.BAD, "Unknown": Tone.WARNING}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cluster", metavar="NAME", help="the objects of this cluster instead of the fleet")
    parser.add_argument("--environment", default="", help="only this one")
    parser.add_argument("--standing", default="", choices=_STANDINGS, help="only clusters that stand so")
    parser.add_argument("--freshness", default="", choices=_FRESHNESS, help="only those; unseen: all but Live")
    parser.add_argument("--behind", action="store_true", help="only those behind Git")
    parser.add_argument("--label", action="append", default=[], type=label, metavar="KEY=VALUE", help="repeatable")
    parser.add_argument("-q", dest="text", default="", metavar="TEXT", help="part of a name or sync path")
    add_format(parser)


def label(text: str) -> tuple[str, str]:
    """KEY=VALUE as a pair."""
    key, separator, value = text.partition("=")
    if not (key and separator):
        raise argparse.ArgumentTypeError("a label is written KEY=VALUE")
    return key, value


def loads_django(_arguments: argparse.Namespace) -> bool:
    return True


def run(arguments: argparse.Namespace, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """0 when all that is shown is seen and nothing fails, else 1."""
    del stdin
    from django.utils import timezone

    if arguments.cluster:
        return _one_cluster(arguments, timezone.now(), stdout, stderr)
    return _fleet(arguments, timezone.now(), stdout, stderr)


def _fleet(arguments: argparse.Namespace, now: datetime, stdout: TextIO, stderr: TextIO) -> int:
    from clusters_app.commands.documents import fleet_document
    from clusters_app.commands.on_server import environment_named
    from clusters_app.queries import HOST
    from clusters_app.queries.fleet import Filters, fleet_board

    if arguments.environment:
        environment_named(arguments.environment)
    filters = Filters(
        environment=arguments.environment,
        standing=arguments.standing,
        freshness=arguments.freshness,
        is_behind=arguments.behind,
        text=arguments.text,
        labels=dict(arguments.label),
    )
    board = fleet_board(HOST, now, filters)
    if arguments.output == "table":
        _print_board(board, now, stdout)
    else:
        print_document(fleet_document(board), arguments.output, stdout)
    if not board.clusters:
        stderr.write(_nothing(filters_are_empty=filters.is_empty) + "\n")
    if board.is_unwatched:
        stderr.write("No worker observes the clusters: start one with flotilla run, or flotilla serve observe\n")
    rows = [row for group in board.groups for row in group.rows]
    return 1 if board.is_unwatched or any(map(_is_bad, rows)) else 0


def _nothing(*, filters_are_empty: bool) -> str:
    if filters_are_empty:
        return "No cluster is registered yet: flotilla cluster add --help"
    return "No cluster fits these filters."


def _is_bad(row: "ClusterRow") -> bool:
    """Failing, or not seen: also one that was never read, unless a person has paused it."""
    return row.standing in _BAD or (row.status.observed_at is None and not row.cluster.is_paused)


def _print_board(board: "Board", now: datetime, stdout: TextIO) -> None:
    rows = [_fleet_row(row, now) for group in board.groups for row in group.rows]
    if not rows:
        return
    print_rows(
        rows, _COLUMNS, "table", stdout, lambda name, value: _TONES.get(str(value)) if name == _COLUMNS[2] else None
    )
    standings = [str(row["standing"]) for row in rows]
    counts = [f"{standings.count(each)} {each}" for each in reversed(_STANDINGS) if each in standings]
    stdout.write(f"\n{' · '.join(counts)}\n")


def _fleet_row(row: "ClusterRow", now: datetime) -> Row:
    counts, status = row.counts, row.status
    return {
        "environment": row.cluster.environment.name,
        "cluster": row.cluster.name,
        "standing": row.standing,
        "ready": f"{counts.ready}/{counts.total}",
        "failing": counts.failing,
        "seen": age(status.observed_at, now),
        "revision": status.applied[:7],
        "behind": status.commits_behind,
        "flux": status.flux_version,
        "cause": f"{status.cause_object} {status.cause}".strip() if row.standing == "failing" else status.problem,
    }


def age(at: datetime | None, now: datetime) -> str:
    """As kubectl writes ages; "never" for None."""
    if at is None:
        return "never"
    seconds = max(0, int((now - at).total_seconds()))
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _one_cluster(arguments: argparse.Namespace, now: datetime, stdout: TextIO, stderr: TextIO) -> int:
    from clusters_app.commands.documents import cluster_document, object_row
    from clusters_app.commands.on_server import named
    from clusters_app.flux.freshness import Freshness
    from clusters_app.queries import HOST, clusters_visible_to
    from clusters_app.queries.fleet import cluster_row

    cluster = named(clusters_visible_to(HOST), arguments.cluster)
    standing = cluster_row(cluster, now)
    is_seen = standing.freshness in {Freshness.LIVE, Freshness.LATE}
    rows = [object_row(row, is_seen=is_seen) for row in _objects(cluster)]
    if arguments.output == "table":
        _print_objects(rows, stdout)
    else:
        print_document({**cluster_document(standing), "objects": rows}, arguments.output, stdout)
    if not is_seen:
        seen = age(standing.status.observed_at, now)
        since = "was never read" if seen == "never" else f"was last read {seen} ago"
        stderr.write(f"{cluster.name} {since}, so nothing is known for sure. {standing.status.problem}".rstrip() + "\n")
    return 1 if _is_bad(standing) else 0


def _objects(cluster: "Cluster") -> "list[FluxObject]":
    """Kind by kind, Flux's own first: two queries at most."""
    from clusters_app.flux.resources import KINDS
    from clusters_app.queries import HOST, objects_visible_to

    order = {kind: position for position, kind in enumerate(KINDS)}
    found = objects_visible_to(HOST).filter(cluster=cluster, gone_at=None).select_related("detail")
    return sorted(found, key=lambda row: (order.get(row.kind, len(order)), row.kind, row.namespace, row.name))


def _print_objects(rows: list[Row], stdout: TextIO) -> None:
    """One table a kind, the name with its kind in front, as `flux get all` writes it."""
    for position, (_kind, found) in enumerate(groupby(rows, key=lambda row: str(row["kind"]))):
        shown = [_as_flux(row) for row in found]
        stdout.write("\n" if position else "")
        print_rows(shown, ("namespace", "name", "revision", "suspended", "ready", "message"), "table", stdout, _tone)


def _as_flux(row: Row) -> Row:
    from clusters_app.flux.identity import Revision

    return {
        **row,
        "name": f"{str(row['kind']).lower()}/{row['name']}",
        "revision": Revision.parse(str(row["revision"])).short(),
        "suspended": str(row["suspended"]),
    }


def _tone(column: str, value: Value) -> Tone | None:
    return _READY_TONES.get(str(value)) if column == "ready" else None
