"""The thread through the whole product, a step a test: from the first sign-in to live in production.

Real Kubernetes, real Flux, a real forge, real workers and beat; the product is spoken to through its API, and read on
its pages. Told on SQLite and again on PostgreSQL.
"""

import time
from typing import Any

import pytest

from .installation import PATIENCE, wait_for
from .world import CLUSTERS, VERSION, World

pytestmark = pytest.mark.testbed

READY_KINDS = ("Kustomization", "HelmRelease")


def test_1_sign_in_by_the_link_and_order_the_environments(world: World) -> None:
    product = world.product
    assert product.session.get(f"{product.url}/api/v1/fleet", timeout=PATIENCE).status_code == 401
    product.sign_in()
    for name in ("staging", "dev", "prod"):
        product.post("environments", {"name": name})
    product.post("environments/order", {"names": ["dev", "staging", "prod"]})
    names = [item["name"] for item in product.get("environments")["items"]]
    assert names == ["dev", "staging", "prod"]
    assert [item["is_production"] for item in product.get("environments")["items"]] == [False, False, True]
    again = product.session.post(product.link, timeout=PATIENCE)
    assert again.status_code == 403 or "already" in again.text


def test_2_add_the_empty_repository_with_a_checked_token(world: World) -> None:
    product, gitea = world.product, world.gitea
    gitea.create_repository(world.person, "fleet")
    world.repository = f"{world.person.name}/fleet"
    body = {
        "name": "fleet",
        "url": world.clone_url,
        "username": world.person.name,
        "ca_pem": gitea.ca_pem,
    }
    too_little = gitea.token(world.person, scopes=("read:repository",))
    refused = product.finished(product.post("repositories", {**body, "token": too_little}))
    assert refused["state"] == "failed"
    assert any(step["state"] == "failed" and step["remedy"] for step in refused["steps"]), refused
    world.token = gitea.token(world.person, scopes=("write:repository", "write:issue", "read:user"))
    operation = product.finished(product.post("repositories", {**body, "token": world.token}))
    assert operation["state"] == "done", operation
    codes = [step["code"] for step in operation["steps"]]
    assert "forge.recognised" in codes
    assert "repository.empty" in codes
    repository = product.get("repositories/fleet")
    assert (repository["forge"], repository["is_empty"]) == ("gitea", True)


def test_3_scaffold_as_a_pull_request_that_a_person_merges(world: World) -> None:
    product, gitea = world.product, world.gitea
    plan = product.post("repositories/fleet/scaffold", {"answers": world.answers(), "dry_run": True})
    assert VERSION.format("dev") in plan["files"]
    assert "flux bootstrap gitea" in plan["commands"]["prod-a"]
    result = product.done(product.post("repositories/fleet/scaffold", {"answers": world.answers()}))
    world.paths = result["paths"]
    opened = gitea.api("GET", f"/repos/{world.repository}/pulls/{result['pull_request']}")
    assert opened["state"] == "open"
    gitea.merge(world.repository, result["pull_request"])
    wait_for(lambda: product.get("repositories/fleet")["read_commit"] == world.head() or None, "the merged scaffold")
    refused = product.session.post(
        f"{product.url}/api/v1/repositories/fleet/scaffold", json={"answers": world.answers()}, timeout=60
    )
    assert (refused.status_code, refused.json()["code"]) == (409, "scaffold.no-change")


def test_4_register_four_clusters_and_refuse_what_must_not_be_taken(world: World) -> None:
    product = world.product
    manifest = product.session.get(f"{product.url}/api/v1/clusters/read-role.yaml", timeout=PATIENCE).text
    tokens = {}
    for name, cluster in world.clusters.items():
        cluster.apply(manifest)
        tokens[name] = cluster.token_for("flotilla-reader", "flotilla-system")

    def body(name: str, **changes: str) -> dict[str, Any]:
        cluster = world.clusters[name]
        given = {
            "name": name,
            "environment": CLUSTERS[name],
            "repository": "fleet",
            "sync_path": world.paths[name],
            "server": cluster.server,
            "ca_pem": cluster.ca_pem,
            "token": tokens[name],
        }
        return {**given, **changes}

    dev = world.clusters["dev"]
    refusals = {
        "too much": body("dev", token=dev.admin_token),
        "other authority": body("dev", ca_pem=world.gitea.ca_pem),
        "other host": body("dev", server=dev.server.replace("127.0.0.1", "127.0.0.9")),
        "wrong name": body("dev", tls_server_name="elsewhere.example"),
    }
    texts = {}
    for what, refused in refusals.items():
        ended = product.finished(product.post("clusters", refused))
        assert ended["state"] == "failed", (what, ended)
        failed = [step for step in ended["steps"] if step["state"] == "failed"]
        assert failed, (what, ended)
        assert failed[0]["remedy"], (what, ended)
        texts[what] = failed[0]["text"]
    assert len(set(texts.values())) == len(texts), texts
    assert product.get("clusters")["items"] == []
    for name in CLUSTERS:
        product.done(product.post("clusters", body(name)))
    assert sorted(item["name"] for item in product.get("clusters")["items"]) == sorted(CLUSTERS)


