"""The parts of which the simulated documents are put together."""

import hashlib
import uuid
from datetime import UTC, datetime

from clusters_app.flux.resources import KINDS

type Document = dict[str, object]


def document_of(kind: str, metadata: Document, spec: Document, status: Document) -> Document:
    group, version = KINDS[kind].group, KINDS[kind].versions[0]
    return {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": metadata, "spec": spec, "status": status}


def metadata_of(cluster: str, ref: str, owner: str | None, generation: int, born_at: datetime) -> Document:
    _, namespace, name = ref.split("/")
    metadata: Document = {
        "creationTimestamp": time_of(born_at),
        "finalizers": ["finalizers.fluxcd.io"],
        "generation": generation,
        "name": name,
        "namespace": namespace,
        "uid": uid_of(cluster, ref),
    }
    if owner:
        _, owner_namespace, owner_name = owner.split("/")
        metadata["labels"] = {
            "kustomize.toolkit.fluxcd.io/name": owner_name,
            "kustomize.toolkit.fluxcd.io/namespace": owner_namespace,
        }
    return metadata


def stored(revision: str, message: str, about: int, at: datetime, *, reason: str = "Succeeded") -> Document:
    return {
        "artifact": {"digest": digest_of(revision), "lastUpdateTime": time_of(at), "revision": revision, "size": 2963},
        "conditions": [
            condition_of("Ready", "True", reason, message, about, at),
            condition_of("ArtifactInStorage", "True", reason, message, about, at),
        ],
        "observedGeneration": about,
    }


def fetch_failed(reason: str, message: str, about: int, at: datetime) -> Document:
    return {
        "conditions": [
            condition_of("Reconciling", "True", "ProgressingWithRetry", "building artifact", about, at),
            condition_of("Ready", "False", reason, message, about, at),
            condition_of("FetchFailed", "True", reason, message, about, at),
        ],
        "observedGeneration": -1,
    }


def condition_of(kind: str, status: str, reason: str, message: str, about: int, at: datetime) -> Document:
    return {
        "lastTransitionTime": time_of(at),
        "message": message,
        "observedGeneration": about,
        "reason": reason,
        "status": status,
        "type": kind,
    }


def revision_of(commit: str) -> str:
    return f"main@sha1:{commit}"


def digest_of(text_: str) -> str:
    return f"sha256:{hashlib.sha256(text_.encode()).hexdigest()}"


def time_of(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_time_of(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def uid_of(cluster: str, ref: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"flotilla-simulation/{cluster}/{ref}"))
