"""Promotions: plan, open, follow, give up, try again."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from clusters_app.models import App, Environment, Promotion
from clusters_app.queries import environments_visible_to, promotions_visible_to
from clusters_app.services.promotions import planning, requesting

from .apps import apps_named
from .base import View, named
from .etags import refuse_if_changed
from .once import once
from .paging import page_of, page_of_rows
from .promotion_shapes import NewPromotionShape, PlannedShape, PromotionDetailShape, PromotionQuery, PromotionShape
from .schema import IF_MATCH


class Promotions(View):
    @extend_schema(parameters=[PromotionQuery], responses=page_of(PromotionShape))
    def get(self, request: Request) -> Response:
        """Newest first."""
        asked = self.asked(PromotionQuery)
        found = promotions_visible_to(request.user)
        if asked["state"] == "moving":
            found = found.filter(state__in=Promotion.MOVING_STATES)
        elif asked["state"]:
            found = found.filter(state=asked["state"])
        if asked["app"]:
            found = found.filter(apps__name=asked["app"]).distinct()
        if asked["to"]:
            found = found.filter(target__name=asked["to"])
        return page_of_rows(asked, found, PromotionShape)

    @extend_schema(request=NewPromotionShape, responses={200: PlannedShape, 201: PromotionDetailShape})
    @once
    def post(self, request: Request) -> Response:
        """With `dry_run` the plan. Without, the promotion: 201 for a new or open one, 200 when nothing differs."""
        asked = self.body(NewPromotionShape)
        target = named(environments_visible_to(request.user), asked["to"], "to")
        self.require("promote", target)
        source = named(environments_visible_to(request.user), asked["from"], "from")
        apps = apps_named(self, asked.get("apps") or [asked["app"]], asked.get("repository", ""))
        if asked["dry_run"]:
            planned = planning.plan(apps=apps, source=source, target=target, answers=asked["answers"])
            return Response({"dry_run": True, "base": planned.base, "plan": planned.document})
        return self._open(apps, source, target, asked["answers"])

    def _open(self, apps: list[App], source: Environment, target: Environment, answers: list[str]) -> Response:
        promotion, planned = requesting.request_promotion(
            apps=apps, source=source, target=target, actor=self.actor, answers=answers
        )
        if promotion is None:
            return Response({"state": "NoChange", "base": planned.base, "plan": planned.document})
        response = Response(PromotionDetailShape(promotion).data, status=201)
        response["Location"] = f"/api/v1/promotions/{promotion.pk}"
        return response


class _OfOnePromotion(View):
    def promotion(self, pk: int) -> Promotion:
        return get_object_or_404(promotions_visible_to(self.request.user), pk=pk)

    def promotion_to_change(self, pk: int) -> Promotion:
        found = self.promotion(pk)
        self.require("promote", found.target)
        refuse_if_changed(self.request, PromotionDetailShape(found).data)
        return found


class OnePromotion(_OfOnePromotion):
    @extend_schema(responses=PromotionDetailShape)
    def get(self, request: Request, pk: int) -> Response:
        """With its clusters, its timeline and its gates."""
        return Response(PromotionDetailShape(self.promotion(pk)).data)


class PromotionAbort(_OfOnePromotion):
    @extend_schema(request=None, responses={202: PromotionDetailShape}, parameters=[IF_MATCH])
    @once
    def post(self, request: Request, pk: int) -> Response:
        """Give up before the merge; a worker closes the pull request."""
        requesting.abort_promotion(promotion=self.promotion_to_change(pk), actor=self.actor)
        return Response(PromotionDetailShape(self.promotion(pk)).data, status=202)


class PromotionRetry(_OfOnePromotion):
    @extend_schema(request=None, responses={202: PromotionDetailShape}, parameters=[IF_MATCH])
    @once
    def post(self, request: Request, pk: int) -> Response:
        """Try the next step again at once, after what stood in the way was repaired."""
        requesting.retry_promotion(promotion=self.promotion_to_change(pk), actor=self.actor)
        return Response(PromotionDetailShape(self.promotion(pk)).data, status=202)
