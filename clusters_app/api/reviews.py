"""Pull requests of the `local` forge, for repositories whose host has none."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from clusters_app.models import LocalPullRequest
from clusters_app.queries.reviews import environment_of_review, reviews_visible_to
from clusters_app.services import reviews

from .base import Strict, View, accepted
from .once import once
from .operations import OperationShape
from .paging import PageQuery, page_of, page_of_rows
from .repositories import repository_for_reading


class ReviewShape(serializers.ModelSerializer[LocalPullRequest]):
    url = serializers.CharField(source="get_absolute_url", read_only=True)

    class Meta:
        model = LocalPullRequest
        fields = ("number", "title", "body", "state", "head_branch", "head", "merge_commit", "created_at", "url")


class ReviewHeadShape(Strict):
    head = serializers.CharField(
        max_length=64, default="", allow_blank=True, help_text="the commit that you saw: refused when it is another"
    )


class _OfOneRepository(View):
    def review(self, name: str, number: int) -> LocalPullRequest:
        repository = repository_for_reading(self, name)
        return get_object_or_404(reviews_visible_to(self.request.user, repository), number=number)

    def review_to_decide(self, name: str, number: int) -> LocalPullRequest:
        """Whoever merges or closes must be allowed to approve in the environment that it changes."""
        found = self.review(name, number)
        self.require("approve", environment_of_review(found))
        return found


class Reviews(View):
    @extend_schema(parameters=[PageQuery], responses=page_of(ReviewShape))
    def get(self, request: Request, name: str) -> Response:
        """Newest first."""
        found = reviews_visible_to(request.user, repository_for_reading(self, name))
        return page_of_rows(self.asked(PageQuery), found, ReviewShape)


class OneReview(_OfOneRepository):
    @extend_schema(responses=ReviewShape)
    def get(self, request: Request, name: str, number: int) -> Response:
        return Response(ReviewShape(self.review(name, number)).data)


class ReviewMerge(_OfOneRepository):
    @extend_schema(request=ReviewHeadShape, responses={202: OperationShape})
    @once
    def post(self, request: Request, name: str, number: int) -> Response:
        found = self.review_to_decide(name, number)
        head = self.body(ReviewHeadShape)["head"]
        return accepted(reviews.merge_review(repository=found.repository, review=found, head=head, actor=self.actor))


class ReviewClose(_OfOneRepository):
    @extend_schema(request=ReviewHeadShape, responses={202: OperationShape})
    @once
    def post(self, request: Request, name: str, number: int) -> Response:
        found = self.review_to_decide(name, number)
        head = self.body(ReviewHeadShape)["head"]
        return accepted(reviews.close_review(repository=found.repository, review=found, head=head, actor=self.actor))
