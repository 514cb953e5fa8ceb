"""Small values: image references, and which version is newer beyond doubt."""

import pytest

from clusters_app.repo.image_reference import ImageReference
from clusters_app.repo.versions import is_range, is_surely_newer

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("text", "repository", "tag", "digest"),
    [
        ("web", "web", None, None),
        ("web:1", "web", "1", None),
        ("reg:5000/team/web", "reg:5000/team/web", None, None),
        ("reg:5000/team/web:1.2", "reg:5000/team/web", "1.2", None),
        (f"reg:5000/web@{DIGEST}", "reg:5000/web", None, DIGEST),
        (f"reg:5000/web:2027.1@{DIGEST}", "reg:5000/web", "2027.1", DIGEST),
    ],
)
def test_a_reference_is_read_and_written_back(text: str, repository: str, tag: str | None, digest: str | None) -> None:
    image = ImageReference.parse(text)
    assert image == ImageReference(repository, tag, digest)
    assert str(image) == text


@pytest.mark.parametrize("text", ["", "a b", "web:${TAG}", "{{ image }}", "web:", "web@sha256:1", "reg/:1", "web:a/b:"])
def test_what_is_no_reference_is_none(text: str) -> None:
    assert ImageReference.parse(text) is None


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("1.10.0", "1.9.0"),
        ("v2.0.0", "v1.9.9"),
        ("1.0.0", "1.0.0-rc.1"),
        ("1.0.0-rc.10", "1.0.0-rc.9"),
        ("2026.2.0", "2026.1.9"),
    ],
)
def test_semantic_versions_are_compared(newer: str, older: str) -> None:
    assert is_surely_newer(newer, older)
    assert not is_surely_newer(older, newer)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("v2.0.1-3-g12ab34c", "v2.0.1"),
        ("1.1.1-rc10", "1.1.1-rc9"),
        ("2026.2.0", "4.9.1"),
        ("v1.0.0", "1.1.0"),
        ("main-9f2c1aa-1699", "main-77de012-1700"),
        ("3.2.0-patched", "3.2.0"),
        ("1.2", "1.1"),
        ("latest", "1.0.0"),
    ],
)
def test_anything_else_is_only_different(one: str, other: str) -> None:
    assert not is_surely_newer(one, other)
    assert not is_surely_newer(other, one)


def test_ranges_are_told_from_versions() -> None:
    assert all(map(is_range, [">=1.0.0", "1.x", "^1.2.3", "~1", "*", "1.2", "1", "1.0.0 - 2.0.0", ""]))
    assert not any(map(is_range, ["1.2.3", "v1.2.3", "1.2.3-rc.1", "1.2.3+build.5"]))
