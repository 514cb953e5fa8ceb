"""A small scaffolded fleet and the means to push to it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha1

import pytest

from clusters_app.ingest import JsonValue
from clusters_app.repo.model import model_from
from clusters_app.repo.scaffold import scaffold
from clusters_app.repo.tree import MemoryTree
from clusters_app.simulation.cluster import SimulatedCluster
from clusters_app.simulation.faults import Fault
from clusters_app.simulation.fleet import Pushed, create_fleet, follow

BORN = datetime(2026, 11, 2, 8, tzinfo=UTC)
NOON = datetime(2026, 11, 5, 12, tzinfo=UTC)

ANSWERS: dict[str, JsonValue] = {
    "repository": {"url": "file:///srv/fleet.git", "branch": "main", "forge": "local"},
    "environments": [{"name": "dev"}, {"name": "prod"}],
    "clusters": [
        {"name": "dev", "environment": "dev"},
        {"name": "prod-a", "environment": "prod"},
        {"name": "prod-b", "environment": "prod"},
    ],
    "apps": [
        {"name": "web", "version": "1.0.0", "image": {"name": "registry.example/web"}},
        {
            "name": "shop",
            "version": "0.3.0",
            "chart": {"source": "OCIRepository", "url": "oci://registry.example/shop"},
        },
        {
            "name": "board",
            "version": "8.1.0",
            "chart": {"source": "HelmRepository", "name": "board", "url": "https://charts.example/tools"},
        },
    ],
}


@dataclass
class Fleet:
    """The repository's files, and the clusters that follow them since BORN."""

    files: dict[str, bytes]
    clusters: dict[str, SimulatedCluster]
    commits: list[str] = field(default_factory=list)

    @property
    def head(self) -> str:
        return self.commits[-1]

    def push(self, at: datetime, changes: dict[str, bytes | None] | None = None) -> str:
        """Somebody pushes these files (None removes one) to the branch."""
        for path, data in (changes or {}).items():
            if data is None:
                del self.files[path]
            else:
                self.files[path] = data
        commit = sha1(f"{len(self.commits)}".encode(), usedforsecurity=False).hexdigest()
        self.commits.append(commit)
        follow(self.clusters, Pushed(commit, at), MemoryTree(dict(self.files)))
        return commit

    def replace(self, at: datetime, path: str, old: str, new: str) -> str:
        text = self.files[path].decode()
        assert old in text
        return self.push(at, {path: text.replace(old, new).encode()})

    def advance(self, now: datetime) -> None:
        for cluster in self.clusters.values():
            cluster.advance(now)


def make_fleet(faults: dict[str, tuple[Fault, ...]] | None = None) -> Fleet:
    files = scaffold(model_from(ANSWERS))
    made = Fleet(files, create_fleet(("dev", "prod-a", "prod-b"), born_at=BORN, faults=faults or {}))
    made.push(BORN)
    return made


@pytest.fixture
def fleet() -> Fleet:
    """Settled on its first commit."""
    made = make_fleet()
    made.advance(NOON - timedelta(seconds=1))
    return made
