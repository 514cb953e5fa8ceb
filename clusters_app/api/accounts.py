"""One's own tokens, and the record of what everybody did."""

from datetime import timedelta

from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from clusters_app.models import APIToken, AuditRecord
from clusters_app.queries import VERBS, audit_visible_to
from clusters_app.services import accounts
from clusters_app.services.errors import ServiceError

from .base import Strict, View
from .once import once
from .paging import PageQuery, page_of, page_of_rows


class TokenShape(serializers.ModelSerializer[APIToken]):
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=VERBS))

    class Meta:
        model = APIToken
        fields: tuple[str, ...] = ("id", "name", "prefix", "scopes", "created_at", "expires_at", "last_used_at")


class NewTokenShape(Strict):
    name = serializers.CharField(max_length=100)
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=VERBS), min_length=1, max_length=len(VERBS))
    days = serializers.IntegerField(min_value=1, max_value=730, default=90)


class MadeTokenShape(TokenShape):
    token = serializers.CharField(
        required=False, help_text="the value: stands in the first answer alone, not in one that is replayed"
    )

    class Meta(TokenShape.Meta):
        fields = (*TokenShape.Meta.fields, "token")


class AuditShape(serializers.ModelSerializer[AuditRecord]):
    detail = serializers.DictField()

    class Meta:
        model = AuditRecord
        fields = ("id", "at", "actor", "token", "address", "verb", "subject", "outcome", "detail", "digest")


class EventQuery(PageQuery):
    actor = serializers.CharField(max_length=150, default="", allow_blank=True)
    verb = serializers.CharField(max_length=60, default="", allow_blank=True, help_text="what the verb begins with")
    outcome = serializers.ChoiceField(choices=AuditRecord.Outcome.choices, default="", allow_blank=True)


class Events(View):
    @extend_schema(parameters=[EventQuery], responses=page_of(AuditShape))
    def get(self, request: Request) -> Response:
        """The audit record, newest first."""
        asked = self.asked(EventQuery)
        found = audit_visible_to(request.user)
        if asked["actor"]:
            found = found.filter(actor=asked["actor"])
        if asked["verb"]:
            found = found.filter(verb__startswith=asked["verb"])
        if asked["outcome"]:
            found = found.filter(outcome=asked["outcome"])
        return page_of_rows(asked, found, AuditShape)


class Tokens(View):
    @extend_schema(parameters=[PageQuery], responses=page_of(TokenShape))
    def get(self, request: Request) -> Response:
        """One's own that are not revoked, newest first."""
        mine = APIToken.objects.filter(user=self.person, revoked_at=None)
        return page_of_rows(self.asked(PageQuery), mine, TokenShape)

    @extend_schema(request=NewTokenShape, responses={201: MadeTokenShape})
    @once
    def post(self, request: Request) -> Response:
        """A token cannot make one that may do more than itself, or lives longer."""
        asked = self.body(NewTokenShape)
        _refuse_more(self.token, asked["scopes"])
        expires_at = timezone.now() + timedelta(days=asked["days"])
        if self.token and self.token.expires_at:
            expires_at = min(expires_at, self.token.expires_at)
        made, value = accounts.create_token(
            user=self.person, name=asked["name"], scopes=asked["scopes"], expires_at=expires_at, actor=self.actor
        )
        response = Response({**TokenShape(made).data, "token": value}, status=201)
        response["Location"] = f"/api/v1/tokens/{made.pk}"
        response.shown_once = ("token",)  # type: ignore[attr-defined]
        return response


def _refuse_more(own: APIToken | None, scopes: list[str]) -> None:
    excess = sorted(set(scopes) - set(own.scopes)) if own else []
    if excess:
        raise ServiceError(
            "token.scope", _("Your token itself may not %(verbs)s.") % {"verbs": ", ".join(excess)}, field="scopes"
        )


class OneToken(View):
    @extend_schema(responses=TokenShape)
    def get(self, request: Request, pk: int) -> Response:
        return Response(TokenShape(self._mine(pk)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """Revoke it. A token cannot revoke one that may do more than itself."""
        found = self._mine(pk)
        _refuse_more(self.token, found.scopes)
        accounts.revoke_token(token=found, actor=self.actor)
        return Response(status=204)

    def _mine(self, pk: int) -> APIToken:
        return get_object_or_404(APIToken, pk=pk, user=self.person, revoked_at=None)
