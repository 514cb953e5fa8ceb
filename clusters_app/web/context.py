"""What every page is given: the navigation with its counts, the theme, the moment."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from clusters_app.queries import can, can_somewhere
from clusters_app.queries.problems import count_of_problems

THEMES = ("light", "dark")


def page_context(request: HttpRequest) -> dict[str, Any]:
    theme = request.COOKIES.get("theme", "")
    context: dict[str, Any] = {"theme": theme if theme in THEMES else "", "now": timezone.now()}
    if request.user.is_authenticated:
        context["navigation"] = _navigation(request)
    return context


def _navigation(request: HttpRequest) -> list[dict[str, Any]]:
    user = request.user
    entries = [
        ("fleet", _("Fleet"), ("fleet", "cluster", "object"), True, 0),
        ("problems", _("Problems"), ("problems",), True, count_of_problems(user)),
        ("apps", _("Apps"), ("app", "promote"), True, 0),
        ("promotions", _("Promotions"), ("promotion",), True, 0),
        ("repositories", _("Repositories"), ("repositor", "scaffold", "review"), True, 0),
        ("activity", _("Activity"), ("activity",), can(user, "operate"), 0),
        (
            "settings",
            _("Settings"),
            ("settings", "environments", "people", "tokens", "system"),
            can_somewhere(user, "edit"),
            0,
        ),
    ]
    name = request.resolver_match.url_name or "" if request.resolver_match else ""
    return [
        {"url": reverse(route), "label": label, "is_current": name.startswith(prefixes), "count": count}
        for route, label, prefixes, is_shown, count in entries
        if is_shown
    ]
