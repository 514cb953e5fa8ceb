"""What Flux cannot see and we say beside a green verdict."""

import pytest

from clusters_app.flux.status import Health

from .documents import Document, document, git_repository, kustomization, ready, verdict_of

ENTRIES = {"inventory": {"entries": [{"id": "apps_web_apps_Deployment", "v": "v1"}]}}
SAME, OTHER = "main@sha1:" + "a" * 40, "main@sha1:" + "0" * 40


def codes(subject: Document, *others: Document) -> list[str]:
    verdict = verdict_of(subject, *others)
    assert verdict.health in {Health.READY, Health.STATIC}
    return [notice.code for notice in verdict.notices]


def test_a_kustomization_that_applies_nothing() -> None:
    assert codes(kustomization("apps", ready()), git_repository()) == ["empty-inventory"]
    assert codes(kustomization("apps", ready(), status=ENTRIES), git_repository()) == []


@pytest.mark.parametrize(("applied", "expected"), [(SAME, []), (OTHER, ["behind-source"])])
def test_a_kustomization_that_is_behind_its_source(applied: str, expected: list[str]) -> None:
    assert (
        codes(kustomization("apps", ready(), status={"lastAppliedRevision": applied, **ENTRIES}), git_repository())
        == expected
    )


def test_an_image_repository_without_tags_and_its_twin() -> None:
    def scanned(name: str, tags: int) -> Document:
        return document(
            "ImageRepository",
            name,
            ready(),
            spec={"image": "registry.lab/web"},
            status={"lastScanResult": {"tagCount": tags}},
        )

    assert codes(scanned("web", 4)) == []
    assert codes(scanned("web", 0), scanned("twin", 4)) == ["no-tags", "duplicate-image"]


def test_an_automation_that_pushes_where_nobody_looks() -> None:
    def pushing(branch: str) -> Document:
        spec = {"sourceRef": {"kind": "GitRepository", "name": "fleet"}, "git": {"push": {"branch": branch}}}
        return document("ImageUpdateAutomation", "images", ready(), spec=spec)

    source = git_repository(spec={"ref": {"branch": "main"}})
    assert codes(pushing("flux-updates"), source) == ["push-branch"]
    assert codes(pushing("main"), source) == []


def test_an_alert_that_has_no_provider() -> None:
    alert = document("Alert", "all", spec={"providerRef": {"name": "chat"}})
    assert codes(alert) == ["provider-missing"]
    assert codes(alert, document("Provider", "chat")) == []
