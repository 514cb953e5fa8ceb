"""Pull requests of the `local` forge: who sees which, and whose right counts for merging one."""

from django.db.models import QuerySet

from clusters_app.models import Environment, LocalPullRequest, Promotion, Repository

from .visible import Person, can, environments_visible_to


def reviews_visible_to(user: Person, repository: Repository) -> QuerySet[LocalPullRequest]:
    """All of a repository for who sees everything; else those that promote into a visible environment."""
    found = LocalPullRequest.objects.filter(repository=repository).select_related("repository")
    if can(user, "view"):
        return found
    visible = Promotion.objects.filter(repository=repository, target__in=environments_visible_to(user))
    return found.filter(number__in=visible.exclude(pull_request_number=None).values("pull_request_number"))


def environment_of_review(review: LocalPullRequest) -> Environment | None:
    """The environment that merging would change; None when it may be any (a scaffold): a right everywhere is needed."""
    promotions = Promotion.objects.filter(repository=review.repository_id, pull_request_number=review.number)
    newest = promotions.select_related("target").order_by("-pk").first()
    return newest.target if newest else None
