"""A fleet as rows of the database, with a cluster in every standing: what the pages' tests and a person's eye need."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User

from clusters_app.models import (
    App,
    AppOnCluster,
    AppStage,
    Cluster,
    ClusterStatus,
    Environment,
    FluxObject,
    GateResult,
    KindReading,
    LocalPullRequest,
    Membership,
    ObjectDetail,
    Promotion,
    PromotionEvent,
    PromotionTarget,
    Release,
    Repository,
    StatusChange,
)
from clusters_app.services.rollups import store_counts

HEAD, BEFORE, OLDER = "7c1e90f" + "1" * 33, "3f09b12" + "2" * 33, "a41c77e" + "3" * 33
Connection = ClusterStatus.Connection


@dataclass
class Standing:
    """How one cluster of the fleet stands; `seen` in seconds, None when it was never read."""

    name: str
    environment: str
    seen: float | None = 4
    flux: str = "2.9.5"
    kubernetes: str = "v1.35.2"
    connection: str = Connection.CONNECTED
    problem: str = ""
    broken: tuple[str, ...] = ()
    chain: tuple[str, str, str] = (HEAD, HEAD, HEAD)
    behind: int = 0
    badge: str = ""
    labels: dict[str, str] = field(default_factory=dict)


STANDINGS = (
    Standing("dev", "dev", seen=3, kubernetes="v1.36.1"),
    Standing("staging-eu", "staging", seen=2, broken=("rolling",), chain=(HEAD, HEAD, BEFORE)),
    Standing("staging-us", "staging", broken=("release",), flux="2.8.3", chain=(HEAD, BEFORE, BEFORE), behind=1),
    Standing("prod-a", "prod", seen=3, labels={"region": "eu"}),
    Standing("prod-b", "prod", seen=5, badge="the provider's role cannot be narrowed", labels={"region": "us"}),
    Standing("prod-c", "prod", seen=2, broken=("suspended",), flux="2.7.5", kubernetes="v1.34.0"),
    Standing("prod-d", "prod", broken=("image", "blocked"), flux="2.8.3", chain=(HEAD, HEAD, BEFORE)),
    Standing(
        "prod-e",
        "prod",
        seen=420,
        connection=Connection.UNREACHABLE,
        problem="10.0.4.1:6443 refuses connections. Check that the API server runs and that a firewall lets this "
        "machine reach 10.0.4.1:6443.",
    ),
    Standing("prod-f", "prod", seen=2460, connection=Connection.AUTH_EXPIRED, problem="The token was refused."),
    Standing("prod-new", "prod", seen=None, connection=Connection.NEVER_SEEN, flux="", kubernetes=""),
)
APPS = ("api", "web", "ingress", "billing", "search", "cert-manager")
VERSIONS = {
    "api": ("2.5.0", "2.4.1", "2.4.0"),
    "web": ("1.18.3", "1.18.3", "1.18.1"),
    "ingress": ("4.12.1", "4.12.1", "4.11.3"),
    "billing": ("9.0.2", "9.0.2", "9.0.0"),
    "search": ("0.44.0", "0.43.7", "0.43.7"),
    "cert-manager": ("1.18.2", "1.18.2", ""),
}
BROKEN: dict[str, dict[str, Any]] = {
    "rolling": {
        "kind": "Kustomization",
        "name": "api",
        "health": "Progressing",
        "explain_cause": "Deployment web/api is rolling out, 2 of 3 pods are new.",
    },
    "release": {
        "kind": "HelmRelease",
        "name": "ingress",
        "health": "Failing",
        "settled_health": "Failing",
        "reason": "UpgradeFailed",
        "message": "Helm upgrade failed for release ingress/ingress: x509: certificate signed by unknown authority",
        "explain_id": "x509-unknown-authority",
        "explain_cause": "helm-controller does not trust registry.example: its certificate is signed by an authority "
        "that helm-controller does not know.",
        "explain_remedy": "Put the authority's certificate as ca.crt into a Secret of namespace ingress.",
        "explain_command": "kubectl -n ingress create secret generic ingress-ca --from-file=ca.crt",
        "explain_link": "https://fluxcd.io/flux/components/helm/helmreleases/",
    },
    "suspended": {"kind": "HelmRelease", "name": "search", "health": "Ready", "control": "Suspended"},
    "image": {
        "kind": "Kustomization",
        "name": "search",
        "health": "Failing",
        "settled_health": "Failing",
        "reason": "HealthCheckFailed",
        "message": "health check failed after 30s: timeout waiting for: [Deployment/web/search status: 'InProgress']",
        "explain_id": "health-check-failed",
        "explain_cause": "Deployment/web/search does not become ready: its image tag 0.43.l does not exist.",
        "explain_remedy": "Correct the tag in Git.",
        "explain_command": "kubectl -n web describe deployment search",
    },
    "blocked": {
        "kind": "Kustomization",
        "name": "billing",
        "health": "Waiting",
        "settled_health": "Ready",
        "message": "dependency 'flux-system/search' is not ready",
        "caused_by": "Kustomization/flux-system/search",
        "blocked_by": "Kustomization/flux-system/search",
        "explain_cause": "It waits for Kustomization/flux-system/search.",
    },
}


def fill(now: datetime, *, more_clusters: int = 0) -> User:
    """The fleet, and an administrator who sees it all. `more_clusters`: ready ones in prod besides."""
    person = User.objects.create(username="maria")
    Membership.objects.create(user=person, role="admin")
    places = {
        name: Environment.objects.create(name=name, position=at, is_production=name == "prod")
        for at, name in enumerate(("dev", "staging", "prod"), 1)
    }
    repository = _repository(now)
    clusters = [_cluster(each, places, repository, now) for each in STANDINGS]
    apps = {name: _app(name, repository, places, clusters, now) for name in APPS}
    add_clusters(more_clusters, now)
    _promotions(apps, places, repository, person, now)
    return person


def add_clusters(count: int, now: datetime) -> None:
    """More clusters in prod that are ready and run every app."""
    repository, prod = Repository.objects.get(), Environment.objects.get(name="prod")
    clusters = Cluster.objects.bulk_create(
        Cluster(name=name, environment=prod, repository=repository, sync_path=f"clusters/prod/{name}")
        for name in (f"edge-{at:04}" for at in range(count))
    )
    ClusterStatus.objects.bulk_create(
        ClusterStatus(
            cluster=cluster,
            connection=Connection.CONNECTED,
            kubernetes_version="v1.35.2",
            flux_version="2.9.5",
            observed_at=now - timedelta(seconds=at % 9),
            attempted_at=now,
            commits_behind=0,
            counts={"ready": 12, "total": 12},
            **dict.fromkeys(("head", "fetched", "applied", "healthy"), HEAD),
        )
        for at, cluster in enumerate(clusters)
    )
    AppOnCluster.objects.bulk_create(
        AppOnCluster(stage=stage, cluster=cluster, commit=HEAD, state="live", since=now)
        for stage in AppStage.objects.filter(environment=prod)
        for cluster in clusters
    )


def _repository(now: datetime) -> Repository:
    return Repository.objects.create(
        name="fleet",
        url="https://git.example/platform/fleet.git",
        canonical_url="git.example/platform/fleet",
        forge="local",
        head=HEAD,
        head_at=now - timedelta(minutes=2),
        read_commit=HEAD,
        seen_at=now - timedelta(seconds=3),
    )


def _cluster(
    standing: Standing, places: dict[str, Environment], repository: Repository, now: datetime
) -> tuple[Cluster, Standing]:
    cluster = Cluster.objects.create(
        name=standing.name,
        environment=places[standing.environment],
        repository=repository,
        sync_path=f"clusters/{standing.environment}/{standing.name}",
        server="https://10.0.4.1:6443",
        badge=standing.badge,
        labels=standing.labels,
    )
    seen = None if standing.seen is None else now - timedelta(seconds=standing.seen)
    fetched, applied, healthy = standing.chain
    is_known = seen is not None
    ClusterStatus.objects.create(
        cluster=cluster,
        connection=standing.connection,
        connection_since=seen,
        problem=standing.problem,
        kubernetes_version=standing.kubernetes,
        flux_version=standing.flux,
        controllers=[
            {"name": f"{name}-leader-election", "moved_at": seen.isoformat(), "renewed": seen.isoformat()}
            for name in ("source-controller", "kustomize-controller", "helm-controller")
            if seen
        ],
        observed_at=seen,
        attempted_at=now - timedelta(seconds=2),
        due_at=now + timedelta(days=365),
        round_seconds=0.21,
        head=HEAD if is_known else "",
        fetched=fetched if is_known else "",
        applied=applied if is_known else "",
        healthy=healthy if is_known else "",
        commits_behind=standing.behind if is_known else None,
        behind_since=now - timedelta(minutes=6) if standing.behind else None,
    )
    if seen:
        _objects(cluster, standing, now)
    return cluster, standing


def _objects(cluster: Cluster, standing: Standing, now: datetime) -> None:
    rows = [
        _object(cluster, now, kind="GitRepository", name="flux-system"),
        *(_object(cluster, now, kind="Kustomization", name=name) for name in ("flux-system", "infra", *APPS)),
        *(_object(cluster, now, kind="HelmRelease", name=name) for name in ("ingress", "cert-manager", "search")),
    ]
    by_name = {(row.kind, row.name): row for row in rows}
    for what in standing.broken:
        given = BROKEN[what]
        row = by_name[given["kind"], given["name"]]
        for key, value in given.items():
            setattr(row, key, value)
        if row.health == "Failing":
            row.failing_since = now - timedelta(minutes=12)
        if row.control == "Suspended":
            row.suspended_since, row.suspended_by = now - timedelta(days=3), "flux"
    FluxObject.objects.bulk_create(rows)
    stored = list(FluxObject.objects.filter(cluster=cluster))
    ObjectDetail.objects.bulk_create(ObjectDetail(object=row, document=_document(row), inventory=[]) for row in stored)
    StatusChange.objects.bulk_create(
        StatusChange(object=row, before="Ready", after=row.health, control=row.control, why=row.explain_cause, at=now)
        for row in stored
        if row.health not in {"Ready", "Static"}
    )
    for kind in ("GitRepository", "Kustomization", "HelmRelease"):
        KindReading.objects.create(
            cluster=cluster,
            kind=kind,
            state="ok",
            served_version="v1",
            read_at=now - timedelta(seconds=standing.seen or 0),
        )
    KindReading.objects.create(cluster=cluster, kind="ImagePolicy", state="missing")
    store_counts(cluster)


def _object(cluster: Cluster, now: datetime, *, kind: str, name: str) -> FluxObject:
    return FluxObject(
        cluster=cluster,
        kind=kind,
        namespace="flux-system",
        name=name,
        health="Ready",
        control="Active",
        settled_health="Ready",
        rule="ready",
        revision=f"main@sha1:{HEAD}",
        applied=f"main@sha1:{HEAD}",
        explain_id="ok",
        explain_cause="It does what its document says, at this generation.",
        changed_at=now - timedelta(hours=2),
        evidence_at=now - timedelta(seconds=40),
        heartbeat="Live",
        digest="0",
    )


def _document(row: FluxObject) -> dict[str, Any]:
    return {"kind": row.kind, "metadata": {"namespace": row.namespace, "name": row.name}, "spec": {"interval": "10m"}}


def _app(
    name: str,
    repository: Repository,
    places: dict[str, Environment],
    clusters: list[tuple[Cluster, Standing]],
    now: datetime,
) -> App:
    app = App.objects.create(repository=repository, name=name)
    for environment, version in zip(places.values(), VERSIONS[name], strict=True):
        if not version:
            continue
        stage = AppStage.objects.create(
            app=app,
            environment=environment,
            path=f"clusters/{environment.name}/apps/{name}",
            version=version,
            content_hash=f"{name}-{version}",
            commit=HEAD,
            changed_at=now - timedelta(hours=2),
        )
        AppOnCluster.objects.bulk_create(
            AppOnCluster(
                stage=stage,
                cluster=cluster,
                commit=HEAD,
                since=now - timedelta(hours=2, minutes=20),
                **_state(name, standing),
            )
            for cluster, standing in clusters
            if cluster.environment == environment
        )
    return app


def _state(app: str, standing: Standing) -> dict[str, str]:
    found = next((BROKEN[what] for what in standing.broken if BROKEN[what]["name"] == app), None)
    if found is None:
        return {"state": "live" if standing.seen is not None else "waiting"}
    state = {"Failing": "failing", "Progressing": "applied", "Waiting": "fetched"}.get(found["health"], "suspended")
    return {"state": state, "text": found.get("explain_cause", "")}


PROMOTIONS: dict[str, dict[str, Any]] = {
    "Open": {"app": "api", "to": "prod", "number": 221},
    "RollingOut": {"app": "web", "to": "prod", "number": 214, "merged": True},
    "Failed": {"app": "ingress", "to": "staging", "number": 207, "merged": True},
    "Blocked": {"app": "billing", "to": "prod"},
    "Verified": {"app": "search", "to": "staging", "number": 190, "merged": True, "verified": True},
    "Conflict": {"app": "cert-manager", "to": "staging", "number": 189},
    "Overtaken": {"app": "web", "to": "staging", "number": 180, "merged": True},
    "Superseded": {"app": "api", "to": "staging", "number": 179},
    "Aborted": {"app": "billing", "to": "staging", "number": 170},
    "Closed": {"app": "search", "to": "prod", "number": 169},
    "NoChange": {"app": "ingress", "to": "prod"},
}
TARGET_STATES = ("verified", "applied", "fetched", "failing", "unknown", "merged", "overtaken")


def _promotions(
    apps: dict[str, App], places: dict[str, Environment], repository: Repository, person: User, now: datetime
) -> None:
    order = list(places.values())
    for at, (state, given) in enumerate(PROMOTIONS.items()):
        target = places[given["to"]]
        source = order[order.index(target) - 1]
        _promotion(state, given, apps[given["app"]], source, target, repository, person, now - timedelta(hours=at))


def _promotion(
    state: str,
    given: dict[str, Any],
    app: App,
    source: Environment,
    target: Environment,
    repository: Repository,
    person: User,
    at: datetime,
) -> None:
    release = Release.objects.create(
        repository=repository,
        environment=source,
        app_key=app.name,
        content_hash=f"{app.name}-{state}",
        version="1.18.3",
        commit=HEAD,
        commits=[
            {"sha": HEAD, "author": "anna", "subject": "Fix basket total rounding", "at": at.isoformat()},
            {"sha": OLDER, "author": "petr", "subject": "Raise timeout of the search call", "at": at.isoformat()},
        ],
        seen_at=at,
    )
    release.apps.add(app)
    promotion = Promotion.objects.create(
        repository=repository,
        release=release,
        source=source,
        target=target,
        slot=app.name,
        state=state,
        version_before="1.18.1",
        version_after="1.18.3",
        plan=_plan(app.name, target.name),
        plan_hash="0" * 64,
        base=BEFORE,
        head=HEAD,
        branch=f"flotilla/{app.name}-{target.name}",
        pull_request_key="key",
        pull_request_number=given.get("number"),
        pull_request_url=f"/repositories/fleet/reviews/{given['number']}/" if "number" in given else "",
        merge_commit=HEAD if given.get("merged") else "",
        requested_by=person,
        opened_at=at if "number" in given else None,
        merged_at=at + timedelta(minutes=4) if given.get("merged") else None,
        verified_at=at + timedelta(minutes=9) if given.get("verified") else None,
        problem="The branch conflicts with main in one file; it is planned again." if state == "Conflict" else "",
    )
    Promotion.objects.filter(pk=promotion.pk).update(created_at=at)
    promotion.apps.add(app)
    PromotionEvent.objects.create(promotion=promotion, after="Planned", actor=person.username, at=at)
    PromotionEvent.objects.create(promotion=promotion, before="Planned", after=state, at=at, why="")
    GateResult.objects.create(
        promotion=promotion, gate="healthy-in-source", passed=True, head=HEAD, text=f"Healthy in {source}.", at=at
    )
    GateResult.objects.create(
        promotion=promotion, gate="plan-fresh", passed=False, head=HEAD, text="Waits for one approval.", at=at
    )
    if given.get("merged"):
        _targets(promotion, target, is_verified=bool(given.get("verified")), at=at)
    if "number" in given:
        LocalPullRequest.objects.create(
            repository=repository,
            number=given["number"],
            title=f"Promote {app.name} 1.18.3 to {target.name}",
            body="One value changes.",
            base_branch="main",
            head_branch=promotion.branch + state,
            head=HEAD,
            state="merged" if given.get("merged") else "open",
            author="flotilla",
        )


def _targets(promotion: Promotion, target: Environment, *, is_verified: bool, at: datetime) -> None:
    for index, cluster in enumerate(target.clusters.all()[:9]):
        state = "verified" if is_verified else TARGET_STATES[index % len(TARGET_STATES)]
        PromotionTarget.objects.create(
            promotion=promotion,
            cluster_name=cluster.name,
            cluster=cluster,
            state=state,
            revision=HEAD,
            text="Deployment/web/search does not become ready." if state == "failing" else "",
            since=at,
            verified_at=at if state == "verified" else None,
        )


def _plan(app: str, target: str) -> dict[str, Any]:
    file = f"clusters/{target}/apps/{app}/version.yaml"
    image = ["spec", "template", "spec", "containers", {"name": app}, "image"]
    return {
        "edits": [{"id": "1", "file": file, "path": image, "old": f"registry.example/{app}:1.18.1", "new": "1.18.3"}],
        "kept": [
            {
                "file": file,
                "path": ["spec", "replicas"],
                "source": 2,
                "target": 12,
                "why": "replicas belong to the environment",
            },
            {
                "file": file,
                "path": ["spec", "rules", 0, "host"],
                "source": "web.staging.example",
                "target": "web.example",
                "why": "hosts belong to the environment",
            },
        ],
        "asks": [
            {"id": "a1", "file": file, "path": ["data", "LEVEL"], "source": "debug", "target": None, "why": "new key"}
        ],
        "refusals": [],
        "hash": "0" * 64,
        "clusters": ["prod-a", "prod-b"],
        "diff": [
            {
                "file": file,
                "lines": [
                    ["@", "@ -4,4 +4,4 @@"],
                    [" ", "      containers:"],
                    [" ", f"        - name: {app}"],
                    ["-", f"          image: registry.example/{app}:1.18.1  # the release"],
                    ["+", f"          image: registry.example/{app}:1.18.3  # the release"],
                ],
            }
        ],
    }
