"""`.flotilla/fleet.yaml`: what a repository says about itself, and the answers that scaffolding asks for.

The file is written by scaffolding and adopting, and edited by people; so each mistake is named by its path.
"""

from collections.abc import Callable, Iterable
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct, field

from clusters_app import safe_yaml
from clusters_app.ingest import JsonValue
from clusters_app.repo import names
from clusters_app.repo.tree import Tree

MODEL_PATH = ".flotilla/fleet.yaml"
LOCK_PATH = ".flotilla/lock.json"

ForgeName = Literal["github", "gitlab", "gitea", "forgejo", "bitbucket", "azure", "local"]
ChartSource = Literal["OCIRepository", "HelmRepository", "GitRepository"]
Port = Annotated[int, Meta(ge=1, le=65535)]
Replicas = Annotated[int, Meta(ge=0, le=1000)]


class ModelError(ValueError):
    """The model cannot be used. `code` is stable, `where` a path such as `$.clusters[0].name`, `line` 0 if unknown."""

    def __init__(self, code: str, where: str, message: str, line: int = 0) -> None:
        super().__init__(f"{where}: {message}")
        self.code = code
        self.where = where
        self.line = line


class _Part(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One part of the model. What equals its default is not written, so that the file stays short."""


class RepositoryFacts(_Part, frozen=True):
    """Where the clusters fetch the repository from."""

    url: str
    branch: str = "main"
    forge: ForgeName = "local"


class EnvironmentFacts(_Part, frozen=True):
    """One environment; the order of the list is the order of promotion. `age`: recipients of its secrets.

    `interval` empty: ten minutes in the first of several environments, an hour in the others.
    """

    name: str
    interval: str = ""
    retry_interval: str = "2m"
    timeout: str = "5m"
    source_interval: str = "1m"
    age: tuple[str, ...] = ()


class ClusterFacts(_Part, frozen=True):
    """One cluster. `path` is its sync path (empty: given by the layout), `flux` the minor version that it runs."""

    name: str
    environment: str
    path: str = ""
    flux: str = "2.9"
    variables: dict[str, str] = {}


class ImageFacts(_Part, frozen=True):
    """A container image to deploy: its name without a tag, and the port that it listens on."""

    name: str
    port: Port = 8080
    health: str = "/"


class ChartFacts(_Part, frozen=True):
    """A Helm chart. `name`: the chart in a HelmRepository, or its directory in this repository (`GitRepository`).

    `version_value` is the place in the chart's values that holds the version when the chart itself has none.
    """

    source: ChartSource
    url: str = ""
    name: str = ""
    version_value: tuple[str, ...] = ("image", "tag")
    insecure: bool = False
    secret: str = ""
    ca_secret: str = ""


class AppInEnvironment(_Part, frozen=True):
    """What is particular to an app in one environment. Only `version` is ever promoted."""

    version: str = ""
    replicas: Replicas = 1
    host: str = ""


class AppFacts(_Part, frozen=True):
    """One app: an image with plain manifests, or a chart; in every environment unless `environments` says less."""

    name: str
    version: str
    namespace: str = ""
    image: ImageFacts | None = None
    chart: ChartFacts | None = None
    environments: dict[str, AppInEnvironment] = {}

    def version_in(self, environment: str) -> str:
        return self.environments.get(environment, AppInEnvironment()).version or self.version

    def is_in(self, environment: str) -> bool:
        return not self.environments or environment in self.environments


class FleetModel(_Part, frozen=True):
    """The whole file."""

    repository: RepositoryFacts
    environments: tuple[EnvironmentFacts, ...]
    clusters: tuple[ClusterFacts, ...]
    apps: tuple[AppFacts, ...] = ()
    preset: Literal["clusters", "adopted"] = "clusters"
    version: Literal[1] = field(default=1)

    def clusters_in(self, environment: str) -> tuple[ClusterFacts, ...]:
        return tuple(cluster for cluster in self.clusters if cluster.environment == environment)

    def environment(self, name: str) -> EnvironmentFacts:
        return next(each for each in self.environments if each.name == name)


def read_model(tree: Tree) -> FleetModel | None:
    """The model of a tree, None when it has none. Raises ModelError when there is one that cannot be used."""
    entry = tree.files().get(MODEL_PATH)
    return None if entry is None or not entry.is_file else parse_model(tree.read(MODEL_PATH))


def parse_model(data: bytes) -> FleetModel:
    """A model from YAML or JSON text, checked as a whole. Raises ModelError."""
    parsed = safe_yaml.load_repository(data)
    if parsed.problem is not None:
        raise ModelError("model.not-yaml", MODEL_PATH, str(parsed.problem), parsed.problem.line or 0)
    if len(parsed.documents) != 1 or parsed.documents[0].root is None:
        raise ModelError("model.not-one-document", MODEL_PATH, "exactly one document is expected")
    return model_from(safe_yaml.to_plain(parsed.documents[0].root))


def model_from(plain: JsonValue) -> FleetModel:
    """A model from plain values (a form, an API request, a parsed file), checked as a whole. Raises ModelError."""
    try:
        model = msgspec.convert(plain, FleetModel)
    except msgspec.ValidationError as error:
        message, _, where = str(error).partition(" - at `")
        raise ModelError("model.shape", where.rstrip("`") or "$", message) from error
    check_model(model)
    return model


def plain_model(model: FleetModel) -> dict[str, JsonValue]:
    """The model as plain values, without what equals its default."""
    plain: dict[str, JsonValue] = msgspec.to_builtins(model)
    return {"version": model.version, "preset": model.preset, **plain}


def model_schema() -> dict[str, object]:
    """JSON Schema of the file."""
    return msgspec.json.schema(FleetModel)


def check_model(model: FleetModel) -> None:
    """Everything that types cannot say: names, references, duplicates. Raises ModelError at the first mistake."""
    repository = model.repository
    _check("$.repository.url", repository.url, names.is_url, "a URL without password, query or fragment")
    _check("$.repository.branch", repository.branch, names.is_branch, "a branch name")
    if not model.environments:
        raise ModelError("model.empty", "$.environments", "at least one environment is needed")
    _distinct("$.environments", [each.name for each in model.environments])
    for index, environment in enumerate(model.environments):
        _check_environment(f"$.environments[{index}]", environment)
    _distinct("$.clusters", [each.name for each in model.clusters])
    _distinct("$.clusters[].path", [each.path for each in model.clusters if each.path])
    known = {each.name for each in model.environments}
    for index, cluster in enumerate(model.clusters):
        _check_cluster(f"$.clusters[{index}]", cluster, known)
    _distinct("$.apps", [each.name for each in model.apps])
    for index, app in enumerate(model.apps):
        _check_app(f"$.apps[{index}]", app, known)


def _check_environment(where: str, environment: EnvironmentFacts) -> None:
    _check_label(f"{where}.name", environment.name)
    for name in ("interval", "retry_interval", "timeout", "source_interval"):
        if value := getattr(environment, name):
            _check(f"{where}.{name}", value, names.is_duration, "a duration such as 10m")
    for index, recipient in enumerate(environment.age):
        _check(f"{where}.age[{index}]", recipient, names.is_age_recipient, "a public age key (age1…)")


def _check_cluster(where: str, cluster: ClusterFacts, environments: set[str]) -> None:
    _check_label(f"{where}.name", cluster.name)
    _check(f"{where}.environment", cluster.environment, environments.__contains__, "one of the environments")
    if cluster.path:
        _check(f"{where}.path", cluster.path, names.is_path, "a directory inside the repository")
    _check(f"{where}.flux", cluster.flux, _is_minor, "a version such as 2.9")
    for name, value in cluster.variables.items():
        _check(f"{where}.variables", name, names.is_variable, "a variable's name")
        _check(f"{where}.variables.{name}", value, names.is_plain_value, "a plain text in one line")


def _check_app(where: str, app: AppFacts, environments: set[str]) -> None:
    _check_label(f"{where}.name", app.name)
    if app.namespace:
        _check_label(f"{where}.namespace", app.namespace)
    _check(f"{where}.version", app.version, names.is_tag, "a version")
    if (app.image is None) is (app.chart is None):
        raise ModelError("model.app-kind", where, "an app has either an image or a chart")
    if app.image is not None:
        _check(f"{where}.image.name", app.image.name, names.is_image, "an image name without tag")
        _check(f"{where}.image.health", app.image.health, _is_http_path, "a path such as /healthz")
    if app.chart is not None:
        _check_chart(f"{where}.chart", app.chart)
    for name, particular in app.environments.items():
        _check(f"{where}.environments", name, environments.__contains__, "one of the environments")
        if particular.version:
            _check(f"{where}.environments.{name}.version", particular.version, names.is_tag, "a version")
        if particular.host:
            _check(f"{where}.environments.{name}.host", particular.host, names.is_host, "a host name")


def _check_chart(where: str, chart: ChartFacts) -> None:
    if chart.source == "GitRepository":
        _check(f"{where}.name", chart.name, names.is_path, "the chart's directory in this repository")
        if not chart.version_value:
            raise ModelError("model.value", f"{where}.version_value", "the place of the version in the chart's values")
    else:
        _check(f"{where}.url", chart.url, names.is_url, "a URL without password, query or fragment")
    if chart.source == "HelmRepository":
        _check_label(f"{where}.name", chart.name)
    for index, key in enumerate(chart.version_value):
        _check(f"{where}.version_value[{index}]", key, names.is_variable, "a key")
    for name in ("secret", "ca_secret"):
        if getattr(chart, name):
            _check_label(f"{where}.{name}", getattr(chart, name))


def _check_label(where: str, text: str) -> None:
    _check(where, text, names.is_label, "lower case letters, digits and hyphens, at most 63")


def _check(where: str, text: str, is_good: Callable[[str], bool], wanted: str) -> None:
    if not is_good(text):
        raise ModelError("model.value", where, f"{wanted} is expected")


def _distinct(where: str, found: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in found:
        if name in seen:
            raise ModelError("model.duplicate", where, f"{name} is there twice")
        seen.add(name)


def _is_minor(text: str) -> bool:
    major, _, minor = text.partition(".")
    return major == "2" and minor.isdigit() and len(minor) <= 3


def _is_http_path(text: str) -> bool:
    return text.startswith("/") and (text == "/" or names.is_path(text[1:]))


def flux_minor(cluster: ClusterFacts) -> int:
    return int(cluster.flux.partition(".")[2])
