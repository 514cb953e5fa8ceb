"""Every page of a fleet with a cluster in every standing: its facts, in words, and green only where it is earned."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from clusters_app.models import ClusterStatus, Promotion

from .fleet_rows import PROMOTIONS, add_clusters

pytestmark = pytest.mark.django_db

FACTS = {
    "/": (
        "10 clusters",
        "prod-d",
        "Stale for 7 min",
        "Lost for 41 min",
        "1 commit",
        "12 last known",
        "HelmRelease/ingress",
    ),
    "/?view=grid": ('title="prod-d: Failing"', 'title="dev: Ready"'),
    "/?standing=failing": ("staging-us", "prod-d"),
    "/?label=region%3Deu": ("prod-a", "region=eu"),
    "/problems/": ("2 causes", "does not trust registry.example", "1 object waits for it", "refuses connections"),
    "/apps/": ("cert-manager", "live on 2", "failing on staging-us", "#214", "Promote →"),
    "/apps/?gap=moving": ("billing",),
    "/apps/web/": ("1.18.3", "Fix basket total rounding"),
    "/promotions/": ("#221", "Rolling out", "maria"),
    "/promotions/?state=Failed": ("ingress",),
    "/repositories/": ("https://git.example/platform/fleet.git", "7c1e90f"),
    "/repositories/fleet/": ("clusters/prod/apps/web", "prod-new"),
    "/repositories/fleet/scaffold/": ("prod-d prod clusters/prod/prod-d",),
    "/clusters/prod-d/": ("Kustomization/flux-system/search", "tag 0.43.l does not exist", "helm-controller"),
    "/clusters/prod-b/": ("cannot be narrowed",),
    "/clusters/prod-e/": ("Unreachable", "refuses connections"),
    "/clusters/prod-new/": ("Not read yet", "No object was read yet"),
    "/clusters/prod-d/Kustomization/flux-system/search/": ("kubectl -n web describe", "HealthCheckFailed", "billing"),
    "/clusters/prod-c/HelmRelease/flux-system/search/": ("suspended",),
    "/settings/environments/": ("production", "Earlier"),
    "/settings/people/": ("maria", "Administrator", "everywhere"),
    "/system/": ("Flotilla", "sqlite"),
    "/search/?q=prod": ("prod-a", "prod-new"),
    "/clusters/prod-d/remove/": ("Type prod-d to confirm",),
    "/repositories/fleet/reviews/221/": ("Promote api 1.18.3 to prod", "Merge"),
}


@pytest.mark.parametrize("page", FACTS)
def test_a_page_tells_its_facts(maria: Client, page: str) -> None:
    response = maria.get(page)
    assert response.status_code == 200
    for fact in FACTS[page]:
        assert fact in response.text


def test_every_state_of_a_promotion_has_a_page(maria: Client) -> None:
    for promotion in Promotion.objects.all():
        response = maria.get(promotion.get_absolute_url())
        assert response.status_code == 200, promotion.state
        assert str(promotion.get_state_display()) in response.text
    assert Promotion.objects.count() == len(PROMOTIONS)


REFRESHING = ("/", "/problems/", "/apps/", "/apps/web/", "/promotions/2/", "/clusters/prod-d/")


@pytest.mark.parametrize("page", REFRESHING)
def test_a_page_refreshes_itself_by_its_own_address(maria: Client, page: str) -> None:
    whole = maria.get(page).text
    assert f'hx-get="{page}"' in whole
    fragment = maria.get(page, headers={"HX-Request": "true"})
    assert fragment.status_code == 200
    assert "<html" not in fragment.text
    assert "hx-get" not in fragment.text
    title = re.search(r"<h1>.*?</h1>", whole, re.DOTALL)
    assert title
    assert title[0] in fragment.text


GROWING = ("/", "/?view=grid", "/problems/", "/apps/", "/apps/web/", "/repositories/fleet/", "/settings/environments/")


@pytest.mark.parametrize("page", GROWING)
def test_a_page_asks_no_more_of_the_database_for_more_clusters(maria: Client, page: str) -> None:
    with CaptureQueriesContext(connection) as few:
        maria.get(page)
    add_clusters(27, timezone.now())
    with CaptureQueriesContext(connection) as many:
        maria.get(page)
    assert len(many) == len(few)
    assert len(few) < 30


def rows_of(text: str) -> dict[str, str]:
    """The rows of the fleet's tables by the name of their cluster."""
    found = re.findall(r"<tr>(.*?)</tr>", text, re.DOTALL)
    return {name[1]: row for row in found if (name := re.search(r"<b>([\w-]+)</b>", row))}


def test_only_what_was_seen_lately_is_green(maria: Client) -> None:
    rows = rows_of(maria.get("/").text)
    green = {name for name, row in rows.items() if "verdict ready" in row or "draw-ready" in row}
    assert green == {"dev", "staging-eu", "staging-us", "prod-a", "prod-b", "prod-c", "prod-d"}
    for name in ("prod-e", "prod-f"):
        assert "verdict unseen" in rows[name]
    assert "verdict none" in rows["prod-new"]
    assert 'verdict ready"' not in rows["prod-d"] + rows["staging-us"]


def test_when_nobody_looks_any_more_nothing_stays_green(maria: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    later = timezone.now() + timedelta(minutes=10)
    monkeypatch.setattr(timezone, "now", lambda: later)
    fleet = maria.get("/").text
    assert "Nobody observes the fleet" in fleet
    for name, row in rows_of(fleet).items():
        assert not re.search("(verdict|draw-)[ ]?ready", row), name
    for page in ("/clusters/dev/", "/clusters/prod-a/Kustomization/flux-system/web/"):
        assert "verdict ready" not in maria.get(page).text
    for row in rows_of(maria.get("/apps/").text).values():
        assert "draw-ready" not in row


def test_what_a_lost_cluster_last_said_is_not_shown_as_true(maria: Client) -> None:
    text = maria.get("/clusters/prod-f/").text
    assert "verdict ready" not in text
    assert "Ready, not seen lately" in text


def test_a_signal_is_never_only_a_colour(maria: Client) -> None:
    """Every drawn sign carries its words."""
    for page in ("/", "/apps/", "/promotions/2/", "/clusters/prod-d/"):
        for svg in re.findall(r"<svg class=\"(?:rail|bars|pips)\"[^>]*>", maria.get(page).text):
            assert re.search(r'aria-label="[^"]+"', svg), svg


def test_a_page_of_1000_clusters_is_one_answer(maria: Client) -> None:
    add_clusters(990, timezone.now())
    response = maria.get("/")
    assert response.text.count('href="/clusters/edge-') == 990
    assert "<table" not in response.text, "a grid, so that it stays one screen"


def test_a_cluster_that_missed_rounds_is_not_green_though_it_was_seen_a_moment_ago(maria: Client) -> None:
    ClusterStatus.objects.filter(cluster__name="prod-a").update(failures=2)
    before = maria.get("/").text
    row = rows_of(before)["prod-a"]
    assert "Late for 3 s" in row
    assert not re.search("(verdict|draw-) ?ready", row)
    assert "12 last known" in row
