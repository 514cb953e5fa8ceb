"""What the OpenAPI document must be told, because it cannot be read off the views."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Bearer tokens: found by drf-spectacular as soon as this class exists."""

    target_class = "clusters_app.api.base.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        del auto_schema
        return {"type": "http", "scheme": "bearer", "bearerFormat": "flo_…"}
