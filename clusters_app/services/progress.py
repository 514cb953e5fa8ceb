"""How far one commit has come on one cluster, for the objects that apply one app there. Pure: rows in, verdict out.

Live is proven, never assumed: the applied revision contains the commit, the Kustomization is Ready about it, every
HelmRelease is Ready, and all that was read lately. Anything less has another name.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clusters_app.flux.freshness import Freshness
from clusters_app.flux.identity import Revision
from clusters_app.flux.verdicts import BROKEN, Control, Health
from clusters_app.models import AppOnCluster, FluxObject

State = AppOnCluster.State

#: Whether the first commit is contained in (an ancestor of, or equal to) the second.
type Contains = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class Progress:
    """`revision` is the newest commit that this cluster is known to have applied; `text` says why it is not live."""

    state: str
    revision: str = ""
    text: str = ""


def commit_of(revision: str) -> str:
    """The Git commit that a revision of Flux stands for; "" for versions and OCI digests."""
    parsed = Revision.parse(revision)
    return parsed.hash if parsed.algorithm == "sha1" or len(parsed.hash) == 40 else ""


def source_commit_of(row: FluxObject, revision: str) -> str:
    """As `commit_of`, with the origin of an OCI artifact, which is what it was built from."""
    return commit_of(row.origin_revision) or commit_of(revision)


def progress_of(
    *, commit: str, rows: Sequence[FluxObject], fetched: str, freshness: Freshness, contains: Contains
) -> Progress:
    """`rows` are the Kustomizations that apply the app, nearest first, and the HelmReleases that it consists of."""
    kustomizations = [row for row in rows if row.kind == "Kustomization" and row.gone_at is None]
    if not kustomizations:
        return Progress(State.WAITING if freshness is Freshness.LIVE else State.UNKNOWN, text="not in the cluster yet")
    nearest = kustomizations[0]
    applied = source_commit_of(nearest, nearest.applied)
    if freshness is not Freshness.LIVE:
        return Progress(State.UNKNOWN, applied, "not seen lately")
    if broken := _broken(rows, nearest, commit, contains):
        return Progress(State.FAILING, applied, f"{broken}: {broken.explain_cause or broken.message}")
    if not contains(commit, applied):
        return _before_applied(nearest, commit, fetched, applied, contains)
    waiting = next((row for row in rows if not _is_ready(row)), None)
    if waiting is not None or not contains(commit, source_commit_of(nearest, nearest.revision)):
        return Progress(State.APPLIED, applied, str(waiting or nearest))
    return Progress(State.LIVE, applied)


def _is_ready(row: FluxObject) -> bool:
    return row.gone_at is None and row.health == Health.READY and row.heartbeat == Freshness.LIVE


def _broken(rows: Sequence[FluxObject], nearest: FluxObject, commit: str, contains: Contains) -> FluxObject | None:
    """The object that fails *on this commit*: a failure of what was there before is not the commit's."""
    attempted = source_commit_of(nearest, nearest.attempted)
    if not contains(commit, attempted):
        return None
    return next((row for row in rows if row.health in BROKEN and row.is_confirmed and row.gone_at is None), None)


def _before_applied(nearest: FluxObject, commit: str, fetched: str, applied: str, contains: Contains) -> Progress:
    if nearest.control == Control.SUSPENDED:
        return Progress(State.SUSPENDED, applied, f"{nearest} is suspended")
    if contains(commit, fetched):
        return Progress(State.FETCHED, applied, nearest.explain_cause)
    return Progress(State.WAITING, applied)
