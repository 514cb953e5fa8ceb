"""The world around the product: four real clusters, a real forge, a registry with a chart, a person."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests

from tests.testbed import flux
from tests.testbed.gitea import Gitea, User
from tests.testbed.kubernetes import Cluster
from tests.testbed.registry import Registry

from .installation import Installation

CONTROLLERS = ("source-controller", "kustomize-controller", "helm-controller")
CLUSTERS = {"dev": "dev", "staging": "staging", "prod-a": "prod", "prod-b": "prod"}
VERSION = "clusters/{}/apps/web/version.yaml"

CHART = {
    "Chart.yaml": "apiVersion: v2\nname: podlet\nversion: {version}\n",
    "templates/configmap.yaml": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n"
        "data:\n  version: {{ .Chart.Version }}\n"
    ),
}


@dataclass
class World:
    """What one story needs; filled step by step."""

    product: Installation
    gitea: Gitea
    registry: Registry
    clusters: dict[str, Cluster]
    person: User
    repository: str = ""
    token: str = ""
    paths: dict[str, str] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def clone_url(self) -> str:
        return f"{self.gitea.url}/{self.repository}.git"

    def answers(self) -> dict[str, Any]:
        """What is scaffolded: an app with an image and one with a chart, in three environments."""
        environment = {"interval": "1m", "retry_interval": "15s", "timeout": "30s", "source_interval": "5s"}
        return {
            "environments": [{"name": name, **environment} for name in ("dev", "staging", "prod")],
            "clusters": [{"name": name, "environment": where} for name, where in CLUSTERS.items()],
            "apps": [
                {"name": "web", "version": "1.0.0", "image": {"name": "registry.example/web"}},
                {
                    "name": "podlet",
                    "version": "0.1.0",
                    "chart": {
                        "source": "OCIRepository",
                        "url": f"oci://{self.registry.address}/charts/podlet",
                        "insecure": True,
                    },
                },
            ],
        }

    def head(self) -> str:
        branch = self.gitea.api("GET", f"/repos/{self.repository}/branches/main")
        return str(branch["commit"]["id"])

    def read(self, path: str) -> str:
        return self.gitea.read_file(self.repository, path)

    def difference(self, number: int) -> str:
        """A pull request's difference as the forge has it."""
        answer = requests.get(
            f"{self.gitea.url}/api/v1/repos/{self.repository}/pulls/{number}.diff",
            headers={"Authorization": f"token {self.gitea.admin_token}"},
            verify=str(self.gitea.ca_file),
            timeout=20,
        )
        answer.raise_for_status()
        return answer.text

    def commit(self, path: str, old: str, new: str, message: str) -> str:
        """Somebody changes one text in one file on main."""
        text = self.read(path)
        assert text.count(old) == 1, text
        return self.gitea.commit_files(self.repository, {path: text.replace(old, new)}, message)

    def bootstrap(self, name: str) -> None:
        """What the printed `flux bootstrap` command does."""
        flux.bootstrap(
            self.clusters[name],
            url=self.clone_url,
            branch="main",
            path=self.paths[name],
            username=self.person.name,
            token=self.token,
            ca_pem=self.gitea.ca_pem,
        )


def push_chart(registry: Registry, version: str) -> None:
    files = {path: text.replace("{version}", version) for path, text in CHART.items()}
    registry.push_chart("charts/podlet", files, name="podlet", version=version)


def keep(text: str, name: str, folder: Path) -> None:
    """Leave something that a person may want to look at after the run."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