def test_5_flux_makes_the_apps_ready_and_the_product_says_so(world: World) -> None:
    product = world.product
    for name in CLUSTERS:
        world.bootstrap(name)
    for name, cluster in world.clusters.items():
        cluster.wait_for("Kustomization", "flux-system", "apps", "Ready", timeout_seconds=240)
        cluster.wait_for("Deployment", "web", "web", "Available", timeout_seconds=30)
        cluster.wait_for("HelmRelease", "podlet", "podlet", "Ready", timeout_seconds=60)
        del name
    became_true = time.monotonic()
    head = world.head()

    def all_live() -> bool | None:
        found = {item["name"]: item["status"] for item in product.get("clusters")["items"]}
        good = [
            status["freshness"] == "Live"
            and status["standing"] == "ready"
            and status["healthy"] == status["head"] == head
            and status["commits_behind"] == 0
            for status in found.values()
        ]
        return True if len(good) == len(CLUSTERS) and all(good) else None

    wait_for(all_live, "four live clusters", seconds=60)
    world.notes["seconds_until_shown"] = time.monotonic() - became_true
    print(f"shown {world.notes['seconds_until_shown']:.1f} s after it was true")
    for kind in READY_KINDS:
        objects = product.get("objects", kind=kind)["items"]
        assert {item["health"] for item in objects} == {"Ready"}, objects
        assert {item["cluster"] for item in objects} == set(CLUSTERS)
    wait_for(lambda: live_in(world, "web", "prod"), "web live in prod")
    page = product.page("/")
    for name in CLUSTERS:
        assert f"<b>{name}</b>" in page


def live_in(world: World, app: str, environment: str, version: str = "") -> bool | None:
    stage = world.product.get(f"apps/{app}")["environments"].get(environment)
    return True if stage and stage["is_live"] and version in stage["version"] else None


def promotion(world: World, pk: int) -> Any:
    return world.product.get(f"promotions/{pk}")


def state_is(world: World, pk: int, state: str, *, seconds: float = 120) -> Any:
    """The promotion once it is in that state; the failure shows its timeline."""
    try:
        return wait_for(
            lambda: found if (found := promotion(world, pk))["state"] == state else None, state, seconds=seconds
        )
    except AssertionError as error:
        raise AssertionError(f"{error}: {promotion(world, pk)}") from error


def difference(world: World, number: int) -> list[tuple[str, str]]:
    """(removed, added) lines of a pull request, as the forge has it."""
    text = world.difference(number)
    removed = [line[1:] for line in text.splitlines() if line.startswith("-") and not line.startswith("---")]
    added = [line[1:] for line in text.splitlines() if line.startswith("+") and not line.startswith("+++")]
    return list(zip(removed, added, strict=True))


def test_6_a_new_version_in_dev_becomes_a_one_line_pull_request(world: World) -> None:
    product = world.product
    world.commit(VERSION.format("dev"), "web:1.0.0", "web:1.1.0", "Web 1.1.0")
    wait_for(lambda: live_in(world, "web", "dev", "1.1.0"), "1.1.0 live in dev", seconds=120)
    releases = product.get("releases", app="web", environment="dev")["items"]
    assert releases[0]["version"] == "1.1.0"
    assert releases[0]["commits"][0]["subject"] == "Web 1.1.0"

    asked = {"app": "web", "from": "dev", "to": "staging"}
    plan = product.post("promotions", {**asked, "dry_run": True})["plan"]
    assert [(edit["file"], edit["old"], edit["new"]) for edit in plan["edits"]] == [
        (VERSION.format("staging"), "registry.example/web:1.0.0", "registry.example/web:1.1.0")
    ]
    opened = product.post("promotions", asked)
    found = state_is(world, opened["id"], "Open")
    again = product.post("promotions", asked)
    assert again["id"] == opened["id"]
    changed = difference(world, found["pull_request_number"])
    assert len(changed) == 1
    old, new = changed[0]
    assert new == old.replace("1.0.0", "1.1.0")
    assert "#" in new, "the comment on the line is kept"
    pulls = world.gitea.api("GET", f"/repos/{world.repository}/pulls?state=open")
    assert len(pulls) == 1
    world.notes["to_staging"] = found


