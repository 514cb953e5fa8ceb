"""What Flotilla knows of Kubernetes fields without being told: versions are promoted, facts of an environment stay.

Only names and shapes are judged here; `rules` puts the repository's own rules and the file's name before them.
"""

import re
from collections.abc import Mapping

from clusters_app.repo.edit_paths import Match
from clusters_app.repo.image_reference import ImageReference
from clusters_app.repo.leaves import Leaf

_CONTAINERS = frozenset({"containers", "initContainers", "ephemeralContainers"})
_REFERENCE_FIELDS: Mapping[str, tuple[str, ...]] = {
    "OCIRepository": ("digest", "semver", "tag"),
    "GitRepository": ("name", "commit", "semver", "tag", "branch"),
}
IMAGE_FIELDS = ("digest", "newTag")
VALUES_FIELDS = ("digest", "tag")

# A word of a key (`public_url`, `minReplicas`) or a whole key that says: this belongs to the environment.
_KEPT_WORDS = frozenset(
    """
    host hosts hostname hostnames url urls uri endpoint endpoints domain domains fqdn ingress replica replicas
    count schedule cron region zone zones location cpu memory storage size capacity quota limits requests
    account arn tenant project subscription identity bucket recipients
    """.split()  # noqa: SIM905 (a list of words reads as one)
)
_KEPT_KEYS = frozenset(
    """
    resources nodeselector tolerations affinity topologyspreadconstraints priorityclassname runtimeclassname
    storageclass storageclassname volumename secretref secretrefs secretname secretkeyref certsecretref
    imagepullsecrets existingsecret pullsecret serviceaccount serviceaccountname namespace targetnamespace
    storagenamespace interval timeout retryinterval prune wait force path sourceref dependson healthchecks
    decryption kubeconfig newname repository registry loadbalancerip externalname clusterip externalips tls
    branch
    """.split()  # noqa: SIM905 (a list of words reads as one)
)
_KUSTOMIZATION_LISTS = frozenset({"resources", "images", "patches", "components"})
_VERSION_KEY = re.compile(r"(^|.)(version|tag|digest)$", re.IGNORECASE)


def words(key: str) -> list[str]:
    """The words of a key in small letters: `minReplicas`, `PUBLIC_URL` and `public-url` have two."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", key)]


def is_image(leaf: Leaf) -> bool:
    """Whether the value is an image reference as one string: of a container, or by an `$imagepolicy` comment."""
    if leaf.marker.count(":") == 1:
        return True
    field = leaf.field
    is_container = len(field) >= 3 and field[-1] == "image" and field[-3] in _CONTAINERS
    return is_container or _is_name_with_version(leaf)


def _is_name_with_version(leaf: Leaf) -> bool:
    """A `newName` of kustomize that holds tag or digest too."""
    if leaf.field[-1:] != ("newName",) or leaf.field[-3:-2] != ("images",):
        return False
    image = ImageReference.parse(leaf.text)
    return image is not None and bool(image.tag or image.digest)


def is_chart_version(leaf: Leaf) -> bool:
    """`spec.chart.spec.version` of a HelmRelease, `spec.version` of a HelmChart, `helmCharts` of a kustomization."""
    field = leaf.field
    if field[-1:] != ("version",):
        return False
    is_release = field == ("spec", "chart", "spec", "version") and leaf.kind_of_object in ("HelmRelease", "")
    is_chart = field == ("spec", "version") and leaf.kind_of_object == "HelmChart"
    return is_release or is_chart or (len(field) == 3 and field[0] == "helmCharts")


def reference_fields(leaf: Leaf) -> tuple[str, ...]:
    """The fields that together name one artifact, the one that decides first; empty when the value is none of them."""
    field = leaf.field
    if len(field) >= 3 and field[-3] == "images" and field[-1] in IMAGE_FIELDS:
        return IMAGE_FIELDS
    if len(field) == 3 and field[:2] == ("spec", "ref"):
        if leaf.kind_of_object in _REFERENCE_FIELDS:
            found = _REFERENCE_FIELDS[leaf.kind_of_object]
            return found if field[-1] in found else ()
        if not leaf.kind_of_object and field[-1] in ("tag", "semver", "digest"):
            return _REFERENCE_FIELDS["OCIRepository"]
    if field[-1:] and field[-1] in VALUES_FIELDS and _is_image_map(leaf):
        return VALUES_FIELDS
    return ()


def _is_image_map(leaf: Leaf) -> bool:
    """`image.tag` and any map with `repository` beside it, at any depth of Helm values."""
    field = leaf.field
    in_values = leaf.kind_of_object in ("", "Values") or field[:2] == ("spec", "values")
    if not in_values or not leaf.place.parents:
        return False
    siblings = {key.value for key, _ in leaf.place.parents[-1].entries}
    return field[-2:-1] == ("image",) or "repository" in siblings


def is_substitution(leaf: Leaf) -> bool:
    """A `postBuild.substitute` value whose key is or ends in version, tag or digest."""
    is_variable = leaf.field[-3:-1] == ("postBuild", "substitute")
    return is_variable and bool(_VERSION_KEY.search(leaf.field[-1]))


def is_policy_value(leaf: Leaf) -> bool:
    """A value that image automation writes; the name of an image belongs to the environment."""
    return bool(leaf.marker) and not leaf.marker.endswith(":name")


def is_promoted_field(leaf: Leaf) -> bool:
    is_version = is_image(leaf) or is_chart_version(leaf) or is_substitution(leaf) or is_policy_value(leaf)
    if is_version:
        return True
    return bool(reference_fields(leaf)) and not (leaf.kind_of_object == "GitRepository" and leaf.field[-1] == "branch")


def is_image_name(leaf: Leaf) -> bool:
    """Registry and repository of an image: they belong to the environment even in a promoted file."""
    key = leaf.field[-1] if leaf.field else ""
    if key == "newName":
        return not is_image(leaf)
    siblings = {name.value for name, _ in leaf.place.parents[-1].entries} if leaf.place.parents else set()
    return key in ("repository", "registry") and bool(siblings & {"tag", "digest", "repository"})


def kept_word(leaf: Leaf) -> str:
    """The key on the way to the value that marks it as the environment's own; empty when none does."""
    for number, key in enumerate(_keys(leaf)):
        if number == 0 and leaf.kind_of_object in ("Kustomization", "Component") and key in _KUSTOMIZATION_LISTS:
            continue
        if re.sub(r"[-_.]", "", key).lower() in _KEPT_KEYS or _KEPT_WORDS.intersection(words(key)):
            return key
    return ""


def _keys(leaf: Leaf) -> list[str]:
    """The keys down to the value. Names of list items say nothing about it, but those of environment variables do."""
    keys = []
    for number, key in enumerate(leaf.field):
        if "env" in leaf.field[:number]:
            keys.append(key.removeprefix("name="))
        elif "=" not in key:
            keys.append(key)
    return keys


def is_identity(leaf: Leaf) -> bool:
    """What makes an object or a list item the one that it is."""
    if leaf.field in (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")):
        return True
    *above, last = leaf.path or ("",)
    return bool(above) and isinstance(above[-1], Match) and last in dict(above[-1].fields)
