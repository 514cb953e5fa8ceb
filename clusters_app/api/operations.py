"""Long work that a script waits for."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from clusters_app.models import Operation

from .base import View


class StepShape(serializers.Serializer[Any]):
    """One line of what is checked or done."""

    code = serializers.CharField()
    state = serializers.CharField(help_text="ok, warning or failed")
    text = serializers.CharField()
    remedy = serializers.CharField(allow_blank=True)


class OperationShape(serializers.ModelSerializer[Operation]):
    steps = StepShape(many=True)
    result = serializers.DictField(help_text="what it led to, e.g. the number and url of a pull request")
    url = serializers.CharField(source="get_absolute_url", help_text="its page")

    class Meta:
        model = Operation
        fields = ("id", "kind", "subject", "state", "steps", "result", "problem", "created_at", "finished_at", "url")


class OneOperation(View):
    @extend_schema(responses=OperationShape)
    def get(self, request: Request, pk: int) -> Response:
        """Poll until `state` is done or failed. Seen by who started it, and by who operates everywhere."""
        found = Operation.objects.all() if self.may("operate") else Operation.objects.filter(created_by=self.person)
        return Response(OperationShape(get_object_or_404(found, pk=pk)).data)
