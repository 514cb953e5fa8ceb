"""Texts that a worker stored in English are told in the viewer's language, with what they hold filled in again."""

import pytest
from django.test import Client
from django.utils import translation

from clusters_app.forges.errors import forge_error
from clusters_app.git.errors import GitPermanent
from clusters_app.kube.errors import fault
from clusters_app.models import ClusterStatus, Operation
from clusters_app.web.retold import retold

REFUSES = fault("kube.connection-refused", host="10.0.4.1:6443")


def russian(text: str) -> str:
    with translation.override("ru"):
        return retold(text)


def test_a_fault_of_a_cluster_is_told_with_its_host() -> None:
    assert russian(REFUSES.text) == "10.0.4.1:6443 отвергает соединения."


def test_a_problem_and_its_remedy_are_told_one_by_one() -> None:
    told = russian(f"{REFUSES} {REFUSES.remedy}")
    assert told.startswith("10.0.4.1:6443 отвергает соединения. Проверьте, что API-сервер")
    assert told.endswith("10.0.4.1:6443.")


@pytest.mark.parametrize(
    "text",
    [
        str(GitPermanent("git.push.protected", branch="main", said="pre-receive hook declined")),
        str(forge_error("forge.server", host="git.example", status=502, said="Bad Gateway")),
        fault("kube.cluster-replaced", host="h:1", found="a-b", expected="c-d").text,
    ],
)
def test_every_adapter_s_errors_are_known(text: str) -> None:
    told = russian(text)
    assert told != text
    assert any("а" <= letter <= "я" for letter in told)
    assert "{" not in told
    assert "%(" not in told


def test_what_no_catalogue_knows_stays_as_it_is() -> None:
    for text in ("x509: certificate signed by unknown authority", "", "a" * 5000, "web rolled out"):
        assert russian(text) == text


def test_an_english_viewer_reads_what_was_stored() -> None:
    with translation.override("en"):
        assert retold(REFUSES.text) == REFUSES.text


def test_what_a_server_said_is_kept_between_the_words() -> None:
    said = "GH006: Protected branch update failed <b>"
    told = russian(str(GitPermanent("git.push.hook", branch="main", said=said)))
    assert said in told


def test_an_explanation_of_flux_is_told_with_its_facts() -> None:
    said = "HelmRelease/a/b names the Secret token, which does not exist in namespace a."
    assert russian(said) == "HelmRelease/a/b называет Secret token, которого нет в namespace a."
    braces = "Define CITY in spec.postBuild, give a default (${CITY:=value}), or write $${CITY} when it is not meant"
    assert "(${CITY:=value})" in russian(f"{braces} for Flux.")
    assert "$${CITY}" in russian(f"{braces} for Flux.")


@pytest.mark.django_db
def test_pages_tell_them(maria: Client) -> None:
    maria.cookies["django_language"] = "ru"
    ClusterStatus.objects.filter(cluster__name="prod-e").update(problem=f"{REFUSES} {REFUSES.remedy}")
    assert "отвергает соединения" in maria.get("/").text
    assert "отвергает соединения" in maria.get("/problems/").text
    steps = [{"code": "reachable", "state": "failed", "text": REFUSES.text, "remedy": REFUSES.remedy}]
    operation = Operation.objects.create(kind="cluster.register", subject="prod-z", state="failed", steps=steps)
    text = maria.get(operation.get_absolute_url()).text
    assert "отвергает соединения" in text
    assert "Регистрируется prod-z" in text
