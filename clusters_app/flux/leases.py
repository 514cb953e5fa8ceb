"""Whether a living controller serves an object: the Leases of the Flux namespace, read by their movement.

`renewTime` is written by the cluster's clock, which may be hours off. So a Lease is dead when *we* have not seen it
move, and its own time is believed only where we have never seen it before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256

from .resources import KINDS
from .structs import Deployment, Lease, Resource
from .times import parse_time

UNMOVED = timedelta(seconds=60)
"""A held Lease is renewed every few seconds; an ordinary restart leaves a gap of 40 s."""
RESTART_GAP = timedelta(seconds=40)
"""How long a Lease that was given up in good order may wait for its next holder."""

SHARD_KEY = "sharding.fluxcd.io/key"
_NAME = re.compile(r"(?P<controller>[a-z][a-z0-9-]*?)-leader-election(?:-(?P<selector>[0-9a-f]{8}))?")
_SELECTOR_FLAG = "--watch-label-selector="
_TERM = re.compile(
    r"(?P<absent>!)?\s*(?P<key>[\w./-]+)\s*(?:(?P<operator>==|=|!=|\bin\b|\bnotin\b)\s*(?P<value>\([^)]*\)|[^,]*))?\s*(?:,|$)"
)


@dataclass(frozen=True, slots=True)
class LeaseSeen:
    """What is remembered of one Lease: its last `renewTime` and when, by our clock, it was first seen with it."""

    renew_time: str
    moved_at: datetime


@dataclass(frozen=True, slots=True)
class ControllerLease:
    """One Lease of one controller. `selector_hash` is empty for a controller that serves every label."""

    name: str
    controller: str
    selector_hash: str
    is_held: bool
    moved_at: datetime

    def dead_since(self, now: datetime) -> datetime | None:
        """When it fell silent, or None while it may be alive."""
        patience = UNMOVED if self.is_held else RESTART_GAP
        return self.moved_at if now - self.moved_at >= patience else None


@dataclass(frozen=True, slots=True)
class Absence:
    """No living controller serves an object: since when, and whether it is only its shard that nobody serves."""

    since: datetime
    controller: str
    is_shard: bool = False


@dataclass(frozen=True, slots=True)
class Controllers:
    """The controllers of one cluster at one moment."""

    now: datetime
    leases: tuple[ControllerLease, ...] = ()
    selectors: Mapping[str, str] = field(default_factory=dict)
    deployed: frozenset[str] = frozenset()
    has_selectors: bool = False
    known: dict[tuple[str, str], Absence | None] = field(default_factory=dict)

    def absence_for(self, resource: Resource) -> Absence | None:
        """None when a living controller serves the object, or when nothing is known about its controller."""
        spec = KINDS.get(resource.kind)
        if not spec or not spec.controller:
            return None
        labels = resource.metadata.labels or {}
        if not self.has_selectors:
            labels = {}
        key = (spec.controller, repr(sorted(labels.items())) if labels else "")
        if key not in self.known:
            self.known[key] = self._absence(spec.controller, labels)
        return self.known[key]

    def _absence(self, controller: str, labels: Mapping[str, str | None]) -> Absence | None:
        candidates = [lease for lease in self.leases if lease.controller == controller]
        if not candidates:
            return self._never_seen(controller)
        serving = [lease for lease in candidates if self._may_serve(lease, labels)]
        newest = max(serving or candidates, key=lambda lease: lease.moved_at)
        silent_since = newest.dead_since(self.now)
        if serving and not silent_since:
            return None
        others_live = any(not lease.dead_since(self.now) for lease in candidates)
        return Absence(silent_since or self.now, controller, is_shard=others_live)

    def _never_seen(self, controller: str) -> Absence | None:
        """Others hold Leases and this controller has none: it is not installed, unless its Deployment is there."""
        is_elsewhere = not controller or not self.leases or controller in self.deployed or not self.deployed
        return None if is_elsewhere else Absence(self.now, controller, is_shard=False)

    def _may_serve(self, lease: ControllerLease, labels: Mapping[str, str | None]) -> bool:
        """A selector that nobody can name may select the object, so it counts as serving it."""
        if not lease.selector_hash:
            return True
        selector = self.selectors.get(lease.selector_hash)
        if selector is None:
            shard = labels.get(SHARD_KEY)
            selector = _guessed_selectors(shard).get(lease.selector_hash)
        return selector is None or selects(selector, labels)


def read_controllers(
    leases: Iterable[Lease],
    deployments: Iterable[Resource],
    now: datetime,
    *,
    seen: Mapping[str, LeaseSeen] | None = None,
    skew: timedelta = timedelta(0),
) -> Controllers:
    """The controllers behind these Leases. `seen` is what was remembered; `skew` is the cluster's clock minus ours."""
    read = (_read_lease(lease, now, (seen or {}).get(lease.metadata.name), skew) for lease in leases)
    items = [item for item in deployments if isinstance(item, Deployment)]
    names = frozenset(item.metadata.name for item in items)
    known = tuple(lease for lease in read if lease)
    return Controllers(now, known, _declared_selectors(items), names, any(lease.selector_hash for lease in known))


