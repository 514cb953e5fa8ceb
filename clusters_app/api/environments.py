"""Environments in their promotion order."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from clusters_app.models import Environment
from clusters_app.queries import environments_visible_to
from clusters_app.services import environments

from .base import Strict, View
from .etags import refuse_if_changed
from .once import once
from .paging import PageQuery, in_order, page_of
from .schema import IF_MATCH


class EnvironmentShape(serializers.ModelSerializer[Environment]):
    class Meta:
        model = Environment
        fields = ("name", "position", "is_production")


class NewEnvironmentShape(Strict):
    name = serializers.CharField(max_length=63)
    is_production = serializers.BooleanField(
        required=False, allow_null=True, default=None, help_text="judged by the name when left out"
    )


class EnvironmentOrderShape(Strict):
    names = serializers.ListField(
        child=serializers.CharField(max_length=63), max_length=100, help_text="all of them, first to receive first"
    )


class Environments(View):
    @extend_schema(parameters=[PageQuery], responses=page_of(EnvironmentShape))
    def get(self, request: Request) -> Response:
        """In promotion order."""
        return self._listed(self.asked(PageQuery))

    def _listed(self, asked: dict[str, Any]) -> Response:
        rows = list(environments_visible_to(self.request.user))
        return in_order(asked, rows, EnvironmentShape, lambda row: row.position)

    @extend_schema(request=NewEnvironmentShape, responses={201: EnvironmentShape})
    @once
    def post(self, request: Request) -> Response:
        """A new one at the end of the order."""
        made = environments.create_environment(**self.body(NewEnvironmentShape), actor=self.actor)
        response = Response(EnvironmentShape(made).data, status=201)
        response["Location"] = f"/api/v1/environments/{made.name}"
        return response


class EnvironmentOrder(View):
    @extend_schema(request=EnvironmentOrderShape, responses=page_of(EnvironmentShape), parameters=[IF_MATCH])
    @once
    def post(self, request: Request) -> Response:
        """Set the whole promotion order. `If-Match` is the ETag of the list of environments."""
        everything = {"limit": 500, "cursor": "", "fields": ""}
        listed = Environments(request=request)._listed
        refuse_if_changed(request, listed(everything).data)
        environments.order_environments(**self.body(EnvironmentOrderShape), actor=self.actor)
        return listed(everything)


class OneEnvironment(View):
    @extend_schema(responses=EnvironmentShape)
    def get(self, request: Request, name: str) -> Response:
        return Response(EnvironmentShape(self._found(name)).data)

    @extend_schema(responses={204: None}, parameters=[IF_MATCH])
    def delete(self, request: Request, name: str) -> Response:
        """Only one that holds nothing: no cluster, no history of promotions."""
        found = self._found(name)
        refuse_if_changed(request, EnvironmentShape(found).data)
        environments.remove_environment(environment=found, actor=self.actor)
        return Response(status=204)

    def _found(self, name: str) -> Environment:
        return get_object_or_404(environments_visible_to(self.request.user), name=name)
