"""The routes. Each: parse, one read model or service, answer. 202 with an operation for what a worker does."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from clusters_app.kube.manifest import read_role_manifest
from clusters_app.models import APIToken, App, Environment, FluxObject, LocalPullRequest, Operation, Promotion
from clusters_app.queries import (
    apps_visible_to,
    audit_visible_to,
    can,
    clusters_visible_to,
    environments_visible_to,
    objects_visible_to,
    promotions_visible_to,
    releases_visible_to,
    repositories_visible_to,
)
from clusters_app.queries.apps import AppRow, app_matrix
from clusters_app.queries.fleet import Filters, fleet_board
from clusters_app.queries.problems import problems, silences
from clusters_app.queries.system import system_facts
from clusters_app.secret import Secret
from clusters_app.services import accounts, clusters, environments, repositories, reviews, scaffolding
from clusters_app.services.errors import ServiceError
from clusters_app.services.promotions import planning, requesting

from . import shapes
from .base import View


def _accepted(operation: Operation) -> Response:
    response = Response(shapes.OperationShape(operation).data, status=202)
    response["Location"] = f"/api/v1/operations/{operation.pk}"
    return response


def _parsed(shape: type[shapes.Strict], request: Request) -> dict[str, Any]:
    found = shape(data=request.data)
    found.is_valid(raise_exception=True)
    return dict(found.validated_data)


def _require(request: Request, verb: str, environment: Environment | None) -> None:
    if not can(request.user, verb, environment):
        raise PermissionDenied


class Fleet(View):
    @extend_schema(responses=dict)
    def get(self, request: Request) -> Response:
        """Counts of the fleet and of each environment; filters as on the page."""
        query = request.query_params
        filters = Filters(
            environment=query.get("environment", ""),
            standing=query.get("standing", ""),
            freshness=query.get("freshness", ""),
            is_behind=query.get("behind") == "1",
            text=query.get("q", ""),
        )
        board = fleet_board(request.user, timezone.now(), filters)
        return Response(
            {
                "clusters": board.clusters,
                "is_unwatched": board.is_unwatched,
                "seen_at": board.seen_at,
                "counts": _counts(board.counts),
                "environments": [
                    {
                        "name": group.environment.name,
                        "counts": _counts(group.counts),
                        "clusters": [
                            {"name": row.cluster.name, "standing": row.standing, "freshness": str(row.freshness)}
                            for row in group.rows
                        ],
                    }
                    for group in board.groups
                ],
            }
        )


def _counts(counts: Any) -> dict[str, int]:
    return {name: getattr(counts, name) for name in ("ready", "failing", "waiting", "suspended", "unseen", "total")}


class Environments(View):
    @extend_schema(responses=shapes.EnvironmentShape(many=True))
    def get(self, request: Request) -> Response:
        """In promotion order."""
        return self.everything(request, shapes.EnvironmentShape(environments_visible_to(request.user), many=True).data)

    @extend_schema(request=shapes.NewEnvironment, responses={201: shapes.EnvironmentShape})
    def post(self, request: Request) -> Response:
        """A new one at the end of the order."""
        answers = _parsed(shapes.NewEnvironment, request)
        return self.once(
            request,
            lambda: Response(
                shapes.EnvironmentShape(environments.create_environment(**answers, actor=self.actor)).data, status=201
            ),
        )


class EnvironmentOrder(View):
    @extend_schema(request=shapes.EnvironmentOrder, responses=shapes.EnvironmentShape(many=True))
    def post(self, request: Request) -> Response:
        """Set the whole promotion order."""
        environments.order_environments(**_parsed(shapes.EnvironmentOrder, request), actor=self.actor)
        return self.everything(request, shapes.EnvironmentShape(environments_visible_to(request.user), many=True).data)


class OneEnvironment(View):
    @extend_schema(responses=shapes.EnvironmentShape)
    def get(self, request: Request, name: str) -> Response:
        return Response(
            shapes.EnvironmentShape(get_object_or_404(environments_visible_to(request.user), name=name)).data
        )

    @extend_schema(responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        found = get_object_or_404(environments_visible_to(request.user), name=name)
        environments.remove_environment(environment=found, actor=self.actor)
        return Response(status=204)


class Repositories(View):
    @extend_schema(responses=shapes.RepositoryShape(many=True))
    def get(self, request: Request) -> Response:
        return self.everything(request, shapes.RepositoryShape(repositories_visible_to(request.user), many=True).data)

    @extend_schema(request=shapes.NewRepository, responses={202: shapes.OperationShape})
    def post(self, request: Request) -> Response:
        """Check URL and token, then add. The operation shows each line of the check."""
        answers = _parsed(shapes.NewRepository, request)
        token = answers.pop("token", "")
        return self.once(
            request,
            lambda: _accepted(
                repositories.add_repository(**answers, token=Secret(token) if token else None, actor=self.actor)
            ),
        )


class OneRepository(View):
    @extend_schema(responses=shapes.RepositoryShape)
    def get(self, request: Request, name: str) -> Response:
        return Response(shapes.RepositoryShape(_repository(request, name)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        repositories.remove_repository(repository=_repository(request, name), actor=self.actor)
        return Response(status=204)


def _repository(request: Request, name: str) -> Any:
    return get_object_or_404(repositories_visible_to(request.user), name=name)


class RepositoryRefresh(View):
    @extend_schema(request=None, responses={202: shapes.RepositoryShape})
    def post(self, request: Request, name: str) -> Response:
        found = _repository(request, name)
        repositories.refresh_repository(repository=found, actor=self.actor)
        return Response(shapes.RepositoryShape(found).data, status=202)


class RepositoryScaffold(View):
    @extend_schema(request=shapes.Scaffold, responses={200: dict, 202: shapes.OperationShape})
    def post(self, request: Request, name: str) -> Response:
        """With `dry_run` the plan: each file's text and each cluster's bootstrap command. Without, the pull request."""
        found = _repository(request, name)
        asked = _parsed(shapes.Scaffold, request)
        if not isinstance(asked["answers"], dict):
            raise ServiceError("scaffold.answers", "answers is an object.", field="answers")
        if asked["dry_run"]:
            preview = scaffolding.preview_scaffold(repository=found, answers=asked["answers"])
            files = {path: data.decode(errors="replace") for path, data in preview.plan.files.items()}
            return Response(
                {
                    "files": files,
                    "conflicts": list(preview.plan.conflicts),
                    "commands": preview.commands,
                    "paths": preview.paths,
                }
            )
        return self.once(
            request,
            lambda: _accepted(
                scaffolding.scaffold_repository(repository=found, answers=asked["answers"], actor=self.actor)
            ),
        )


class Reviews(View):
    @extend_schema(responses=shapes.ReviewShape(many=True))
    def get(self, request: Request, name: str) -> Response:
        """Pull requests of the `local` forge."""
        found = _repository(request, name).local_pull_requests.all()
        return self.everything(request, shapes.ReviewShape(found, many=True).data)


class ReviewMerge(View):
    @extend_schema(request=shapes.ReviewHead, responses={202: shapes.OperationShape})
    def post(self, request: Request, name: str, number: int) -> Response:
        repository, review = _review(request, name, number)
        head = _parsed(shapes.ReviewHead, request)["head"]
        return _accepted(reviews.merge_review(repository=repository, review=review, head=head, actor=self.actor))


class ReviewClose(View):
    @extend_schema(request=shapes.ReviewHead, responses={202: shapes.OperationShape})
    def post(self, request: Request, name: str, number: int) -> Response:
        repository, review = _review(request, name, number)
        head = _parsed(shapes.ReviewHead, request)["head"]
        return _accepted(reviews.close_review(repository=repository, review=review, head=head, actor=self.actor))


def _review(request: Request, name: str, number: int) -> tuple[Any, LocalPullRequest]:
    repository = _repository(request, name)
    return repository, get_object_or_404(LocalPullRequest, repository=repository, number=number)


class Clusters(View):
    @extend_schema(
        responses=shapes.ClusterShape(many=True),
        parameters=[OpenApiParameter("environment"), OpenApiParameter("q"), OpenApiParameter("standing")],
    )
    def get(self, request: Request) -> Response:
        found = clusters_visible_to(request.user)
        if environment := request.query_params.get("environment"):
            found = found.filter(environment__name=environment)
        if text := request.query_params.get("q"):
            found = found.filter(name__icontains=text)
        items = shapes.ClusterShape(found, many=True).data
        if standing := request.query_params.get("standing"):
            items = [item for item in items if item["status"]["standing"] == standing]  # type: ignore[assignment]
        return self.everything(request, items)

    @extend_schema(request=shapes.NewCluster, responses={202: shapes.OperationShape})
    def post(self, request: Request) -> Response:
        """Check the connection line by line, then register. Nothing is stored of a refused cluster."""
        answers = _parsed(shapes.NewCluster, request)
        environment = _named(environments_visible_to(request.user), answers.pop("environment"), "environment")
        repository = _named(repositories_visible_to(request.user), answers.pop("repository"), "repository")
        _require(request, "administer", environment)
        token = answers.pop("token", "")
        registration = clusters.Registration(
            **answers, environment=environment, repository=repository, token=Secret(token) if token else None
        )
        return self.once(
            request, lambda: _accepted(clusters.register_cluster(registration=registration, actor=self.actor))
        )


def _named(found: Any, name: str, field: str) -> Any:
    row = found.filter(name=name).first()
    if row is None:
        raise ServiceError("not-found", f"There is no {field} {name}.", field=field)
    return row


class ClusterManifest(View):
    @extend_schema(responses={200: str})
    def get(self, request: Request) -> HttpResponse:
        """The read role as YAML, for `kubectl apply -f -`."""
        del request
        return HttpResponse(read_role_manifest(), content_type="application/yaml")


class OneCluster(View):
    @extend_schema(responses=shapes.ClusterShape)
    def get(self, request: Request, name: str) -> Response:
        return Response(shapes.ClusterShape(_cluster(request, name)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        found = _cluster(request, name)
        _require(request, "administer", found.environment)
        clusters.remove_cluster(cluster=found, actor=self.actor)
        return Response(status=204)


def _cluster(request: Request, name: str) -> Any:
    return get_object_or_404(clusters_visible_to(request.user), name=name)


class ClusterRefresh(View):
    @extend_schema(request=None, responses={202: shapes.ClusterShape})
    def post(self, request: Request, name: str) -> Response:
        found = _cluster(request, name)
        _require(request, "operate", found.environment)
        clusters.refresh_cluster(cluster=found, actor=self.actor)
        return Response(shapes.ClusterShape(found).data, status=202)


class ClusterToken(View):
    @extend_schema(request=shapes.NewClusterToken, responses={202: shapes.ClusterShape})
    def post(self, request: Request, name: str) -> Response:
        """Replace the token; the next round tells whether it works."""
        found = _cluster(request, name)
        _require(request, "administer", found.environment)
        token = Secret(_parsed(shapes.NewClusterToken, request)["token"].strip())
        clusters.replace_token(cluster=found, token=token, actor=self.actor)
        return Response(shapes.ClusterShape(found).data, status=202)


#: Filters of objects that are columns.
OBJECT_FILTERS = ("kind", "namespace", "name", "health", "control")


class Objects(View):
    @extend_schema(
        responses=shapes.ObjectShape(many=True),
        parameters=[OpenApiParameter(name) for name in ("cluster", *OBJECT_FILTERS)],
    )
    def get(self, request: Request) -> Response:
        found = objects_visible_to(request.user).filter(gone_at=None)
        if cluster := request.query_params.get("cluster"):
            found = found.filter(cluster__name=cluster)
        for name in OBJECT_FILTERS:
            if value := request.query_params.get(name):
                found = found.filter(**{name: value})
        return self.page(request, found, shapes.ObjectShape)


class OneObject(View):
    @extend_schema(responses=shapes.ObjectShape)
    def get(self, request: Request, pk: int) -> Response:
        row: FluxObject = get_object_or_404(objects_visible_to(request.user).select_related("detail"), pk=pk)
        return Response(
            {
                **shapes.ObjectShape(row).data,
                "document": row.detail.document,
                "inventory": row.detail.inventory,
            }
        )


class Problems(View):
    @extend_schema(responses=dict)
    def get(self, request: Request) -> Response:
        """One item a cause; clusters that are not seen lately stand in `silences`."""
        items = [
            {
                "subject": each.subject,
                "health": each.health,
                "since": each.since,
                "clusters": [cluster.name for cluster in each.clusters],
                "held": each.held,
                "message": each.message,
                "explain": {
                    "id": each.explain_id,
                    "cause": each.cause,
                    "remedy": each.remedy,
                    "command": each.command,
                    "link": each.link,
                },
            }
            for each in problems(request.user)
        ]
        silent = [
            {
                "cluster": each.cluster.name,
                "standing": each.standing,
                "since": each.since,
                "connection": each.status.connection,
                "problem": each.status.problem,
            }
            for each in silences(request.user, timezone.now())
        ]
        return Response({"items": items, "silences": silent, "next": None})


class Apps(View):
    @extend_schema(responses=shapes.AppShape(many=True), parameters=[OpenApiParameter("q"), OpenApiParameter("gap")])
    def get(self, request: Request) -> Response:
        """Rows of the Apps page: version and liveness in each environment, gaps between neighbours."""
        query = request.query_params
        matrix = app_matrix(request.user, timezone.now(), text=query.get("q", ""), only=query.get("gap", ""))
        return self.everything(request, [_app(row) for row in matrix.rows])


class OneApp(View):
    @extend_schema(responses=shapes.AppShape)
    def get(self, request: Request, name: str) -> Response:
        app = _apps(request, [name], request.query_params.get("repository", ""))[0]
        return Response(_app(app_matrix(request.user, timezone.now(), app=app).rows[0]))


def _app(row: AppRow) -> dict[str, Any]:
    return {
        "name": row.app.name,
        "repository": row.app.repository.name,
        "environments": {
            cell.stage.environment.name: {
                "version": cell.stage.version,
                "commit": cell.stage.commit,
                "path": cell.stage.path,
                "changed_at": cell.stage.changed_at,
                "is_live": cell.is_live,
                "clusters": [{"name": pip.cluster, "state": pip.state, "text": pip.text} for pip in cell.pips],
            }
            for cell in row.cells
            if cell
        },
        "gaps": [
            {
                "from": gap.source.name,
                "to": gap.target.name,
                "kind": gap.kind,
                "promotion": gap.promotion.pk if gap.promotion else None,
            }
            for gap in row.gaps
        ],
    }


class Releases(View):
    @extend_schema(
        responses=shapes.ReleaseShape(many=True), parameters=[OpenApiParameter("app"), OpenApiParameter("environment")]
    )
    def get(self, request: Request) -> Response:
        found = releases_visible_to(request.user)
        if app := request.query_params.get("app"):
            found = found.filter(app_key=app)
        if environment := request.query_params.get("environment"):
            found = found.filter(environment__name=environment)
        return self.page(request, found, shapes.ReleaseShape)


class Promotions(View):
    @extend_schema(
        responses=shapes.PromotionShape(many=True),
        parameters=[OpenApiParameter("state"), OpenApiParameter("app"), OpenApiParameter("to")],
    )
    def get(self, request: Request) -> Response:
        found = promotions_visible_to(request.user)
        query = request.query_params
        if state := query.get("state"):
            found = found.filter(state__in=Promotion.MOVING_STATES) if state == "moving" else found.filter(state=state)
        if app := query.get("app"):
            found = found.filter(apps__name=app)
        if target := query.get("to"):
            found = found.filter(target__name=target)
        return self.page(request, found, shapes.PromotionShape)

    @extend_schema(request=shapes.NewPromotion, responses={200: dict, 201: shapes.PromotionDetailShape})
    def post(self, request: Request) -> Response:
        """With `dry_run` the plan. Without, the promotion: 201 for a new or open one, 200 when nothing differs."""
        asked = _parsed(shapes.NewPromotion, request)
        apps = _apps(request, asked.get("apps") or [asked["app"]], asked.get("repository", ""))
        source = _named(environments_visible_to(request.user), asked["from"], "from")
        target = _named(environments_visible_to(request.user), asked["to"], "to")
        _require(request, "promote", target)
        if asked["dry_run"]:
            planned = planning.plan(apps=apps, source=source, target=target, answers=asked["answers"])
            return Response({"dry_run": True, "base": planned.base, "plan": planned.document})
        return self.once(request, lambda: self._open(apps, source, target, asked["answers"]))

    def _open(self, apps: list[App], source: Environment, target: Environment, answers: list[str]) -> Response:
        promotion, planned = requesting.request_promotion(
            apps=apps, source=source, target=target, actor=self.actor, answers=answers
        )
        if promotion is None:
            return Response({"state": "NoChange", "base": planned.base, "plan": planned.document})
        response = Response(shapes.PromotionDetailShape(promotion).data, status=201)
        response["Location"] = f"/api/v1/promotions/{promotion.pk}"
        return response


def _apps(request: Request, names: list[str], repository: str) -> list[App]:
    """The apps of these names in one repository: the one that is named, else the only one that has them."""
    found = []
    for name in dict.fromkeys(names):
        rows = apps_visible_to(request.user).filter(name=name)
        if repository:
            rows = rows.filter(repository__name=repository)
        candidates = list(rows[:2])
        if not candidates:
            raise ServiceError("not-found", f"There is no app {name}.", field="app")
        if len(candidates) > 1:
            raise ServiceError(
                "app.ambiguous", f"Several repositories have an app {name}; name one.", field="repository"
            )
        found += candidates
    return found


class OnePromotion(View):
    @extend_schema(responses=shapes.PromotionDetailShape)
    def get(self, request: Request, pk: int) -> Response:
        return Response(shapes.PromotionDetailShape(_promotion(request, pk)).data)


def _promotion(request: Request, pk: int) -> Promotion:
    return get_object_or_404(promotions_visible_to(request.user), pk=pk)


class PromotionAbort(View):
    @extend_schema(request=None, responses=shapes.PromotionDetailShape)
    def post(self, request: Request, pk: int) -> Response:
        """Give up before the merge; the pull request is closed."""
        found = _promotion(request, pk)
        _require(request, "promote", found.target)
        requesting.abort_promotion(promotion=found, actor=self.actor)
        return Response(shapes.PromotionDetailShape(found).data)


class PromotionRetry(View):
    @extend_schema(request=None, responses={202: shapes.PromotionDetailShape})
    def post(self, request: Request, pk: int) -> Response:
        found = _promotion(request, pk)
        _require(request, "promote", found.target)
        requesting.retry_promotion(promotion=found, actor=self.actor)
        return Response(shapes.PromotionDetailShape(found).data, status=202)


class OneOperation(View):
    @extend_schema(responses=shapes.OperationShape)
    def get(self, request: Request, pk: int) -> Response:
        """Long work: poll until `state` is done or failed."""
        found = (
            Operation.objects.all()
            if can(request.user, "operate")
            else Operation.objects.filter(created_by=_user(request))
        )
        return Response(shapes.OperationShape(get_object_or_404(found, pk=pk)).data)


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


class Events(View):
    @extend_schema(responses=shapes.AuditShape(many=True))
    def get(self, request: Request) -> Response:
        """The audit record, newest first."""
        return self.page(request, audit_visible_to(request.user), shapes.AuditShape)


class Tokens(View):
    @extend_schema(responses=shapes.TokenShape(many=True))
    def get(self, request: Request) -> Response:
        mine = APIToken.objects.filter(user=_user(request), revoked_at=None)
        return self.everything(request, shapes.TokenShape(mine, many=True).data)

    @extend_schema(request=shapes.NewToken, responses={201: dict})
    def post(self, request: Request) -> Response:
        """The value stands in this answer alone. A token cannot make one that may do more than itself."""
        asked = _parsed(shapes.NewToken, request)
        own: APIToken | None = getattr(request._request, "api_token", None)
        if own is not None and (excess := sorted(set(asked["scopes"]) - set(own.scopes))):
            raise ServiceError("token.scope", f"Your token itself may not {', '.join(excess)}.", field="scopes")
        expires_at = timezone.now() + timedelta(days=asked["days"])
        token, value = accounts.create_token(
            user=_user(request), name=asked["name"], scopes=asked["scopes"], expires_at=expires_at, actor=self.actor
        )
        return Response({**shapes.TokenShape(token).data, "token": value}, status=201)


class OneToken(View):
    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        accounts.revoke_token(token=get_object_or_404(APIToken, pk=pk, user=_user(request)), actor=self.actor)
        return Response(status=204)


class System(View):
    @extend_schema(responses=dict)
    def get(self, request: Request) -> Response:
        """Work that waits, rounds, rows, versions."""
        del request
        facts = system_facts(timezone.now())
        return Response({name: getattr(facts, name) for name in facts.__dataclass_fields__})
