"""Django's admin site as a read-only window on every row, for administrators: to look, never to change.

Whoever may administer everywhere gets in; being staff or superuser does not count, and no account of Flotilla is one.
Writes go through services, which record them; this site has none. Nothing that is secret is shown.
"""

from typing import Any

from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.auth.models import User
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _

from clusters_app import models
from clusters_app.queries import can

#: Fields that nobody sees here: what a credential is, and digests by which a token or link could be recognised.
HIDDEN: dict[type[Model], tuple[str, ...]] = {
    User: ("password",),
    models.APIToken: ("digest",),
    models.Credential: ("sealed",),
    models.IdempotencyKey: ("body", "request_digest"),
    models.SignInLink: ("digest",),
}


class FlotillaAdmin(AdminSite):
    site_header = site_title = "Flotilla"
    index_title = _("Every row, to look at")
    site_url = "/"

    def has_permission(self, request: HttpRequest) -> bool:
        return can(request.user, "administer")

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """There is one way to sign in. The access table lets nobody come this far who is not."""
        del request, extra_context
        return redirect("sign-in")

    def password_change(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """There is one page for it, too."""
        del request, extra_context
        return redirect("account")


class Window(ModelAdmin[Model]):
    """All fields of a model, none to edit."""

    show_full_result_count = False
    list_per_page = 50

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return can(request.user, "administer")

    has_module_permission = has_view_permission

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_exclude(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return HIDDEN.get(self.model, ())


site = FlotillaAdmin(name="admin")
site.register([User, *(getattr(models, name) for name in models.__all__)], Window)
