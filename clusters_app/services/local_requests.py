"""The `local` forge's pull requests, kept in the database: what `forges.local.RequestStore` asks for."""

from collections.abc import Sequence

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Max, QuerySet

from clusters_app.forges.base import CheckState, Draft, PullRequest, State
from clusters_app.forges.local import AlreadyOpen
from clusters_app.models import LocalPullRequest, Repository


class StoredRequests:
    """The pull requests of one repository."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def of_base(self, base: str) -> Sequence[PullRequest]:
        return [as_pull_request(row) for row in self._rows().filter(base_branch=base)]

    def get(self, number: int) -> PullRequest | None:
        row = self._rows().filter(number=number).first()
        return as_pull_request(row) if row else None

    def insert(self, draft: Draft, *, head_sha: str, body: str) -> PullRequest:
        try:
            with transaction.atomic():
                last = self._rows().aggregate(last=Max("number"))["last"] or 0
                row = LocalPullRequest.objects.create(
                    repository=self._repository,
                    number=last + 1,
                    title=draft.title[:250],
                    body=body,
                    base_branch=draft.base,
                    head_branch=draft.head,
                    head=head_sha,
                    author="flotilla",
                )
        except IntegrityError as error:
            raise AlreadyOpen from error
        return as_pull_request(row)

    def set_text(self, number: int, *, title: str, body: str) -> None:
        self._rows().filter(number=number).update(title=title[:250], body=body)

    def settle(self, number: int, state: State, *, head_sha: str, merge_commit: str | None = None) -> bool:
        open_row = self._rows().filter(number=number, state=LocalPullRequest.State.OPEN)
        return bool(open_row.update(state=state.value, head=head_sha, merge_commit=merge_commit or ""))

    def put_comment(self, number: int, key: str, body: str) -> None:
        with transaction.atomic():
            row = self._rows().select_for_update().get(number=number)
            row.comments[key] = body
            row.save(update_fields=["comments"])

    def put_labels(self, number: int, labels: Sequence[str]) -> None:
        with transaction.atomic():
            row = self._rows().select_for_update().get(number=number)
            row.labels = list(dict.fromkeys([*row.labels, *labels]))
            row.save(update_fields=["labels"])

    def put_status(self, sha: str, state: CheckState, description: str, url: str) -> None:
        with transaction.atomic():
            for row in self._rows().select_for_update().filter(state=LocalPullRequest.State.OPEN, head=sha):
                row.statuses[sha] = {"state": state.value, "description": description, "url": url}
                row.save(update_fields=["statuses"])

    def _rows(self) -> QuerySet[LocalPullRequest]:
        return LocalPullRequest.objects.filter(repository=self._repository)


def as_pull_request(row: LocalPullRequest) -> PullRequest:
    return PullRequest(
        number=row.number,
        url=settings.FLOTILLA_PUBLIC_URL + row.get_absolute_url(),
        state=State(row.state),
        head_branch=row.head_branch,
        head_sha=row.head,
        base_branch=row.base_branch,
        title=row.title,
        body=row.body,
        author=row.author,
        labels=tuple(row.labels),
        merge_commit=row.merge_commit or None,
    )
