"""An OCI registry on the loopback address, and pushing to it what Flux pulls: manifests and Helm charts."""

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import requests

from tests.testbed.build import program
from tests.testbed.processes import (
    Process,
    accepts_connections,
    ended_on_failure,
    free_port,
    start,
    temporary_folder,
    wait_until,
)

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_FLUX = ("application/vnd.cncf.flux.config.v1+json", "application/vnd.cncf.flux.content.v1.tar+gzip")
_HELM = ("application/vnd.cncf.helm.config.v1+json", "application/vnd.cncf.helm.chart.content.v1.tar+gzip")
_IMAGE = ("application/vnd.oci.image.config.v1+json", "application/vnd.oci.image.layer.v1.tar+gzip")


class Registry:
    """A registry that keeps everything in memory; it speaks plain HTTP (`insecure: true` in Flux)."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or temporary_folder("registry")
        self.port = 0
        self._process: Process | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_ended: object) -> None:
        self.stop()

    @property
    def address(self) -> str:
        """`host:port`, the beginning of an image's name."""
        return f"127.0.0.1:{self.port}"

    def start(self) -> Self:
        self.port = self.port or free_port()
        command = [str(program("crane")), "registry", "serve", "--address", self.address]
        self._process = start("registry", command, folder=self.folder)
        with ended_on_failure(self):
            wait_until(lambda: accepts_connections(self.port), "the registry", self._process)
        return self

    def stop(self) -> None:
        if self._process:
            self._process.stop()

    def push_manifests(self, repository: str, tag: str, files: Mapping[str, str]) -> str:
        """Push files as an artifact of `flux push artifact`; returns the digest, as all pushes do."""
        return self._push(repository, tag, archive(files), _FLUX, {})

    def push_chart(self, repository: str, files: Mapping[str, str], *, name: str, version: str) -> str:
        """Push a Helm chart (`Chart.yaml`, `templates/…`) as `helm push` does; `repository` ends with its name."""
        chart = archive({f"{name}/{path}": text for path, text in files.items()})
        return self._push(repository, version, chart, _HELM, {"name": name, "version": version, "apiVersion": "v2"})

    def push_image(self, repository: str, tag: str) -> str:
        """Push an image with an empty layer: enough for what lists tags and reads digests."""
        config = {"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": []}}
        return self._push(repository, tag, archive({"tag": tag}), _IMAGE, config)

    def _push(
        self, repository: str, tag: str, layer: bytes, media_types: tuple[str, str], config: Mapping[str, object]
    ) -> str:
        config_type, layer_type = media_types
        manifest = {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": self._upload(repository, json.dumps(config).encode(), config_type),
            "layers": [self._upload(repository, layer, layer_type)],
        }
        body = json.dumps(manifest).encode()
        answer = requests.put(
            f"http://{self.address}/v2/{repository}/manifests/{tag}",
            data=body,
            headers={"Content-Type": _MANIFEST},
            timeout=30,
        )
        answer.raise_for_status()
        return _digest(body)

    def _upload(self, repository: str, blob: bytes, media_type: str) -> dict[str, str | int]:
        digest = _digest(blob)
        answer = requests.post(
            f"http://{self.address}/v2/{repository}/blobs/uploads/", params={"digest": digest}, data=blob, timeout=30
        )
        answer.raise_for_status()
        return {"mediaType": media_type, "digest": digest, "size": len(blob)}


def archive(files: Mapping[str, str]) -> bytes:
    """A gzipped tar of texts, equal for equal input but for gzip's time stamp."""
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w:gz") as tar:
        for path, text in files.items():
            content = text.encode()
            member = tarfile.TarInfo(path)
            member.size = len(content)
            member.mode = 0o644
            tar.addfile(member, io.BytesIO(content))
    return output.getvalue()


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
