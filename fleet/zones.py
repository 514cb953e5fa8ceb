"""Times are shown in the viewer's zone, which the page's script puts into a cookie; UTC until then."""

from collections.abc import Callable
from zoneinfo import ZoneInfo, available_timezones

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

ZONE_COOKIE = "zone"


class ViewerZoneMiddleware:
    """Renders each answer in the zone that the cookie names, an IANA name such as Europe/Moscow."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.known = available_timezones()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        name = request.COOKIES.get(ZONE_COOKIE, "")
        with timezone.override(ZoneInfo(name) if name in self.known else None):
            return self.get_response(request)
