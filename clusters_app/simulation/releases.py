"""Helm releases of a simulated cluster: from a chart that is wanted to one that runs."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from clusters_app.repo.documents import mapping, text
from clusters_app.simulation.desired import DesiredKustomization, DesiredObject

PULLING = timedelta(seconds=1)
UPGRADING = timedelta(seconds=2)
#: The version of a chart that has none in Git: one that lies in the repository itself.
OWN_CHART_VERSION = "0.1.0"
_KEPT = 5


def chart_version(release: DesiredObject, owner: DesiredKustomization) -> str:
    """The version that Git wants: the release's own, or the tag of the OCIRepository that it refers to."""
    own = text(release.value, "spec", "chart", "spec", "version")
    source = text(release.value, "spec", "chartRef", "name")
    tags = [
        text(each.value, "spec", "ref", "tag")
        for each in owner.objects
        if source and each.kind == "OCIRepository" and each.name == source
    ]
    return own or next(iter(tags), "") or OWN_CHART_VERSION


def chart_name(release: DesiredObject) -> str:
    chart = text(release.value, "spec", "chart", "spec", "chart") or text(release.value, "spec", "chartRef", "name")
    return chart.rpartition("/")[2] or release.name


def repository_of(release: DesiredObject) -> str:
    """`HelmRepository/namespace/name`, or the OCIRepository of a `chartRef`."""
    reference = mapping(release.value, "spec", "chart", "spec", "sourceRef") or mapping(
        release.value, "spec", "chartRef"
    )
    kind, namespace = text(reference, "kind"), text(reference, "namespace") or release.namespace
    return f"{kind}/{namespace}/{text(reference, 'name')}"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One entry of `status.history`."""

    number: int
    version: str
    at: datetime


@dataclass(slots=True)
class Release:
    """What helm-controller knows of one HelmRelease, and source-controller of its chart."""

    ref: str
    owner: str
    repository: str
    born_at: datetime
    desired: DesiredObject | None = None
    wanted: str = ""
    pulled: str = ""
    is_broken: bool = False
    is_untrusted: bool = False
    failure: str = ""
    generation: int = 0
    observed: int = -1
    #: How often the tag of its own OCIRepository changed, which is that object's generation.
    generation_of_source: int = 0
    wanted_at: datetime | None = None
    changed_at: datetime | None = None
    snapshots: tuple[Snapshot, ...] = field(default=())

    @property
    def deployed(self) -> str:
        return self.snapshots[0].version if self.snapshots else ""

    @property
    def is_upgrading(self) -> bool:
        return self.wanted_at is not None and self.pulled == self.wanted

    @property
    def is_moving(self) -> bool:
        return self.wanted_at is not None and not self.is_untrusted

    @property
    def is_ready(self) -> bool:
        return self.wanted_at is None and not self.failure and bool(self.snapshots)

    def want(self, desired: DesiredObject, version: str, now: datetime, *, is_broken: bool) -> None:
        """Its Kustomization applied it."""
        if self.desired is None or self.desired.value != desired.value:
            self.generation += 1
        is_new = version != self.wanted
        self.desired, self.is_broken = desired, is_broken
        if is_new:
            self.wanted, self.failure = version, ""
            self.generation_of_source += 1
            self.wanted_at = self.changed_at = now
        elif self.wanted_at is None and not self.failure:
            self.observed = self.generation

    def advance(self, now: datetime, *, is_untrusted: bool) -> bool:
        """Whether a step was taken."""
        if is_untrusted != self.is_untrusted:
            self.is_untrusted, self.changed_at = is_untrusted, now
            return True
        if self.wanted_at is None or is_untrusted:
            return False
        if self.pulled != self.wanted:
            return self._pull(now)
        if now - self.wanted_at < PULLING + UPGRADING:
            return False
        self._settle(now)
        return True

    def _pull(self, now: datetime) -> bool:
        if self.wanted_at is None or now - self.wanted_at < PULLING:
            return False
        self.pulled, self.changed_at = self.wanted, now
        return True

    def _settle(self, now: datetime) -> None:
        self.wanted_at, self.changed_at = None, now
        self.observed = self.generation
        number = self.snapshots[0].number + 1 if self.snapshots else 1
        if self.is_broken:
            self.failure = "context deadline exceeded"
            return
        self.snapshots = (Snapshot(number, self.wanted, now), *self.snapshots)[:_KEPT]
