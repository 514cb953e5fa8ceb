"""Events, sources and people spell one repository in many ways; it is one, and its neighbour is another (C050)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusters_app.repo.repository_url import canonical_url, same_repository

ONE = [
    [
        "git@ssh.dev.azure.com:v3/acme/Pay%20Ops/fleet",
        "https://acme@dev.azure.com/acme/Pay Ops/_git/fleet",
        "https://acme.visualstudio.com/DefaultCollection/Pay Ops/_git/fleet",
        "https://acme.visualstudio.com/Pay%20Ops/_git/fleet",
        "acme@vs-ssh.visualstudio.com:v3/acme/Pay Ops/fleet",
    ],
    ["https://dev.azure.com/acme/_git/fleet", "https://dev.azure.com/acme/fleet/_git/fleet"],
    [
        "ssh://git@ssh.github.com:443/acme/fleet.git",
        "https://github.com/acme/fleet",
        "https://github.com/Acme/Fleet.git/",
        "git@github.com:acme/fleet.git",
        "https://x-access-token@github.com:443/acme/fleet",
        "git://github.com/acme/fleet",
    ],
    ["ssh://git@git.lab:2222/a/b.git", "git@git.lab:a/b", "https://git.lab/a/b", "git@git.lab:/a/b.git"],
    [
        "https://bitbucket.lab/scm/PAY/fleet.git",
        "ssh://git@bitbucket.lab:7999/pay/fleet.git",
        "https://bitbucket.lab/projects/PAY/repos/fleet/browse",
    ],
    ["https://lab/bitbucket/scm/~ada/x.git", "https://lab/bitbucket/users/ada/repos/x"],
    ["https://lab/gitlab/platform/eu/fleet.config.git", "https://lab/gitlab/Platform/eu/fleet.config"],
    ["file:///srv/Fleet.git", "file:///srv/Fleet/"],
]
DIFFERENT = [
    ("https://github.com/acme/fleet", "https://github.com/acme/fleet2"),
    ("https://github.com/acme/fleet", "https://github.company.com/acme/fleet"),
    ("https://github.com/acme/fleet", "https://evil.com/github.com/acme/fleet"),
    ("https://github.com@evil.com/acme/fleet", "https://github.com/acme/fleet"),
    ("https://localhost:3000/a/b", "https://localhost:4000/a/b"),
    ("https://git.lab/scm/a/b", "https://git.lab/a/b"),
    ("https://dev.azure.com/acme/pay/_git/fleet", "https://dev.azure.com/acme/ops/_git/fleet"),
    ("https://git.lab/a/b.github", "https://git.lab/a/b"),
    ("file:///srv/Fleet.git", "file:///srv/fleet.git"),
]


@pytest.mark.parametrize("spellings", ONE)
def test_every_spelling_of_a_repository_is_one(spellings: list[str]) -> None:
    assert len({canonical_url(spelling) for spelling in spellings}) == 1
    assert canonical_url(spellings[0]) != ""


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_a_neighbour_or_another_host_is_never_the_same(one: str, other: str) -> None:
    assert not same_repository(one, other)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "fleet",
        "/srv/fleet",
        "C:\\fleet",
        "https://",
        "https://host",
        "https://[::1/a",
        "https://h:x/a",
        "mailto:a@b",
    ],
)
def test_what_is_no_url_is_the_same_as_nothing(text: str) -> None:
    assert canonical_url(text) == ""
    assert not same_repository(text, text)


@given(st.text())
def test_any_text_has_an_answer(text: str) -> None:
    assert same_repository(text, text) is (canonical_url(text) != "")
