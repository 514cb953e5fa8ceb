"""On the `local` forge Flotilla's review page is the review: it merges what the gates let through, and nothing else."""

import pytest

from clusters_app.models import LocalPullRequest, Operation
from clusters_app.services import operations, reviews
from clusters_app.services.work import do_work

from .fleet import VERSION, Fleet

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_release_that_is_not_live_upstream_cannot_be_merged_yet(fleet: Fleet) -> None:
    fleet.release("1.1.0")
    promotion = fleet.promote("dev", "staging")
    assert promotion is not None
    fleet.advance(promotion)
    assert promotion.pull_request_number is not None
    assert promotion.pull_request_number is not None
    review = LocalPullRequest.objects.get(number=promotion.pull_request_number)

    def merge() -> Operation:
        operation = reviews.merge_review(
            repository=fleet.repository, review=review, head=promotion.head, actor=fleet.actor
        )
        operations.run_operation(operation_id=operation.pk, work=do_work)
        operation.refresh_from_db()
        return operation

    held = merge()
    assert (held.state, held.result["code"]) == ("failed", "review.gates")
    assert "1.1.0" in held.problem
    assert "1.0.0" in fleet.read(VERSION.format("staging"))
    fleet.reconcile("dev")
    assert merge().state == "done"
    assert "1.1.0" in fleet.read(VERSION.format("staging"))
