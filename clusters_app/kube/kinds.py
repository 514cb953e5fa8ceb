"""The kinds that are read on every cluster. More come from a cluster's own catalogue."""

from collections.abc import Iterable, Mapping

from clusters_app.flux.resources import KINDS, KindSpec

#: What the standard read role names; groups of other products are added for a cluster whose catalogue names them.
STANDARD_GROUPS = (
    "kustomize.toolkit.fluxcd.io",
    "helm.toolkit.fluxcd.io",
    "source.toolkit.fluxcd.io",
    "image.toolkit.fluxcd.io",
    "notification.toolkit.fluxcd.io",
    "source.extensions.fluxcd.io",
    "fluxcd.controlplane.io",
    "infra.contrib.fluxcd.io",
    "flagger.app",
)

STANDARD_KINDS: Mapping[str, KindSpec] = {kind: spec for kind, spec in KINDS.items() if spec.group in STANDARD_GROUPS}


def with_extra(names: Iterable[str]) -> Mapping[str, KindSpec]:
    """The standard kinds and those named by a cluster's catalogue. Raises `KeyError` for a kind without a rule."""
    return {**STANDARD_KINDS, **{name: KINDS[name] for name in names}}
