"""Repositories: adding, looking again, laying out, removing."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from clusters_app.models import Repository
from clusters_app.queries import repositories_visible_to
from clusters_app.secret import Secret
from clusters_app.services import repositories, scaffolding

from .base import Strict, View, accepted
from .etags import refuse_if_changed
from .once import once
from .operations import OperationShape
from .paging import PageQuery, page_of, page_of_names
from .schema import IF_MATCH


class RepositoryShape(serializers.ModelSerializer[Repository]):
    is_empty = serializers.BooleanField(read_only=True)

    class Meta:
        model = Repository
        fields = (
            "name",
            "url",
            "branch",
            "forge",
            "head",
            "head_at",
            "read_commit",
            "seen_at",
            "is_empty",
            "problem_code",
            "problem",
        )


class NewRepositoryShape(Strict):
    name = serializers.CharField(max_length=63)
    url = serializers.CharField(max_length=500)
    branch = serializers.CharField(max_length=200, default="main")
    username = serializers.CharField(max_length=100, default="", allow_blank=True)
    token = serializers.CharField(max_length=2000, required=False, write_only=True)
    ca_pem = serializers.CharField(max_length=200_000, default="", allow_blank=True)


class ScaffoldShape(Strict):
    """`answers` as in `.flotilla/fleet.yaml`, without `repository`."""

    answers = serializers.DictField()
    dry_run = serializers.BooleanField(default=False)


class ScaffoldPlanShape(serializers.Serializer[Any]):
    files = serializers.DictField(child=serializers.CharField(allow_blank=True), help_text="path → text")
    conflicts = serializers.ListField(child=serializers.CharField())
    commands = serializers.DictField(child=serializers.CharField(), help_text="cluster → its bootstrap command")
    paths = serializers.DictField(child=serializers.CharField(), help_text="cluster → its sync path")


def repository_for_reading(view: View, name: str) -> Repository:
    return get_object_or_404(repositories_visible_to(view.request.user), name=name)


class Repositories(View):
    @extend_schema(parameters=[PageQuery], responses=page_of(RepositoryShape))
    def get(self, request: Request) -> Response:
        return page_of_names(self.asked(PageQuery), list(repositories_visible_to(request.user)), RepositoryShape)

    @extend_schema(request=NewRepositoryShape, responses={202: OperationShape})
    @once
    def post(self, request: Request) -> Response:
        """Check URL and token, then add. The operation shows each line of the check."""
        answers = self.body(NewRepositoryShape)
        token = answers.pop("token", "").strip()
        return accepted(
            repositories.add_repository(**answers, token=Secret(token) if token else None, actor=self.actor)
        )


class OneRepository(View):
    @extend_schema(responses=RepositoryShape)
    def get(self, request: Request, name: str) -> Response:
        return Response(RepositoryShape(repository_for_reading(self, name)).data)

    @extend_schema(responses={204: None}, parameters=[IF_MATCH])
    def delete(self, request: Request, name: str) -> Response:
        """Forget one that no cluster follows. Git keeps everything."""
        found = repository_for_reading(self, name)
        refuse_if_changed(request, RepositoryShape(found).data)
        repositories.remove_repository(repository=found, actor=self.actor)
        return Response(status=204)


class RepositoryRefresh(View):
    @extend_schema(request=None, responses={202: RepositoryShape})
    @once
    def post(self, request: Request, name: str) -> Response:
        """Look at the remote as soon as a worker is free."""
        found = repository_for_reading(self, name)
        repositories.refresh_repository(repository=found, actor=self.actor)
        return Response(RepositoryShape(found).data, status=202)


class RepositoryScaffold(View):
    @extend_schema(request=ScaffoldShape, responses={200: ScaffoldPlanShape, 202: OperationShape})
    @once
    def post(self, request: Request, name: str) -> Response:
        """With `dry_run` the plan: each file's text and each cluster's bootstrap command. Without, the pull request."""
        found = repository_for_reading(self, name)
        asked = self.body(ScaffoldShape)
        if asked["dry_run"]:
            return Response(_plan(scaffolding.preview_scaffold(repository=found, answers=asked["answers"])))
        return accepted(scaffolding.scaffold_repository(repository=found, answers=asked["answers"], actor=self.actor))


def _plan(preview: scaffolding.Preview) -> dict[str, Any]:
    return {
        "files": {path: data.decode(errors="replace") for path, data in preview.plan.files.items()},
        "conflicts": list(preview.plan.conflicts),
        "commands": preview.commands,
        "paths": preview.paths,
    }
