"""Apps as a matrix: rows apps, columns environments in order, gaps between neighbours. A fixed number of queries."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from clusters_app.flux.freshness import Freshness
from clusters_app.models import App, AppOnCluster, AppStage, Environment, Promotion

from .visible import (
    Person,
    app_stages_visible_to,
    apps_visible_to,
    environments_visible_to,
    freshness_of,
    promotions_visible_to,
)

State = AppOnCluster.State

#: "differs" may be promoted; "moving" has a promotion that is open or rolling out; "absent" is in one of them alone.
GAP_KINDS = ("same", "differs", "moving", "failed", "absent")


@dataclass(frozen=True, slots=True)
class Pip:
    """One cluster in a cell; `state` is an AppOnCluster state, "unknown" when the cluster was not seen lately."""

    cluster: str
    state: str
    text: str


@dataclass(frozen=True, slots=True)
class Cell:
    """An app in one environment: the version in Git and where it is live."""

    stage: AppStage
    pips: tuple[Pip, ...]
    since: datetime | None

    @property
    def live(self) -> int:
        return sum(pip.state == State.LIVE for pip in self.pips)

    @property
    def is_live(self) -> bool:
        return bool(self.pips) and self.live == len(self.pips)

    @property
    def failing(self) -> tuple[Pip, ...]:
        return tuple(pip for pip in self.pips if pip.state == State.FAILING)


@dataclass(frozen=True, slots=True)
class Gap:
    """What lies between two neighbouring environments of an app: one of GAP_KINDS."""

    source: Environment
    target: Environment
    kind: str
    promotion: Promotion | None = None


@dataclass(frozen=True, slots=True)
class AppRow:
    app: App
    cells: tuple[Cell | None, ...]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class AppMatrix:
    """`gaps`: how many apps have a gap of each kind, also those that a filter hides."""

    environments: tuple[Environment, ...]
    rows: tuple[AppRow, ...]
    gaps: Mapping[str, int]


def app_matrix(user: Person, now: datetime, *, text: str = "", only: str = "", app: App | None = None) -> AppMatrix:
    """The apps this person sees. `only` keeps rows with a gap of that kind; `app` narrows to one."""
    environments = list(environments_visible_to(user))
    apps = apps_visible_to(user).filter(name__icontains=text)
    if app is not None:
        apps = apps.filter(pk=app.pk)
    stages = app_stages_visible_to(user).filter(app__in=apps).prefetch_related("on_clusters__cluster__status")
    cells: dict[tuple[int, int], Cell] = {(stage.app_id, stage.environment_id): _cell(stage, now) for stage in stages}
    moving = _moving(user)
    rows = [_row(each, environments, cells, moving) for each in apps]
    kept = [row for row in rows if not only or any(gap.kind == only for gap in row.gaps)]
    kinds = Counter(kind for row in rows for kind in {gap.kind for gap in row.gaps})
    gaps = {kind: kinds[kind] for kind in GAP_KINDS}
    return AppMatrix(tuple(environments), tuple(kept), gaps)


def _cell(stage: AppStage, now: datetime) -> Cell:
    placed = sorted(stage.on_clusters.all(), key=lambda each: each.cluster.name)
    pips = tuple(_pip(each, stage, now) for each in placed)
    return Cell(stage, pips, max((each.since for each in placed if each.since), default=stage.changed_at))


def _pip(placed: AppOnCluster, stage: AppStage, now: datetime) -> Pip:
    """Stored state is about a commit and a round; when either is too old, it proves nothing now."""
    if freshness_of(placed.cluster.status, now) is not Freshness.LIVE:
        return Pip(placed.cluster.name, State.UNKNOWN, placed.text)
    state = placed.state if placed.commit == stage.commit else State.WAITING
    return Pip(placed.cluster.name, state, placed.text)


def _moving(user: Person) -> dict[tuple[int, int], Promotion]:
    """The newest promotion of each app and target that is still on its way, or failed."""
    moving = promotions_visible_to(user).filter(state__in=Promotion.MOVING_STATES).prefetch_related("apps")
    found: dict[tuple[int, int], Promotion] = {}
    for promotion in moving.order_by("created_at"):
        for app in promotion.apps.all():
            found[app.pk, promotion.target_id] = promotion
    return found


def _row(
    app: App,
    environments: Sequence[Environment],
    cells: dict[tuple[int, int], Cell],
    moving: dict[tuple[int, int], Promotion],
) -> AppRow:
    mine = tuple(cells.get((app.pk, environment.pk)) for environment in environments)
    pairs = zip(environments, environments[1:], mine, mine[1:], strict=False)
    gaps = tuple(
        _gap(source, target, left, right, moving.get((app.pk, target.pk))) for source, target, left, right in pairs
    )
    return AppRow(app, mine, gaps)


def _gap(
    source: Environment, target: Environment, left: Cell | None, right: Cell | None, promotion: Promotion | None
) -> Gap:
    if promotion is not None:
        return Gap(source, target, "failed" if promotion.state == Promotion.State.FAILED else "moving", promotion)
    if left is None or right is None:
        return Gap(source, target, "absent")
    return Gap(source, target, "same" if left.stage.content_hash == right.stage.content_hash else "differs")
