"""One object that is to be explained, with the facts that a sentence about it may name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from .graph import chart_source_of, sources_of
from .identity import ObjectRef
from .leases import Absence
from .resources import KINDS, Unreadable
from .structs import (
    Bucket,
    GitRepository,
    HelmChart,
    HelmRelease,
    ImageRepository,
    ImageUpdateAutomation,
    Kustomization,
    Resource,
    Source,
)
from .verdicts import Verdict
from .waiting import unhealthy_names

_URL = re.compile(r"\b(?:https?|oci|ssh)://[^\s\"'>]+")
_UNPACKED = re.compile(r"(?<!\w)/tmp/[\w.\-]+/(?:source/)?")
_DIALED = re.compile(r"(?:dial tcp:? (?:lookup )?|for host )(?P<host>[\w.\-\[\]:]+)")
_FLUX_NAMES = {
    "Kustomization": "kustomization",
    "HelmRelease": "helmrelease",
    "GitRepository": "source git",
    "OCIRepository": "source oci",
    "HelmRepository": "source helm",
    "HelmChart": "source chart",
    "Bucket": "source bucket",
    "ImageRepository": "image repository",
    "ImagePolicy": "image policy",
    "ImageUpdateAutomation": "image update",
    "Receiver": "receiver",
}
_WITH_SOURCE = frozenset({"Kustomization", "HelmRelease"})


@dataclass(frozen=True, slots=True)
class Case:
    """A verdict that has no explanation yet, and what stands around its object."""

    resource: Resource
    verdict: Verdict
    objects: Mapping[ObjectRef, Resource | Unreadable]
    absence: Absence | None
    now: datetime

    @property
    def ref(self) -> ObjectRef:
        return self.verdict.ref

    @property
    def kind(self) -> str:
        return self.ref.kind

    @property
    def controller(self) -> str:
        spec = KINDS.get(self.kind)
        return (spec.controller if spec else "") or "the controller"

    def facts(self, text: str) -> dict[str, str]:
        """Names for a sentence; `text` is the message that it is about."""
        url = self._url(text)
        return {
            "me": f"{self.kind} {name_of(self.ref)}",
            "kind": self.kind,
            "name": self.ref.name,
            "ns": self.ref.namespace,
            "url": url,
            "host": self._host(text, url),
            "secret": self._secret(),
            "ca_field": self._ca_field(),
            "controller": self.controller,
            "source": self._source(),
            "account": self._account(),
            "path": self._path(),
            "reconcile": reconcile_command(self.ref),
            "describe": f"kubectl -n {self.ref.namespace} describe {_full_name(self.ref)}".replace(" -n  ", " "),
            "cause_ref": str(self.verdict.caused_by or ""),
            "blocked_by": str(self.verdict.blocked_by or ""),
            "first_line": first_line(text),
            "first_unhealthy": _kubectl_name(text),
        }

    def _url(self, text: str) -> str:
        spec = getattr(self.resource, "spec", None)
        match spec:
            case _ if isinstance(self.resource, Bucket) and self.resource.spec:
                own = self.resource.spec.endpoint
            case _ if isinstance(self.resource, ImageRepository) and self.resource.spec:
                own = self.resource.spec.image
            case _ if isinstance(self.resource, Source) and self.resource.spec:
                own = self.resource.spec.url
            case _:
                own = None
        found = _URL.search(text)
        return without_userinfo(own or (found[0].rstrip(".,:;") if found else ""))

    def _host(self, text: str, url: str) -> str:
        """The host that was spoken to: as the message names it, else the one of the URL."""
        for candidate in (_URL.search(text), None):
            if candidate and (host := host_of(candidate[0])):
                return host
        dialed = _DIALED.search(text)
        return host_of(url) or (dialed["host"] if dialed else "") or "the server"

    def _secret(self) -> str:
        spec = getattr(self.resource, "spec", None)
        reference = getattr(spec, "secret_ref", None)
        return reference.name if reference and reference.name else f"{self.ref.name}-auth"

    def _ca_field(self) -> str:
        """Where a CA goes: a GitRepository has `ca.crt` beside its credentials, everything else `certSecretRef`."""
        return "spec.secretRef" if isinstance(self.resource, GitRepository) else "spec.certSecretRef"

    def _source(self) -> str:
        if isinstance(self.resource, HelmRelease):
            source = chart_source_of(self.resource)
        else:
            source = next(iter(sources_of(self.resource)), None)
        return str(source or "its source")

    def _account(self) -> str:
        spec = getattr(self.resource, "spec", None)
        account = getattr(spec, "service_account_name", None) or self.controller
        return f"{self.ref.namespace}/{account}"

    def _path(self) -> str:
        match self.resource:
            case Kustomization(spec=spec) if spec:
                return spec.path or "./"
            case HelmChart(spec=spec) if spec:
                return spec.chart or ""
            case ImageUpdateAutomation(spec=spec) if spec and spec.update:
                return spec.update.path or "./"
        return ""


def _kubectl_name(text: str) -> str:
    """The first object that a health check names, as kubectl wants it."""
    found = next(iter(unhealthy_names(text)), None)
    if not found:
        return "<object>"
    kind, *namespace, name = found[0].split("/")
    return f"{kind.lower()}/{name}" + (f" -n {namespace[0]}" if namespace else "")


def name_of(ref: ObjectRef) -> str:
    return "/".join(part for part in (ref.namespace, ref.name) if part)


def first_line(text: str) -> str:
    """The first line that says something, with paths as they stand in the repository."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return _UNPACKED.sub("", line)[:300]


def without_userinfo(url: str) -> str:
    return re.sub(r"(?<=://)[^/@\s]+@", "", url)


def host_of(url: str) -> str:
    """Host and port of a URL or of an image name; empty when there is none."""
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
    except ValueError:
        return ""
    return parts.netloc.rpartition("@")[2]


def reconcile_command(ref: ObjectRef) -> str:
    """The flux command that tries again, with its source where there is one."""
    if ref.kind not in _FLUX_NAMES:
        return (
            f"kubectl -n {ref.namespace} describe {_full_name(ref)}"
            if ref.namespace
            else f"kubectl describe {_full_name(ref)}"
        )
    with_source = " --with-source" if ref.kind in _WITH_SOURCE else ""
    return f"flux reconcile {_FLUX_NAMES[ref.kind]} {ref.name} -n {ref.namespace}{with_source}"


def resume_command(ref: ObjectRef) -> str:
    return f"flux resume {_FLUX_NAMES.get(ref.kind, ref.kind.lower())} {ref.name} -n {ref.namespace}"


def _full_name(ref: ObjectRef) -> str:
    spec = KINDS.get(ref.kind)
    return f"{spec.plural}.{spec.group}/{ref.name}" if spec and spec.group else f"{ref.kind.lower()}/{ref.name}"
