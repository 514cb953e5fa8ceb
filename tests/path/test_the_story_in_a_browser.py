"""The same thread as a person goes it: every step by clicking in a browser, with a picture of each kept to look at.

Real Kubernetes, real Flux, a real forge, real workers and beat. Only what happens outside of the product (commits,
merges, clusters that stop) is done behind the browser's back.
"""

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from .test_the_thread import difference
from .world import CLUSTERS, VERSION, World

pytestmark = [pytest.mark.testbed, pytest.mark.parametrize("world", ["browser"], indirect=True, scope="module")]

PICTURES = Path(__file__).resolve().parents[2] / "test-output" / "story"
SOON, LATER, LONG = 30_000, 120_000, 240_000


class Story:
    """One browser window on the product, and the numbered pictures that it leaves."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        self.complaints: list[str] = []
        self._numbers = itertools.count(1)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)

    def go(self, path: str) -> None:
        self.page.goto(self.url + path)

    def keep(self, name: str) -> None:
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{next(self._numbers):02}-{name}.png", full_page=True)

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def follow(self, name: str, *, where: Locator | None = None) -> None:
        (where or self.page).get_by_role("link", name=name, exact=True).first.click()

    def fill(self, label: str, text: str) -> None:
        self.page.get_by_label(label, exact=True).fill(text)

    def sees(self, text: str | re.Pattern[str], *, within: int = SOON) -> None:
        expect(self.page.locator("main")).to_contain_text(text, timeout=within)

    def row(self, name: str) -> Locator:
        """The row of a table whose head is this name."""
        return self.page.get_by_role("row").filter(
            has=self.page.get_by_role("rowheader", name=re.compile(rf"^{name}\b"))
        )


@pytest.fixture(scope="module")
def story(world: World, browser: Browser) -> Iterator[Story]:
    context = browser.new_context(viewport={"width": 1440, "height": 1000}, locale="en")
    yield Story(context.new_page(), world.product.url)
    context.close()


def test_1_sign_in_by_the_link_and_order_the_environments(world: World, story: Story) -> None:
    story.page.goto(world.product.link)
    story.press("Sign in")
    story.fill("New password", "a long enough passphrase")
    story.keep("signed-in")
    story.press("Set password")
    story.sees("Three steps lead there")
    story.keep("empty-fleet")
    story.follow("1. Environments")
    for name in ("staging", "dev", "prod"):
        story.fill("Name", name)
        story.press("Add")
        story.sees(name)
    story.page.get_by_role("button", name="Earlier: dev").click()
    expect(story.page.locator("ol.rows b")).to_have_text(["dev", "staging", "prod"])
    story.keep("environments")
    story.page.goto(world.product.link)
    story.press("Sign in")
    story.sees("was used already")


def test_2_add_the_empty_repository_with_a_checked_token(world: World, story: Story) -> None:
    gitea = world.gitea
    gitea.create_repository(world.person, "fleet")
    world.repository = f"{world.person.name}/fleet"

    def add(token: str) -> None:
        story.go("/repositories/add/")
        story.fill("Name", "fleet")
        story.fill("URL", world.clone_url)
        story.fill("User name", world.person.name)
        story.fill("Token", token)
        story.fill("Certificate authority of the host (PEM), when it is a private one", gitea.ca_pem)
        story.press("Check and add")

    add(gitea.token(world.person, scopes=("read:repository",)))
    story.sees("Nothing was stored")
    story.keep("repository-refused")
    world.token = gitea.token(world.person, scopes=("write:repository", "write:issue", "read:user"))
    add(world.token)
    expect(story.page.get_by_role("link", name="Go on")).to_be_visible(timeout=SOON)
    story.keep("repository-checked")
    story.follow("Go on")
    story.sees("The repository is empty")
    story.keep("repository-empty")


def test_3_scaffold_as_a_pull_request_that_a_person_merges(world: World, story: Story) -> None:
    story.follow("Scaffold")
    story.sees("clusters/dev/apps/web/version.yaml")
    story.keep("scaffold-form")
    story.page.get_by_text("As JSON", exact=True).click()
    story.fill("All answers as JSON", json.dumps(world.answers(), indent=1))
    story.sees("flux bootstrap gitea")
    story.sees("podlet")
    story.keep("scaffold-preview")
    story.press("Open pull request")
    going_on = story.page.get_by_role("link", name="Go on")
    expect(going_on).to_be_visible(timeout=SOON)
    story.keep("scaffold-opened")
    commands = story.page.locator(".copy pre").all_text_contents()
    paths = [found[1] for command in commands if (found := re.search(r"--path[= ]\"?([^\s\"]+)", command))]
    world.paths = {name: next(path for path in paths if path.endswith(f"/{name}")) for name in CLUSTERS}
    world.gitea.merge(world.repository, _number(going_on.get_attribute("href")))
    story.go("/repositories/fleet/")
    _reload_until(story, "clusters/prod/apps/web")
    story.keep("repository-scaffolded")


def test_4_register_four_clusters_and_refuse_what_must_not_be_taken(world: World, story: Story) -> None:
    story.go("/clusters/register/")
    manifest = story.page.locator(".copy pre").first.text_content() or ""
    for cluster in world.clusters.values():
        cluster.apply(manifest)
    dev = world.clusters["dev"]

    def register(name: str, *, token: str = "", ca_pem: str = "", server: str = "") -> None:
        cluster = world.clusters[name]
        story.go("/clusters/register/")
        story.fill("Name", name)
        story.page.get_by_label("Environment", exact=True).select_option(CLUSTERS[name])
        story.page.get_by_label("Repository", exact=True).select_option("fleet")
        story.fill("Sync path", world.paths[name])
        story.fill("API server", server or cluster.server)
        story.fill("Its certificate authority (PEM)", ca_pem or cluster.ca_pem)
        story.fill("Token of the read role", token or cluster.token_for("flotilla-reader", "flotilla-system"))
        story.press("Check and register")

    register("dev", token=dev.admin_token)
    story.sees("The credential can do too much")
    story.sees("Nothing was stored")
    story.keep("register-refused-rights")
    register("dev", ca_pem=world.gitea.ca_pem)
    story.sees("Nothing was stored")
    story.keep("register-refused-authority")
    register("dev", server=dev.server.replace("127.0.0.1", "127.0.0.9"))
    story.sees("Nothing was stored")
    story.keep("register-refused-host")
    for name in CLUSTERS:
        register(name)
        expect(story.page.get_by_role("link", name="Go on")).to_be_visible(timeout=SOON)
    story.keep("registered")
    story.go("/")
    for name in CLUSTERS:
        expect(story.row(name)).to_be_visible()
    story.keep("fleet-before-flux")


def test_5_flux_makes_the_apps_ready_and_the_pages_say_so(world: World, story: Story) -> None:
    for name in CLUSTERS:
        world.bootstrap(name)
    for cluster in world.clusters.values():
        cluster.wait_for("Kustomization", "flux-system", "apps", "Ready", timeout_seconds=240)
        cluster.wait_for("HelmRelease", "podlet", "podlet", "Ready", timeout_seconds=60)
    for name in CLUSTERS:
        expect(story.row(name).locator(".verdict.ready")).to_be_visible(timeout=SOON)
    story.keep("fleet-ready")
    story.follow("prod-a")
    story.sees("podlet")
    expect(story.page.locator("svg.rail[aria-label='reached: healthy']")).to_be_visible()
    story.keep("cluster-ready")
    story.page.get_by_role("link", name="apps", exact=True).first.click()
    story.sees("Document")
    story.keep("object-ready")


def test_6_a_new_version_in_dev_becomes_a_one_line_pull_request(world: World, story: Story) -> None:
    world.commit(VERSION.format("dev"), "web:1.0.0", "web:1.1.0", "Web 1.1.0")
    story.go("/apps/")
    dev = story.row("web").locator("td[data-label=dev]")
    expect(dev).to_contain_text("1.1.0", timeout=LATER)
    expect(dev).to_contain_text("live", timeout=LATER)
    story.keep("apps-with-a-gap")
    story.row("web").get_by_role("link", name="Promote →").click()
    story.sees("registry.example/web:1.1.0")
    story.sees("1 value, 1 line, 1 cluster")
    story.keep("plan")
    story.press("Open pull request")
    changed = difference(world, _opened(story))
    story.keep("promotion-open")
    assert len(changed) == 1
    old, new = changed[0]
    assert new == old.replace("1.0.0", "1.1.0")
    assert "#" in new, "the comment on the line is kept"


def test_7_merged_it_is_followed_until_live_and_goes_on_to_prod(world: World, story: Story) -> None:
    world.gitea.merge(world.repository, _opened(story))
    _state_is(story, "Verified", within=LATER)
    story.keep("verified-on-staging")
    story.go("/apps/")
    gap = story.row("web").locator("td.gap").last
    gap.get_by_role("link", name="Promote →").click()
    story.sees("1 value, 1 line, 2 clusters")
    story.press("Open pull request")
    number = _opened(story)
    world.clusters["prod-b"].end_controller("kustomize-controller")
    world.gitea.merge(world.repository, number)
    expect(story.row("prod-a").locator(".verdict.ready")).to_be_visible(timeout=LATER)
    _state_is(story, "Rolling out")
    story.keep("live-on-one-of-two")
    world.clusters["prod-b"].start_controller("kustomize-controller")
    _state_is(story, "Verified", within=LONG)
    story.keep("verified-on-prod")


def test_8_a_broken_tag_is_named_everywhere_and_repaired(world: World, story: Story) -> None:
    world.commit(VERSION.format("dev"), "web:1.1.0", "web:1.2.0-broken", "Web 1.2.0")
    story.go("/apps/")
    gap = story.row("web").locator("td.gap").first
    gap.get_by_role("link", name="Promote →").click(timeout=LATER)
    story.press("Open pull request")
    world.gitea.merge(world.repository, _opened(story))
    promotion = story.page.url.removeprefix(story.url)
    _state_is(story, "Failed", within=LONG)
    for name, path in {
        "promotion-failed": promotion,
        "fleet-failing": "/",
        "cluster-failing": "/clusters/staging/",
        "problems": "/problems/",
        "object-failing": "/clusters/staging/Kustomization/flux-system/apps/",
    }.items():
        story.go(path)
        story.sees("Deployment/web/web")
        story.keep(name)
    world.commit(VERSION.format("dev"), "web:1.2.0-broken", "web:1.2.1", "Web 1.2.1")
    world.commit(VERSION.format("staging"), "web:1.2.0-broken", "web:1.2.1", "Repair staging")
    story.go("/")
    expect(story.row("staging").locator(".verdict.ready")).to_be_visible(timeout=LONG)
    story.go(promotion)
    _state_is(story, "Overtaken", within=SOON)
    story.keep("repaired")


def test_9_a_stopped_cluster_grows_old_alone_and_comes_back(world: World, story: Story) -> None:
    story.go("/")
    world.clusters["prod-a"].stop_api_server()
    expect(story.row("prod-a").locator(".verdict.unseen")).to_be_visible(timeout=LATER)
    expect(story.row("prod-a").locator(".verdict.ready")).to_have_count(0)
    for name in ("dev", "staging", "prod-b"):
        expect(story.row(name).locator(".verdict.ready")).to_be_visible()
    story.keep("one-cluster-stopped")
    story.go("/problems/")
    story.sees("prod-a")
    story.keep("problems-stopped")
    world.clusters["prod-a"].restart_api_server()
    story.go("/")
    expect(story.row("prod-a").locator(".verdict.ready")).to_be_visible(timeout=LONG)
    story.keep("back-again")
    assert not [said for said in story.complaints if "422" not in said], "the browser complained"


def _number(url: str | None) -> int:
    """A pull request by its address."""
    found = re.search(r"(\d+)/?$", url or "")
    assert found, url
    return int(found[1])


def _opened(story: Story) -> int:
    """The number of the pull request that the promotion's page links to, once there is one."""
    link = story.page.get_by_role("link", name=re.compile(r"^Pull request #"))
    expect(link).to_be_visible(timeout=LATER)
    return _number(link.get_attribute("href"))


def _state_is(story: Story, words: str, *, within: int = SOON) -> None:
    expect(story.page.locator(".head .verdict")).to_have_text(words, timeout=within)


def _reload_until(story: Story, text: str) -> None:
    """A page that does not refresh itself, asked again until it shows this."""
    for _attempt in range(30):
        if story.page.get_by_text(text).count():
            return
        story.page.wait_for_timeout(1000)
        story.page.reload()
    story.sees(text)
