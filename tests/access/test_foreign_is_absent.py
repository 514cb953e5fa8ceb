"""What belongs to a foreign environment looks as if it did not exist: the same status, the same words, in no count."""

from typing import Any

import pytest

from clusters_app.models import APIToken, Promotion
from tests.access.world import World, problem_of

API = "/api/v1"


@pytest.fixture
def mine(world: World) -> Any:
    """An administrator, but of the own environments alone."""
    return world.script(world.person("anna", "admin", "a-dev", "a-prod"))


def pairs(world: World) -> list[tuple[str, str]]:
    """Address of something foreign, and the same address with something that nobody has."""
    promotion, row = world.promotions["b-prod"].pk, world.objects["b-prod"].pk
    return [
        ("/environments/b-prod", "/environments/absent"),
        ("/clusters/b-prod", "/clusters/absent"),
        ("/repositories/foreign-fleet", "/repositories/absent"),
        ("/repositories/foreign-fleet/reviews", "/repositories/absent/reviews"),
        ("/repositories/fleet/reviews/2", "/repositories/fleet/reviews/77"),
        ("/repositories/fleet/reviews/3", "/repositories/fleet/reviews/77"),
        (f"/objects/{row}", "/objects/999999"),
        (f"/promotions/{promotion}", "/promotions/999999"),
        (f"/operations/{world.operation.pk}", "/operations/999999"),
        (f"/tokens/{APIToken.objects.get(user__username='somebody').pk}", "/tokens/999999"),
    ]


def test_reading_a_foreign_thing_is_reading_nothing(world: World, mine: Any) -> None:
    world.token(world.person("somebody", "viewer"))
    for foreign, absent in pairs(world):
        found, nothing = mine.get(API + foreign), mine.get(API + absent)
        assert found.status_code == 404, foreign
        assert problem_of(found) == problem_of(nothing)


@pytest.mark.parametrize(
    ("foreign", "absent"),
    [
        ("/clusters/b-prod/refresh", "/clusters/absent/refresh"),
        ("/clusters/b-prod/token", "/clusters/absent/token"),
        ("/repositories/foreign-fleet/refresh", "/repositories/absent/refresh"),
        ("/repositories/fleet/reviews/2/merge", "/repositories/fleet/reviews/77/merge"),
        ("/repositories/fleet/reviews/3/close", "/repositories/fleet/reviews/77/close"),
        ("/promotions/FOREIGN/abort", "/promotions/999999/abort"),
        ("/promotions/FOREIGN/retry", "/promotions/999999/retry"),
    ],
)
def test_acting_on_a_foreign_thing_is_acting_on_nothing(world: World, mine: Any, foreign: str, absent: str) -> None:
    foreign = foreign.replace("FOREIGN", str(world.promotions["b-prod"].pk))
    found = mine.post(API + foreign, {}, content_type="application/json")
    nothing = mine.post(API + absent, {}, content_type="application/json")
    assert found.status_code == nothing.status_code == 404
    assert problem_of(found) == problem_of(nothing)


@pytest.mark.parametrize("field", ["environment", "repository"])
def test_a_foreign_name_in_a_body_is_refused_as_an_unknown_one(world: World, mine: Any, field: str) -> None:
    body = {
        "name": "x",
        "environment": "a-prod",
        "repository": "fleet",
        "sync_path": "x",
        "token": "x",
    }
    foreign = {"environment": "b-prod", "repository": "foreign-fleet"}[field]
    found = mine.post(f"{API}/clusters", {**body, field: foreign}, content_type="application/json")
    nothing = mine.post(f"{API}/clusters", {**body, field: "absent"}, content_type="application/json")
    assert found.status_code == nothing.status_code == 422
    assert str(problem_of(found)).replace(foreign, "absent") == str(problem_of(nothing))


@pytest.mark.parametrize("field", ["from", "to"])
def test_a_promotion_names_no_foreign_environment(world: World, mine: Any, field: str) -> None:
    body = {"app": "web", "from": "a-dev", "to": "a-prod", "dry_run": True}
    found = mine.post(f"{API}/promotions", {**body, field: "b-prod"}, content_type="application/json")
    nothing = mine.post(f"{API}/promotions", {**body, field: "absent"}, content_type="application/json")
    assert found.status_code == nothing.status_code == 422
    assert str(problem_of(found)).replace("b-prod", "absent") == str(problem_of(nothing))


@pytest.mark.parametrize(
    "address",
    [
        "/fleet", "/environments", "/repositories", "/clusters", "/objects", "/problems", "/apps", "/apps/web",
        "/releases", "/promotions", "/repositories/fleet/reviews", "/clusters?environment=b-prod",
        "/objects?cluster=b-prod", "/promotions?to=b-prod", "/releases?environment=b-prod", "/clusters?q=b-",
    ],
)  # fmt: skip
def test_no_list_and_no_count_knows_of_it(world: World, mine: Any, address: str) -> None:
    for promotion in Promotion.objects.all():
        promotion.problem = f"a problem of {promotion.target}"
        promotion.save()
    text = mine.get(API + address).content.decode()
    assert "b-prod" not in text.replace(f'"cursor":"{address}"', "")
    assert "b-alone" not in text
    assert "foreign-fleet" not in text


def test_counts_are_of_what_is_seen(world: World, mine: Any) -> None:
    fleet = mine.get(f"{API}/fleet").json()
    assert fleet["clusters"] == 3
    assert fleet["counts"]["total"] == 3
    assert len(mine.get(f"{API}/repositories/fleet/reviews").json()["items"]) == 1


@pytest.mark.parametrize("page", ["/", "/problems/", "/apps/", "/promotions/", "/repositories/", "/search/?q=prod"])
def test_no_page_knows_of_it(world: World, page: str) -> None:
    text = world.browser(world.person("anna", "admin", "a-dev", "a-prod")).get(page).text
    assert "a-prod" in text or page == "/repositories/"
    assert "b-prod" not in text
    assert "foreign-fleet" not in text


def test_a_foreign_review_is_no_page(world: World) -> None:
    browser = world.browser(world.person("anna", "admin", "a-dev", "a-prod"))
    assert browser.get("/repositories/fleet/reviews/2/").status_code == 404
    assert browser.post("/repositories/fleet/reviews/2/merge/").status_code == 404
    assert "Change 2" not in browser.get("/repositories/fleet/").text