def test_7_merged_it_is_followed_until_live_and_goes_on_to_prod(world: World) -> None:
    product = world.product
    found = world.notes["to_staging"]
    world.gitea.merge(world.repository, found["pull_request_number"])
    verified = state_is(world, found["id"], "Verified")
    assert [event["after"] for event in verified["events"]][-3:] == ["Merged", "RollingOut", "Verified"]
    applied = world.clusters["staging"].get("Kustomization", "flux-system", "apps")["status"]["lastAppliedRevision"]
    assert verified["targets"][0]["revision"] in applied

    opened = product.post("promotions", {"app": "web", "from": "staging", "to": "prod"})
    found = state_is(world, opened["id"], "Open")
    assert len(difference(world, found["pull_request_number"])) == 1
    world.clusters["prod-b"].end_controller("kustomize-controller")
    world.gitea.merge(world.repository, found["pull_request_number"])

    def first_is_live() -> Any:
        states = {target["cluster"]: target["state"] for target in promotion(world, found["id"])["targets"]}
        return True if states.get("prod-a") == "verified" else None

    wait_for(first_is_live, "prod-a live", seconds=120)
    halfway = promotion(world, found["id"])
    assert halfway["state"] == "RollingOut", "live on one of two is not live"
    world.clusters["prod-b"].start_controller("kustomize-controller")
    verified = state_is(world, found["id"], "Verified", seconds=180)
    assert {target["state"] for target in verified["targets"]} == {"verified"}
    assert live_in(world, "web", "prod", "1.1.0")


def test_8_a_broken_tag_is_named_everywhere_and_repaired(world: World) -> None:
    product = world.product
    world.commit(VERSION.format("dev"), "web:1.1.0", "web:1.2.0-broken", "Web 1.2.0")
    wait_for(lambda: product.get("apps/web")["environments"]["dev"]["version"] == "1.2.0-broken" or None, "the release")
    opened = product.post("promotions", {"app": "web", "from": "dev", "to": "staging"})
    found = state_is(world, opened["id"], "Open")
    world.gitea.merge(world.repository, found["pull_request_number"])
    state_is(world, found["id"], "Failed", seconds=240)

    def named() -> Any:
        # Flux names the objects unless its deadline falls between two looks; then its next attempt does.
        text = promotion(world, found["id"])["targets"][0]["text"]
        return text if "Deployment/web/web" in text else None

    wait_for(named, "the failing Deployment's name", seconds=120)
    objects = product.get("objects", cluster="staging", kind="Kustomization", name="apps")["items"]
    assert objects[0]["health"] == "Failing"
    assert "Deployment/web/web" in objects[0]["message"]
    cluster = product.get("clusters/staging")["status"]
    assert (cluster["standing"], "apps" in cluster["cause_object"]) == ("failing", True)
    assert "Deployment/web/web" in cluster["cause"] + objects[0]["explain"]["cause"]
    for page in ("/", "/clusters/staging/", "/problems/", f"/promotions/{found['id']}/"):
        assert "Deployment/web/web" in product.page(page), page

    world.commit(VERSION.format("dev"), "web:1.2.0-broken", "web:1.2.1", "Web 1.2.1")
    world.commit(VERSION.format("staging"), "web:1.2.0-broken", "web:1.2.1", "Repair staging")
    wait_for(lambda: live_in(world, "web", "staging", "1.2.1"), "the repair", seconds=180)
    state_is(world, found["id"], "Overtaken")


def test_9_a_stopped_cluster_grows_old_alone_and_comes_back(world: World) -> None:
    product = world.product
    world.clusters["prod-a"].stop_api_server()

    def is_old() -> Any:
        status = product.get("clusters/prod-a")["status"]
        return status if status["freshness"] != "Live" else None

    status = wait_for(is_old, "prod-a to grow old", seconds=120)
    assert status["standing"] in {"stale", "lost"}
    assert status["connection"] == "Unreachable"
    assert status["problem"]
    others = {item["name"]: item["status"] for item in product.get("clusters")["items"] if item["name"] != "prod-a"}
    assert {each["freshness"] for each in others.values()} == {"Live"}
    assert {each["standing"] for each in others.values()} == {"ready"}
    assert any(each["cluster"] == "prod-a" for each in product.get("problems")["silences"])
    assert not live_in(world, "web", "prod"), "what is not seen is not called live"
    world.clusters["prod-a"].restart_api_server()

    def is_back() -> Any:
        status = product.get("clusters/prod-a")["status"]
        return True if (status["freshness"], status["standing"]) == ("Live", "ready") else None

    wait_for(is_back, "prod-a to come back", seconds=180)
