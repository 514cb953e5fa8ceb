"""Every rule of the library: a message as Flux writes it that triggers it, and a near miss that must not."""

import time

import pytest

from clusters_app.flux.explain import RULES
from clusters_app.flux.status import Verdict

from .documents import condition, document, failing, git_repository, helm_release, kustomization, verdict_of
from .messages import SAMPLES, Sample


def explained(sample: Sample, message: str) -> Verdict:
    """The verdict of an object that says this, with a source that is in good order."""
    source = git_repository()
    said = failing(sample.reason, message)
    if sample.kind == "Kustomization":
        return verdict_of(kustomization("apps", said, spec=sample.spec), source, is_whole_cluster=False)
    if sample.kind == "HelmRelease":
        released = condition("Released", "False", sample.reason, message)
        return verdict_of(helm_release("web", said, released, namespace="shop"), is_whole_cluster=False)
    spec = {"url": "https://git.lab/platform/fleet.git"} if sample.kind.endswith("Repository") else sample.spec
    return verdict_of(document(sample.kind, "thing", said, spec=spec), source, is_whole_cluster=False)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.id}-{sample.message[-40:]}")
def test_the_message_is_known(sample: Sample) -> None:
    assert explained(sample, sample.message).explanation.id == sample.id


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.id}-{sample.miss[-40:]}")
def test_a_near_miss_is_something_else(sample: Sample) -> None:
    assert explained(sample, sample.miss).explanation.id != sample.id


@pytest.mark.parametrize(
    "piece", ["a", '"', "chart ", "commit ", "x509: ", "[Deployment/a/b status: 'x', ", "a/", "1", "yaml: "]
)
def test_a_hostile_message_costs_no_more_than_a_moment(piece: str) -> None:
    hostile = piece * (32_768 // len(piece))
    began = time.process_time()
    for kind in ("Kustomization", "HelmRelease", "GitRepository", "ImagePolicy"):
        explained(Sample("", kind, "DependencyNotReady", "", ""), hostile)
    assert time.process_time() - began < 2


def test_every_rule_of_the_library_has_a_sample() -> None:
    assert {rule.id for rule in RULES} == {sample.id for sample in SAMPLES} & {rule.id for rule in RULES}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.id}-{sample.message[-40:]}")
def test_no_gap_is_left_in_a_sentence(sample: Sample) -> None:
    explanation = explained(sample, sample.message).explanation
    for sentence in (explanation.cause, explanation.remedy):
        assert "  " not in sentence
        assert " ." not in sentence.replace(" ./", "").replace(" .Values", "").replace(" .source", "").replace(
            " .spec", ""
        )
        assert "()" not in sentence.replace("has()", "")
