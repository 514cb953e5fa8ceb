"""List promotions, show one with its clusters, gates and timeline, give one up, try one again."""

import argparse
from typing import TYPE_CHECKING, TextIO

from clusters_app.commands.output import Row, Tone, Value, add_format, cell, paint, print_document, print_rows
from clusters_app.commands.verbs import add_verb, add_verbs

if TYPE_CHECKING:
    from clusters_app.models import Promotion

EXAMPLE = "flotilla promotions list --state moving"

_TONES = {"Verified": Tone.GOOD, "Failed": Tone.BAD, "Conflict": Tone.BAD, "Blocked": Tone.WARNING}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = add_verbs(parser)
    listing = add_verb(verbs, "list", "List promotions, newest first", EXAMPLE)
    listing.add_argument("--state", default="", help="one state, or moving for what is on its way")
    listing.add_argument("--app", default="", help="only of this app")
    listing.add_argument("--to", default="", metavar="ENVIRONMENT", help="only into this environment")
    listing.add_argument("--limit", type=int, default=50, help="how many at most; default: 50")
    add_format(listing)
    show = add_verb(verbs, "show", "Show a promotion", "flotilla promotions show 12")
    show.add_argument("id", type=int)
    add_format(show)
    abort = add_verb(verbs, "abort", "Give up a promotion that is not merged", "flotilla promotions abort 12")
    abort.add_argument("id", type=int)
    abort.add_argument("--why", default="", help="for its timeline")
    retry = add_verb(verbs, "retry", "Try its next step again at once", "flotilla promotions retry 12")
    retry.add_argument("id", type=int)


def loads_django(_arguments: argparse.Namespace) -> bool:
    return True


def run(arguments: argparse.Namespace, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """0 done, 1 refused, 2 for a state that there is not."""
    del stdin
    if arguments.verb == "list":
        return _list(arguments, stdout, stderr)
    if arguments.verb == "show":
        return _show(arguments, stdout)
    return _change(arguments, stderr)


def _list(arguments: argparse.Namespace, stdout: TextIO, stderr: TextIO) -> int:
    from clusters_app.commands.documents import promotion_document
    from clusters_app.models import Promotion
    from clusters_app.queries import HOST, promotions_visible_to

    states = {*Promotion.State.values, "moving", ""}
    if arguments.state not in states:
        stderr.write(f"There is no state {arguments.state}; there are: moving, {', '.join(Promotion.State.values)}\n")
        return 2
    found = promotions_visible_to(HOST)
    if arguments.state == "moving":
        found = found.filter(state__in=Promotion.MOVING_STATES)
    elif arguments.state:
        found = found.filter(state=arguments.state)
    if arguments.app:
        found = found.filter(apps__name=arguments.app).distinct()
    if arguments.to:
        found = found.filter(target__name=arguments.to)
    rows = [promotion_document(each) for each in found[: max(arguments.limit, 0)]]
    if arguments.output != "table":
        print_document(rows, arguments.output, stdout)
    elif rows:
        print_rows([_row(row) for row in rows], _COLUMNS, "table", stdout, _tone)
    else:
        stderr.write("No promotion.\n")
    return 0


_COLUMNS = ("id", "app", "from", "to", "version", "state", "pull_request", "problem")


def _row(document: Row) -> Row:
    return {
        "id": document["id"],
        "app": document["slot"],
        "from": document["source"],
        "to": document["target"],
        "version": f"{document['version_before'] or '-'} → {document['version_after'] or '-'}",
        "state": document["state"],
        "pull_request": document["pull_request_url"],
        "problem": document["problem"],
    }


def _tone(column: str, value: Value) -> Tone | None:
    return tone_of_state(str(value)) if column == "state" else None


def tone_of_state(state: str) -> Tone | None:
    """The colour of a promotion's state, None for one that is neither good nor bad."""
    return _TONES.get(state)


def _show(arguments: argparse.Namespace, stdout: TextIO) -> int:
    from clusters_app.commands.documents import promotion_detail_document
    from clusters_app.commands.plan_text import plan_text

    found = _promotion(arguments.id)
    document = promotion_detail_document(found)
    if arguments.output != "table":
        print_document(document, arguments.output, stdout)
        return 0
    stdout.write(f"{found.pk}  {found}  {paint(found.state, tone_of_state(found.state), stdout)}\n")
    stdout.writelines(f"{cell(line)}\n" for line in (found.pull_request_url, found.problem) if line)
    stdout.write("\n" + plan_text(found.plan, stdout))
    for name, columns in (
        ("targets", ("cluster", "state", "revision", "text")),
        ("gates", ("gate", "passed", "text")),
        ("events", ("at", "after", "actor", "why")),
    ):
        rows = document[name]
        if isinstance(rows, list) and rows:
            stdout.write("\n")
            print_rows([row for row in rows if isinstance(row, dict)], columns, "table", stdout)
    return 0


def _change(arguments: argparse.Namespace, stderr: TextIO) -> int:
    from clusters_app.commands.on_server import actor
    from clusters_app.services.promotions.requesting import abort_promotion, retry_promotion

    found = _promotion(arguments.id)
    if arguments.verb == "abort":
        abort_promotion(promotion=found, actor=actor(), why=arguments.why)
        stderr.write(f"{found} is given up; a worker closes its pull request.\n")
    else:
        retry_promotion(promotion=found, actor=actor())
        stderr.write(f"A worker tries {found} again.\n")
    return 0


def _promotion(pk: int) -> "Promotion":
    from clusters_app.queries import HOST, promotions_visible_to
    from clusters_app.services.errors import ServiceError

    found = promotions_visible_to(HOST).filter(pk=pk).first()
    if found is None:
        raise ServiceError("not-found", f"There is no promotion {pk}.", remedy="See: flotilla promotions list")
    return found
