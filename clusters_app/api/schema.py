"""How the OpenAPI document comes to say what is true of every route: problems, ETags, keys, and how to sign in."""

from typing import Any

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers

from clusters_app.access.words import MEDIA_TYPE


class ProblemShape(serializers.Serializer[Any]):
    """An error (RFC 9457). `code` is stable; `field` names the input at fault; `remedy` says what to do."""

    type = serializers.CharField()
    status = serializers.IntegerField()
    title = serializers.CharField()
    code = serializers.CharField()
    detail = serializers.CharField()
    remedy = serializers.CharField(required=False)
    field = serializers.CharField(required=False)
    errors = serializers.DictField(  # type: ignore[assignment]
        required=False, help_text="every field at fault with its texts"
    )


def _header(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, str, OpenApiParameter.HEADER, required=False, description=description)


_HEADERS = {
    "GET": [_header("If-None-Match", "ETag of what you have: 304 when it is still so")],
    "POST": [_header("Idempotency-Key", "Any text of your own: sent again with it, the request is done once")],
    "DELETE": [],
}
IF_MATCH = _header("If-Match", "ETag of the state that you mean to change: 412 when it is another by now")


class Described(AutoSchema):
    """Names without our suffix; the headers and the problem that every route has."""

    def get_override_parameters(self) -> list[Any]:
        return [*super().get_override_parameters(), *_HEADERS.get(self.method, [])]

    def get_serializer_name(self, serializer: Any, direction: Any) -> str:
        return str(super().get_serializer_name(serializer, direction)).removesuffix("Shape")

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        found: dict[str, Any] = super()._get_response_bodies(direction)
        if direction == "response":
            found["default"] = self._get_response_for_code(  # type: ignore[no-untyped-call]
                OpenApiResponse(ProblemShape, description="A problem"), "default", media_types=[MEDIA_TYPE]
            )
            if self.method == "GET":
                found["304"] = {"description": "Nothing has changed"}
        return found

    def get_operation_id(self) -> str:
        """Words of the path and what is done: clusters_list, clusters_read, clusters_create, clusters_refresh."""
        steps = self.path.removeprefix("/api/v1").strip("/").split("/")
        words = [step.replace("-", "_").replace(".", "_") for step in steps if step and not step.startswith("{")]
        return "_".join([*words, *self._done(steps)]) if words else "index"

    def _done(self, steps: list[str]) -> list[str]:
        if self.method == "GET":
            is_list = "cursor" in {parameter["name"] for parameter in self._get_parameters()}
            return ["list"] if is_list else ["read"]
        if self.method == "POST":
            return ["create"] if len(steps) == 1 else []
        return [self.method.lower()]

    def get_auth(self) -> list[dict[str, list[str]]]:
        return [{"token": []}, {"session": []}]


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "clusters_app.api.base.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        del auto_schema
        return {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "flo_…",
            "description": "An API token: Settings → Tokens",
        }


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "clusters_app.api.base.CookieSession"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        del auto_schema
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": settings.SESSION_COOKIE_NAME,
            "description": "The session of the pages; writes need X-CSRFToken as well",
        }
