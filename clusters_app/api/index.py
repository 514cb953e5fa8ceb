"""Where the API begins: what there is, and how it is read by a person."""

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
from django.utils.translation import get_language
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from clusters_app.access.table import API

from .base import View


class IndexShape(serializers.Serializer[Any]):
    version = serializers.CharField()
    person = serializers.CharField()
    resources = serializers.DictField(child=serializers.CharField(), help_text="name → address")


class Index(View):
    @extend_schema(responses=IndexShape)
    def get(self, request: Request) -> Response:
        """The lists and documents that there are, and who you are to them."""
        return Response({"version": "v1", "person": self.person.username, "resources": _resources()})


def _resources() -> dict[str, str]:
    found = {}
    for name, entry in API.items():
        if "GET" in entry and name != "api-index":
            try:
                found[name.removeprefix("api-")] = reverse(name)
            except NoReverseMatch:
                continue  # it names one thing, which the lists lead to
    return found


class OncePerLanguage(SchemaGenerator):
    """The document is the same for everybody and takes a quarter of a second to make; its words are translated."""

    made: ClassVar[dict[str | None, Any]] = {}

    def get_schema(self, request: Any = None, public: bool = False) -> Any:
        language = get_language()
        if language not in self.made:
            self.made[language] = super().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
        return self.made[language]


class Schema(SpectacularAPIView):
    generator_class = OncePerLanguage
    authentication_classes = View.authentication_classes
    permission_classes = ()


def docs(request: HttpRequest) -> HttpResponse:
    """Every route, to read and to try out as the signed-in person."""
    return render(request, "api_docs.html")
