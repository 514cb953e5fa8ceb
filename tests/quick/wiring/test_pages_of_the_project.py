"""What the project itself answers, whatever the product adds."""

from django.test import Client
from django.utils.translation import gettext, ngettext, override


def test_it_says_that_the_process_lives_to_anyone(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok\n")


def test_every_answer_forbids_inline_scripts_and_frames(client: Client) -> None:
    policy = client.get("/healthz")["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


def test_a_checkout_speaks_russian_as_it_is() -> None:
    with override("ru"):
        assert gettext("Fleet") == "Флот"
        assert ngettext("%(counter)s cluster", "%(counter)s clusters", 3) == "%(counter)s кластера"
