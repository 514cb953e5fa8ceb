"""`make lab`: the product beside three real clusters with Flux, a real forge and a registry, for a person to play with.

    python -m tests.testbed.lab [--port 8000]

Everything is set up as a person would set it up, over the product's API; ctrl-C ends all of it and leaves nothing.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from signal import SIGTERM, pause, signal

from tests.path.installation import Installation
from tests.path.world import push_chart
from tests.testbed import flux
from tests.testbed.gitea import Gitea, User
from tests.testbed.kubernetes import Cluster
from tests.testbed.processes import temporary_folder
from tests.testbed.registry import Registry

CONTROLLERS = ("source-controller", "kustomize-controller", "helm-controller")
CLUSTERS = {"dev": "dev", "staging": "staging", "prod": "prod"}
APPS_READY_SECONDS = 180


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8000, help="where the pages are served (default: 8000)")
    port: int = parser.parse_args().port
    signal(SIGTERM, lambda *_: sys.exit(143))
    try:
        with ExitStack() as opened:
            lab = Lab(temporary_folder("lab"), port)
            for step in lab.steps(opened):
                say(f"{step} …")
            say(lab.greeting())
            pause()
    except KeyboardInterrupt:
        say("Stopped.")
    return 0


class Lab:
    """What is started, in `folder`."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.gitea = Gitea(folder / "gitea")
        self.registry = Registry(folder / "registry")
        self.clusters = {name: Cluster(name, pods=True, flux=CONTROLLERS, folder=folder / name) for name in CLUSTERS}
        self.product = Installation(folder / "product")
        self.product.port, self.product.url = port, f"http://127.0.0.1:{port}"

    def steps(self, opened: ExitStack) -> Iterator[str]:
        """Each step's name, before it is done."""
        yield "Starting Gitea and a registry"
        opened.enter_context(self.gitea)
        opened.enter_context(self.registry)
        for version in ("0.1.0", "0.2.0"):
            push_chart(self.registry, version)
        for name, cluster in self.clusters.items():
            yield f"Starting the cluster {name} with Flux"
            opened.enter_context(cluster)
        yield "Starting Flotilla"
        opened.enter_context(self.product)
        self.product.sign_in()
        yield "Adding the repository and scaffolding it"
        person, token = self._repository()
        yield "Registering the clusters and bootstrapping Flux"
        self._register()
        for name in CLUSTERS:
            self._bootstrap(name, person, token)
        yield "Waiting for the apps"
        for cluster in self.clusters.values():
            cluster.wait_for("Kustomization", "flux-system", "apps", "Ready", timeout_seconds=APPS_READY_SECONDS)

    def _repository(self) -> tuple[User, str]:
        product, gitea = self.product, self.gitea
        person = gitea.create_user("maria")
        token = gitea.token(person, scopes=("write:repository", "write:issue", "read:user"))
        url = gitea.create_repository(person, "fleet")
        for name in CLUSTERS:
            product.post("environments", {"name": name})
        added = {"name": "fleet", "url": url, "username": person.name, "ca_pem": gitea.ca_pem, "token": token}
        product.done(product.post("repositories", added))
        result = product.done(product.post("repositories/fleet/scaffold", {"answers": self._answers()}))
        gitea.merge("maria/fleet", result["pull_request"])
        self.url, self.paths = url, result["paths"]
        return person, token

    def _answers(self) -> dict[str, object]:
        pace = {"interval": "1m", "retry_interval": "15s", "timeout": "1m", "source_interval": "5s"}
        chart = {"source": "OCIRepository", "url": f"oci://{self.registry.address}/charts/podlet", "insecure": True}
        return {
            "environments": [{"name": name, **pace} for name in CLUSTERS],
            "clusters": [{"name": name, "environment": name} for name in CLUSTERS],
            "apps": [
                {"name": "web", "version": "1.0.0", "image": {"name": "registry.example/web"}},
                {"name": "podlet", "version": "0.1.0", "chart": chart},
            ],
        }

    def _register(self) -> None:
        product = self.product
        manifest = product.session.get(f"{product.url}/api/v1/clusters/read-role.yaml", timeout=20).text
        for name, cluster in self.clusters.items():
            cluster.apply(manifest)
            asked = {
                "name": name,
                "environment": CLUSTERS[name],
                "repository": "fleet",
                "sync_path": self.paths[name],
                "server": cluster.server,
                "ca_pem": cluster.ca_pem,
                "token": cluster.token_for("flotilla-reader", "flotilla-system"),
            }
            product.done(product.post("clusters", asked))

    def _bootstrap(self, name: str, person: User, token: str) -> None:
        flux.bootstrap(
            self.clusters[name],
            url=self.url,
            branch="main",
            path=self.paths[name],
            username=person.name,
            token=token,
            ca_pem=self.gitea.ca_pem,
        )

    def greeting(self) -> str:
        admin = self.gitea.admin
        kubeconfigs = "\n".join(f"  KUBECONFIG={cluster.kubeconfig}" for cluster in self.clusters.values())
        return (
            f"\nFlotilla   {self.product.url}/\n  sign in, once, by {self._sign_in_link()}\n"
            f"Gitea      {self.gitea.url}/maria/fleet  (its certificate is its own; {admin.name} / {admin.password})\n"
            f"Clusters\n{kubeconfigs}\n\n"
            "To see something move: change a version in clusters/dev/apps/*/version.yaml on Gitea and promote it.\n"
            "A tag that contains `broken` never becomes ready; the chart podlet has a version 0.2.0.\n"
            "ctrl-C ends everything."
        )

    def _sign_in_link(self) -> str:
        data = {"FLOTILLA_DATA_DIR": str(self.folder / "product" / "data"), "FLOTILLA_PUBLIC_URL": self.product.url}
        words = [sys.executable, "-m", "clusters_app.cli", "signin-link", "admin"]
        return subprocess.run(words, env=os.environ | data, check=True, capture_output=True, text=True).stdout.strip()


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
