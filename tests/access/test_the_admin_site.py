"""Django's admin site shows administrators every row and lets nobody change one."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from clusters_app import admin, models
from clusters_app.secret import Secret
from clusters_app.services.credentials import store_credential
from tests.access.world import World

MODELS = [User, *(getattr(models, name) for name in models.__all__)]


def page(model: Any, kind: str, **kwargs: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{kind}", kwargs=kwargs)


def test_it_knows_every_model() -> None:
    assert set(admin.site._registry) == set(MODELS)


def test_an_administrator_looks_at_rows_without_being_staff(world: World) -> None:
    person = world.person("maria", "admin")
    assert not person.is_staff
    browser = world.browser(person)
    assert browser.get("/admin/").status_code == 200
    for model in MODELS:
        assert browser.get(page(model, "changelist")).status_code == 200, model
        row = model.objects.first()
        if row is not None:
            assert browser.get(page(model, "change", object_id=row.pk)).status_code == 200, model


def test_nothing_is_changed_here(world: World) -> None:
    browser = world.browser(world.person("maria", "admin"))
    cluster = world.clusters["a-prod"]
    assert browser.get(page(models.Cluster, "add")).status_code == 403
    assert browser.get(page(models.Cluster, "delete", object_id=cluster.pk)).status_code == 403
    for kind, kwargs in (("change", {"object_id": cluster.pk}), ("delete", {"object_id": cluster.pk}), ("add", {})):
        assert browser.post(page(models.Cluster, kind, **kwargs), {"name": "other"}).status_code == 405
    assert browser.post(page(models.Cluster, "changelist"), {"action": "delete_selected"}).status_code == 405
    assert b"delete_selected" not in browser.get(page(models.Cluster, "changelist")).content


@pytest.mark.parametrize(("role", "places"), [("operator", ()), ("admin", ("a-prod",))])
def test_nobody_else_gets_in(world: World, role: str, places: tuple[str, ...]) -> None:
    person = world.person("otto", role, *places)
    assert world.browser(person).get("/admin/").status_code == 403
    person.is_staff = person.is_superuser = True
    person.save()
    assert world.browser(person).get("/admin/").status_code == 403
    assert world.browser(None).get("/admin/")["Location"].startswith("/sign-in/")


def test_no_secret_is_shown(world: World) -> None:
    maria = world.person("maria", "admin")
    maria.set_password("correct horse battery")
    maria.save()
    browser = world.browser(maria)
    world.token(maria)
    token = models.APIToken.objects.get()
    credential = store_credential(owner_kind="cluster", owner_id=1, field="token", host="h", value=Secret("s3cr3t"))
    shown = {
        browser.get(page(models.APIToken, "change", object_id=token.pk)).text: token.digest,
        browser.get(page(models.Credential, "change", object_id=credential.pk)).text: "s3cr3t",
        browser.get(page(User, "change", object_id=maria.pk)).text: maria.password,
    }
    for text, secret in shown.items():
        assert secret not in text
    for model, fields in admin.HIDDEN.items():
        assert all(model._meta.get_field(name) for name in fields)
