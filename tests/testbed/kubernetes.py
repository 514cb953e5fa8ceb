"""A real Kubernetes cluster of processes: etcd and the API server, on demand workloads (kwok's nodes) and Flux."""

import base64
import json
import secrets
import signal
import subprocess
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from ssl import SSLContext, create_default_context
from typing import Any, Self

import yaml

from tests.testbed import control_plane, flux
from tests.testbed.certificates import write_server_certificate, write_signing_key
from tests.testbed.processes import (
    Process,
    ServerError,
    accepts_connections,
    ended_on_failure,
    free_port,
    start,
    temporary_folder,
    venv_program,
    wait_until,
)


class KubectlError(Exception):
    """kubectl refused; the message is its own."""


class Cluster:
    """One cluster at https://127.0.0.1:PORT with a certificate authority of its own.

    `pods` adds what makes workloads Ready (scheduler, controllers, a node); `flux` names the Flux controllers to run;
    `crds` names those whose CRDs are installed although they do not run (then write objects and `patch_status`).
    """

    def __init__(
        self,
        name: str = "cluster",
        *,
        pods: bool = False,
        flux: Sequence[str] = (),
        crds: Sequence[str] = (),
        folder: Path | None = None,
    ) -> None:
        self.name = name
        self.folder = folder or temporary_folder(name)
        self.admin_token = secrets.token_urlsafe(24)
        self.ca_pem = ""
        self.processes: dict[str, Process] = {}
        self._workloads = list(control_plane.CONTROL_PLANE) if pods else []
        self._flux = list(flux)
        self._crds = list(dict.fromkeys([*flux, *crds]))

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_ended: object) -> None:
        self.stop()

    @property
    def server(self) -> str:
        return self._layout.server

    @property
    def ca_data(self) -> str:
        """The authority as a kubeconfig's `certificate-authority-data`."""
        return base64.b64encode(self.ca_pem.encode()).decode()

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig: for the testbed's own hands, never for the product."""
        return self._layout.kubeconfig

    def start(self) -> Self:
        """Start everything; returns when the API server is ready, CRDs are established and controllers are started."""
        self._write_credentials()
        with ended_on_failure(self):
            self._start_api()
            if self._crds:
                self._install_flux_crds()
            for name in (*self._workloads, *self._flux):
                self.start_controller(name)
            if self._workloads:
                self.apply(json.dumps(control_plane.NODE))
                self.patch_status("node", "", "node-1", control_plane.NODE["status"])
                if self._flux:
                    self.apply(flux.distribution(self._flux))
        return self

    def stop(self) -> None:
        """End every process, dependents first. The state stays in the folder."""
        while self.processes:
            _, process = self.processes.popitem()
            process.stop(signal.SIGKILL)

    def stop_api_server(self) -> None:
        """From now on connections to the API server are refused."""
        self.processes["kube-apiserver"].stop(signal.SIGKILL)

    def restart_api_server(self) -> None:
        """Start the API server again at the same address with the same state.

        Controllers that gave up meanwhile (Flux does when it cannot renew its Lease for 30 s) are started again, as a
        kubelet would.
        """
        self._start_api_server()
        for name in (*self._workloads, *self._flux):
            if not self.processes[name].is_running():
                self.start_controller(name)

    def end_controller(self, name: str, number: int = signal.SIGTERM) -> None:
        """End one controller: SIGTERM lets Flux release its Lease (up to 15 s), SIGKILL leaves the Lease to expire."""
        self.processes[name].stop(number, grace_seconds=20)

    def start_controller(self, name: str) -> None:
        """Start one controller (again). It may be a Flux controller that the cluster was not started with."""
        if name in control_plane.CONTROL_PLANE:
            arguments = control_plane.CONTROL_PLANE[name](self._layout)
            self.processes[name] = start(name, arguments, folder=self.folder)
            return
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        arguments = flux.controller(
            name, folder, self._flux_ports, sends_events="notification-controller" in self._flux
        )
        self.processes[name] = start(
            name,
            arguments,
            folder=folder,
            environment=flux.environment(self.kubeconfig, folder),
            pod_namespace=flux.NAMESPACE,
        )

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """Run kubectl as the administrator and return what it printed; raises KubectlError."""
        command = [str(venv_program("kubectl")), "--kubeconfig", str(self.kubeconfig), *arguments]
        cache = {"KUBECACHEDIR": str(self.folder / "kubectl-cache"), "HOME": str(self.folder)}
        done = subprocess.run(command, input=stdin, env=cache, capture_output=True, text=True, check=False)
        if done.returncode:
            raise KubectlError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def apply(self, manifest: str | Path) -> None:
        """Apply YAML text, a file or a folder by server-side apply, taking over fields of others."""
        source, text = (str(manifest), None) if isinstance(manifest, Path) else ("-", manifest)
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", source, stdin=text)

    def get(self, kind: str, namespace: str = "", name: str = "") -> dict[str, Any]:
        """One object, or with an empty name the list (of all namespaces when `namespace` is empty)."""
        scope = ["--namespace", namespace] if namespace else [] if name else ["--all-namespaces"]
        answer: dict[str, Any] = json.loads(self.kubectl("get", kind, *filter(None, [name]), *scope, "-o", "json"))
        return answer

    def patch_status(self, kind: str, namespace: str, name: str, status: Mapping[str, Any]) -> None:
        """Merge into an object's status through the status subresource, as its controller does."""
        scope = ["--namespace", namespace] if namespace else []
        patch = json.dumps({"status": status})
        self.kubectl("patch", kind, name, *scope, "--subresource=status", "--type=merge", "--patch", patch)

    def wait_for(
        self, kind: str, namespace: str, name: str, condition: str = "Ready", *, timeout_seconds: int = 60
    ) -> None:
        """Wait by a watch until a condition holds: `Ready`, `Ready=False`, `Available`, `delete` or `jsonpath=…`."""
        wanted = condition if condition == "delete" or "jsonpath" in condition else f"condition={condition}"
        time_limit = f"--timeout={timeout_seconds}s"
        if condition != "delete":
            self.kubectl("wait", kind, name, "--namespace", namespace, "--for=create", time_limit)
        self.kubectl("wait", kind, name, "--namespace", namespace, f"--for={wanted}", time_limit)

    def token_for(self, service_account: str, namespace: str = "flux-system", *, duration: str = "24h") -> str:
        """A new token of a service account that exists."""
        return self.kubectl("create", "token", service_account, "-n", namespace, f"--duration={duration}").strip()

    def kubeconfig_for(self, service_account: str, namespace: str, role_manifest: str | Path = "") -> str:
        """Apply a role's manifest, which may create the account too; return a kubeconfig with the account's token."""
        if role_manifest:
            self.apply(role_manifest)
        return self._kubeconfig_text(service_account, self.token_for(service_account, namespace))

    def _write_credentials(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.ca_pem = write_server_certificate(self.folder, "kubernetes", "kubernetes.default.svc")
        write_signing_key(self.folder / "service-accounts.key")
        self._tls: SSLContext = create_default_context(cadata=self.ca_pem)
        self._flux_ports = flux.Ports()
        tokens = self.folder / "tokens.csv"
        tokens.touch(mode=0o600)
        tokens.write_text(f'{self.admin_token},admin,admin,"system:masters"\n')

    def _start_api(self, attempts: int = 3) -> None:
        """Start etcd and the API server; on other ports when somebody took one between choice and use."""
        try:
            self._start_api_once()
        except ServerError:
            self.stop()
            if attempts == 1:
                raise
            self._start_api(attempts - 1)

    def _start_api_once(self) -> None:
        self._layout = control_plane.Layout(self.folder, free_port(), free_port(), free_port())
        self.kubeconfig.touch(mode=0o600)
        self.kubeconfig.write_text(self._kubeconfig_text("admin", self.admin_token))
        etcd = self.processes["etcd"] = start("etcd", control_plane.etcd(self._layout), folder=self.folder)
        wait_until(lambda: accepts_connections(self._layout.etcd_port), "etcd", etcd)
        self._start_api_server()

    def _start_api_server(self) -> None:
        arguments = control_plane.api_server(self._layout)
        api_server = self.processes["kube-apiserver"] = start("kube-apiserver", arguments, folder=self.folder)
        wait_until(self.is_ready, "the API server", api_server, timeout_seconds=60)

    def is_ready(self) -> bool:
        """Whether the API server says that it is ready."""
        request = urllib.request.Request(
            f"{self.server}/readyz", headers={"Authorization": f"Bearer {self.admin_token}"}
        )
        with (
            suppress(OSError),
            urllib.request.urlopen(request, timeout=2, context=self._tls) as answer,
        ):
            return bool(answer.status == 200)
        return False

    def _install_flux_crds(self) -> None:
        self.apply(yaml.safe_dump({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": flux.NAMESPACE}}))
        files = [file for controller in self._crds for file in flux.crd_files(controller)]
        self.apply("---\n".join(file.read_text() for file in files))
        self.kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=30s")

    def _kubeconfig_text(self, user: str, token: str) -> str:
        cluster = {"server": self.server, "certificate-authority-data": self.ca_data}
        return yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": self.name,
                "clusters": [{"name": self.name, "cluster": cluster}],
                "users": [{"name": user, "user": {"token": token}}],
                "contexts": [{"name": self.name, "context": {"cluster": self.name, "user": user}}],
            },
            sort_keys=False,
        )