def remember_leases(
    leases: Iterable[Lease], seen: Mapping[str, LeaseSeen], now: datetime, *, skew: timedelta = timedelta(0)
) -> dict[str, LeaseSeen]:
    """What to remember for the next round; Leases that are gone are forgotten."""
    kept = {}
    for lease in leases:
        renewed = (lease.spec.renew_time if lease.spec else None) or ""
        kept[lease.metadata.name] = LeaseSeen(renewed, _moved_at(renewed, now, seen.get(lease.metadata.name), skew))
    return kept


def _read_lease(lease: Lease, now: datetime, seen: LeaseSeen | None, skew: timedelta) -> ControllerLease | None:
    match = _NAME.fullmatch(lease.metadata.name)
    if not match or not lease.spec:
        return None
    moved_at = _moved_at(lease.spec.renew_time or "", now, seen, skew)
    return ControllerLease(
        lease.metadata.name, match["controller"], match["selector"] or "", bool(lease.spec.holder_identity), moved_at
    )


def _moved_at(renewed: str, now: datetime, seen: LeaseSeen | None, skew: timedelta) -> datetime:
    if seen:
        return seen.moved_at if seen.renew_time == renewed else now
    own = parse_time(renewed)
    return min(own - skew, now) if own else now


def _declared_selectors(deployments: Iterable[Deployment]) -> dict[str, str]:
    """Selectors by the hash that controller-runtime's users put into the Lease's name: SHA-256, 8 digits."""
    arguments = (argument for item in deployments for argument in container_arguments(item))
    selectors = [argument.removeprefix(_SELECTOR_FLAG) for argument in arguments if argument.startswith(_SELECTOR_FLAG)]
    return {_hashed(selector): selector for selector in [f"!{SHARD_KEY}", *selectors]}


def _guessed_selectors(shard: str | None) -> dict[str, str]:
    """The usual spellings of "this shard", for clusters whose Deployments are not readable."""
    if not shard:
        return {}
    spellings = (f"{SHARD_KEY}={shard}", f"{SHARD_KEY}=={shard}", f"{SHARD_KEY} in ({shard})", f"{SHARD_KEY} = {shard}")
    return {_hashed(spelling): spelling for spelling in spellings}


def container_arguments(deployment: Deployment) -> Sequence[str]:
    template = deployment.spec.template if deployment.spec else None
    containers = template.spec.containers if template and template.spec else None
    return [argument for container in containers or () for argument in container.args or ()]


def _hashed(selector: str) -> str:
    return sha256(selector.encode()).hexdigest()[:8]


def selects(selector: str, labels: Mapping[str, str | None]) -> bool:
    """Kubernetes' label selector in text form; every term must hold."""
    return all(_holds(term, labels) for term in _TERM.finditer(selector) if term["key"])


def _holds(term: re.Match[str], labels: Mapping[str, str | None]) -> bool:
    key, operator = term["key"], term["operator"]
    if term["absent"]:
        return key not in labels
    if not operator:
        return key in labels
    values = {value.strip() for value in (term["value"] or "").strip("() ").split(",")}
    is_member = key in labels and labels[key] in values
    return not is_member if operator in {"!=", "notin"} else is_member
