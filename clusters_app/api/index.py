"""Where the API begins: what there is, and how it is read by a person."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
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


class Schema(SpectacularAPIView):
    authentication_classes = View.authentication_classes
    permission_classes = ()


def docs(request: HttpRequest) -> HttpResponse:
    """Every route, to read and to try out as the signed-in person."""
    return render(request, "api_docs.html")
