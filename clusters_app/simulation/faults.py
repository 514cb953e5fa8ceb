"""What can be wrong with a simulated cluster, each from a given time on."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Suspended:
    """Somebody suspended this Kustomization (`Kustomization/namespace/name`) with this tool."""

    kustomization: str
    since: datetime
    manager: str = "flux"


@dataclass(frozen=True, slots=True)
class Untrusted:
    """The host of this HelmRepository (`HelmRepository/namespace/name`) shows a certificate of nobody we know."""

    repository: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Silent:
    """The API server accepts no connection's request any more: as behind a broken tunnel."""

    since: datetime


type Fault = Suspended | Untrusted | Silent
