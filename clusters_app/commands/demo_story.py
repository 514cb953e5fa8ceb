"""What the demo tells: an invented shop's fleet, and who changed what in the weeks before the first start."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from clusters_app.ingest import JsonValue
from clusters_app.repo.graph import ClusterRoot
from clusters_app.simulation.faults import Fault, Silent, Suspended, Untrusted

ENVIRONMENTS = ("dev", "staging", "prod")
CLUSTERS = {
    "dev-fra": "dev",
    "dev-nyc": "dev",
    "lab": "dev",
    "staging-fra": "staging",
    "staging-nyc": "staging",
    "prod-ams": "prod",
    "prod-fra": "prod",
    "prod-nyc": "prod",
    "prod-sfo": "prod",
    "prod-sin": "prod",
    "prod-syd": "prod",
}
REGISTRY = "registry.acme.example"
CHARTS = "https://charts.acme.example"
#: App → its first version; what came after is in STORY.
IMAGES = {"web": "1.4.2", "checkout": "3.0.8", "payments": "2.8.0", "search": "0.12.1", "ledger": "1.0.3"}
_OCI_CHART, _CLASSIC_CHART = ("catalog", "5.1.0"), ("grafana", "9.2.0")

ANNA, LUIS = ("Anna Petrova", "anna@acme.example"), ("Luis Ortega", "luis@acme.example")
MEI, JONAS = ("Mei Tanaka", "mei@acme.example"), ("Jonas Weber", "jonas@acme.example")
PRIYA = ("Priya Nair", "priya@acme.example")

#: The cluster that nobody can reach any more, some seconds after it was registered.
SILENT = "lab"
#: How long before the first start somebody stopped the monitoring of one cluster.
SUSPENDED_FOR = timedelta(hours=26)


@dataclass(frozen=True, slots=True)
class Bump:
    """Somebody wrote another version of an app into an environment, so many hours before the first start."""

    hours: float
    author: tuple[str, str]
    environment: str
    app: str
    version: str
    subject: str


STORY = (
    Bump(455, LUIS, "dev", "web", "1.5.0", "Web 1.5.0: faster product pages"),
    Bump(450, MEI, "dev", "checkout", "3.1.0", "Checkout 3.1.0: gift cards"),
    Bump(430, LUIS, "staging", "web", "1.5.0", "Web 1.5.0 to staging"),
    Bump(404, MEI, "staging", "checkout", "3.1.0", "Checkout 3.1.0 to staging"),
    Bump(381, JONAS, "dev", "search", "0.13.2", "Search 0.13.2: typo tolerance"),
    Bump(360, ANNA, "prod", "web", "1.5.0", "Web 1.5.0 to production"),
    Bump(336, PRIYA, "dev", "grafana", "9.4.1", "Grafana chart 9.4.1"),
    Bump(312, JONAS, "staging", "search", "0.13.2", "Search 0.13.2 to staging"),
    Bump(290, ANNA, "prod", "checkout", "3.1.0", "Checkout 3.1.0 to production"),
    Bump(288, JONAS, "dev", "catalog", "5.2.0", "Catalog 5.2.0"),
    Bump(262, PRIYA, "staging", "grafana", "9.4.1", "Grafana chart 9.4.1 to staging"),
    Bump(240, JONAS, "staging", "catalog", "5.2.0", "Catalog 5.2.0 to staging"),
    Bump(215, LUIS, "dev", "web", "1.6.0", "Web 1.6.0: new basket"),
    Bump(196, MEI, "dev", "payments", "2.9.1", "Payments 2.9.1: retry a declined card once"),
    Bump(172, LUIS, "staging", "web", "1.6.0", "Web 1.6.0 to staging"),
    Bump(168, ANNA, "prod", "search", "0.13.2", "Search 0.13.2 to production"),
    Bump(146, MEI, "staging", "payments", "2.9.1", "Payments 2.9.1 to staging"),
    Bump(120, ANNA, "prod", "catalog", "5.2.0", "Catalog 5.2.0 to production"),
    Bump(96, MEI, "dev", "checkout", "3.2.0", "Checkout 3.2.0: invoices by mail"),
    Bump(70, JONAS, "dev", "search", "0.14.0", "Search 0.14.0: synonyms"),
    Bump(49, JONAS, "dev", "catalog", "5.3.0", "Catalog 5.3.0"),
    Bump(22, LUIS, "dev", "web", "1.7.0", "Web 1.7.0: saved baskets"),
    Bump(3, LUIS, "dev", "web", "1.7.1", "Web 1.7.1: the basket survives a sign-in"),
)


def answers() -> dict[str, JsonValue]:
    """What a person would have answered to the scaffold, without the repository."""
    apps: list[JsonValue] = [
        {"name": name, "version": version, "image": {"name": f"{REGISTRY}/{name}"}} for name, version in IMAGES.items()
    ]
    name, version = _OCI_CHART
    apps.append(
        {
            "name": name,
            "version": version,
            "chart": {"source": "OCIRepository", "url": f"oci://{REGISTRY}/charts/{name}"},
        }
    )
    name, version = _CLASSIC_CHART
    apps.append(
        {
            "name": name,
            "version": version,
            "chart": {"source": "HelmRepository", "name": name, "url": f"{CHARTS}/tools"},
        }
    )
    return {
        "environments": [{"name": name} for name in ENVIRONMENTS],
        "clusters": [{"name": name, "environment": environment} for name, environment in CLUSTERS.items()],
        "apps": apps,
    }


def roots() -> tuple[ClusterRoot, ...]:
    """Each cluster with the sync path that the scaffold gives it."""
    return tuple(ClusterRoot(name, _home(name), environment) for name, environment in CLUSTERS.items())


def first_versions() -> dict[str, str]:
    return {**IMAGES, **dict((_OCI_CHART, _CLASSIC_CHART))}


def faults(born_at: datetime, silent_since: datetime | None) -> dict[str, tuple[Fault, ...]]:
    """What is wrong on purpose. What Git itself gets wrong is in `additions`."""
    found: dict[str, tuple[Fault, ...]] = {
        "prod-syd": (Untrusted("HelmRepository/monitoring/observability", born_at - timedelta(days=30)),),
        "staging-nyc": (Suspended("Kustomization/flux-system/monitoring", born_at - SUSPENDED_FOR),),
    }
    if silent_since is not None:
        found[SILENT] = (Silent(silent_since),)
    return found


# --- what people wrote by hand beside the scaffold ----------------------------------------------------------------


def additions() -> Iterator[tuple[float, tuple[str, str], str, dict[str, str]]]:
    """(hours before the first start, author, subject, {file: text}). A path that ends in `+` is appended to a list."""
    monitored = [name for name, environment in CLUSTERS.items() if environment != "dev"]
    yield (
        460,
        PRIYA,
        "Monitor staging and production",
        {
            **{path: text for environment in ("staging", "prod") for path, text in _monitoring(environment).items()},
            **{
                f"{_home(name)}/monitoring.yaml": _layer("monitoring", f"clusters/{CLUSTERS[name]}")
                for name in monitored
            },
            **{f"{_home(name)}/kustomization.yaml+": "monitoring.yaml" for name in monitored},
        },
    )
    yield (
        300,
        JONAS,
        "The lab runs the ledger alone",
        {
            "clusters/dev/lab/apps/kustomization.yaml": _listing("../../apps/ledger"),
            "clusters/dev/lab/apps.yaml~": "clusters/dev/apps|clusters/dev/lab/apps",
        },
    )
    yield (
        47,
        MEI,
        "Previews of branches on dev-nyc",
        {
            "clusters/dev/dev-nyc/previews.yaml": _layer("previews", "clusters/dev/dev-nyc", after="cert-manager"),
            "clusters/dev/dev-nyc/previews/kustomization.yaml": _listing("namespace.yaml"),
            "clusters/dev/dev-nyc/previews/namespace.yaml": _namespace("previews"),
            "clusters/dev/dev-nyc/kustomization.yaml+": "previews.yaml",
        },
    )


def _home(cluster: str) -> str:
    return f"clusters/{CLUSTERS[cluster]}/{cluster}"


def _monitoring(environment: str) -> dict[str, str]:
    home = f"clusters/{environment}/monitoring"
    return {
        f"{home}/kustomization.yaml": _listing("namespace.yaml", "repository.yaml", "release.yaml"),
        f"{home}/namespace.yaml": _namespace("monitoring"),
        f"{home}/repository.yaml": (
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata:\n  name: observability\n"
            f"  namespace: monitoring\nspec:\n  interval: 10m\n  url: {CHARTS}/observability\n"
        ),
        f"{home}/release.yaml": (
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: metrics\n"
            "  namespace: monitoring\nspec:\n  interval: 1h\n  chart:\n    spec:\n      chart: metrics\n"
            '      version: "62.3.0"\n      sourceRef:\n        kind: HelmRepository\n        name: observability\n'
        ),
    }


def _layer(name: str, directory: str, after: str = "infra-configs") -> str:
    return (
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n"
        f"  name: {name}\n  namespace: flux-system\nspec:\n  dependsOn:\n    - name: {after}\n"
        f"  interval: 10m\n  retryInterval: 2m\n  timeout: 5m\n  path: ./{directory}/{name}\n  prune: true\n"
        "  sourceRef:\n    kind: GitRepository\n    name: flux-system\n"
    )


def _listing(*resources: str) -> str:
    lines = "".join(f"  - {each}\n" for each in resources)
    return f"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n{lines}"


def _namespace(name: str) -> str:
    return f"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n"
