"""Identities, revisions, inventory entries and versions, as every part of the product reads them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusters_app.flux.identity import InventoryEntry, ObjectRef, Revision, Version, is_same_version
from clusters_app.flux.revisions import short
from clusters_app.flux.times import newest, parse_duration, parse_time

SHA1, SHA256 = "0123456789abcdef0123456789abcdef01234567", "a" * 64


def test_an_identity_is_written_and_read_again() -> None:
    for ref in (ObjectRef("Kustomization", "flux-system", "apps"), ObjectRef("Module", "", "ingress")):
        assert ObjectRef.parse(str(ref)) == ref
    assert str(ObjectRef("Module", "", "ingress")) == "Module/ingress"


@pytest.mark.parametrize("text", ["", "apps", "a/b/c/d", "/ns/name", "Kind/ns/"])
def test_what_is_no_identity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not Kind"):
        ObjectRef.parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"main@sha1:{SHA1}", Revision("main", "sha1", SHA1)),
        (f"refs/heads/x@sha1:{SHA1}", Revision("refs/heads/x", "sha1", SHA1)),
        (f"user@host@sha1:{SHA1}", Revision("user@host", "sha1", SHA1)),
        (f"latest@sha256:{SHA256}", Revision("latest", "sha256", SHA256)),
        (f"sha256:{SHA256}", Revision("", "sha256", SHA256)),
        ("1.2.3", Revision("1.2.3", "", "")),
        (f"main/{SHA1}", Revision("main", "sha1", SHA1)),
        ("feature/login", Revision("feature/login", "", "")),
        ("", Revision("", "", "")),
    ],
)
def test_a_revision_is_split_at_its_last_at_sign(text: str, expected: Revision) -> None:
    assert Revision.parse(text) == expected


def test_a_revision_is_cut_to_eight_digits_for_people() -> None:
    assert Revision.parse(f"main@sha1:{SHA1}").short() == "main@sha1:01234567"
    assert short(f"registry.lab:5000/app:1.0@sha256:{SHA256}") == "registry.lab:5000/app:1.0@sha256:aaaaaaaa"
    assert short(SHA1) == "01234567"
    assert short("1.0.0+a3428f37955b") == "1.0.0+a3428f37955b"
    assert short(None) is None


def test_revisions_of_one_commit_are_the_same_content_on_any_branch() -> None:
    main, tag = Revision.parse(f"main@sha1:{SHA1}"), Revision.parse(f"v1@sha1:{SHA1}")
    assert main.is_same_content(tag)
    assert not main.is_same_content(Revision.parse(f"main@sha1:{'f' * 40}"))
    assert Revision.parse("1.0.0").is_same_content(Revision.parse("1.0.0"))


@given(st.text(max_size=80))
def test_every_text_is_some_revision_and_comes_out_whole(text: str) -> None:
    revision = Revision.parse(text)
    assert revision.hash in text
    assert str(Revision.parse(str(revision))) == str(revision)


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("apps_web_apps_Deployment", ("Deployment/apps/web", "apps")),
        ("apps_web__Service", ("Service/apps/web", "")),
        (
            "_s__basic_rbac.authorization.k8s.io_ClusterRole",
            ("ClusterRole/s:basic", "rbac.authorization.k8s.io"),
        ),
        ("shop_shop_helm.toolkit.fluxcd.io_HelmRelease", ("HelmRelease/shop/shop", "helm.toolkit.fluxcd.io")),
    ],
)
def test_an_inventory_entry_is_taken_apart(identifier: str, expected: tuple[str, str]) -> None:
    entry = InventoryEntry.parse(identifier)
    assert (str(entry.ref), entry.group) == expected


@pytest.mark.parametrize("identifier", ["", "a", "a_b", "a_b_c", "___"])
def test_what_is_no_inventory_entry_is_refused(identifier: str) -> None:
    with pytest.raises(ValueError, match="is not <namespace>"):
        InventoryEntry.parse(identifier)


@pytest.mark.parametrize(
    ("promoted", "runs", "same"),
    [
        ("1.7.2", "1.7.2+5c938ddd1547", True),
        ("104.1.0_up2", "104.1.0+up2", True),
        ("104.1.0_up2", "104.1.0+up3", False),
        ("v0.9.0", "0.9.0", True),
        ("v0.9.0", "v0.9.0-rc.1", False),
        ("1.10.0", "1.1.0", False),
        ("1.0", "1.0.0", True),
        ("main-8c1f", "main-8c1f", True),
        ("main_8c1f", "main_9d2a", False),
    ],
)
def test_a_promoted_version_is_recognised_where_it_runs(promoted: str, runs: str, same: bool) -> None:
    """C023: never a plain comparison of texts."""
    assert is_same_version(promoted, runs) is same


def test_versions_stand_in_natural_order() -> None:
    """C069: numbers by value, a candidate before its release, four parts, no number before all."""
    ordered = ["main-8c1f", "1.0.0.2", "1.0.0.10", "v1.2", "1.9.0", "1.10.0-rc.2", "1.10.0-rc.10", "1.10.0"]
    shuffled = [*ordered[4:], *ordered[:4]]
    assert sorted(shuffled, key=Version) == ordered


def test_build_metadata_is_kept_apart() -> None:
    version = Version("1.7.2+5c938ddd1547")
    assert (version.build, version == Version("1.7.2"), hash(version) == hash(Version("1.7.2"))) == (
        "5c938ddd1547",
        True,
        True,
    )


@given(
    st.lists(
        st.from_regex(r"v?[0-9]{1,3}(\.[0-9]{1,3}){0,3}(-[a-z0-9.]{1,5})?", fullmatch=True), min_size=2, max_size=6
    )
)
def test_the_order_of_versions_is_an_order(texts: list[str]) -> None:
    versions = sorted(map(Version, texts))
    assert all(not later < earlier for earlier, later in pairwise(versions))


@pytest.mark.parametrize("text", [None, "", "soon", "2026-13-01T00:00:00Z", "0001-01-01T00:00:00+25:00", "99999"])
def test_an_odd_time_is_none(text: str | None) -> None:
    assert parse_time(text) is None


def test_times_are_in_utc_and_the_newest_wins() -> None:
    assert str(parse_time("2026-11-30T18:00:00+01:00")) == "2026-11-30 17:00:00+00:00"
    assert str(newest("2026-11-30T16:00:00Z", None, "2026-11-30T17:00:00Z")) == "2026-11-30 17:00:00+00:00"
    assert str(newest("2026-11-30T16:00:00.5Z", "odd", "2026-11-30T16:00:00Z")) == "2026-11-30 16:00:00.500000+00:00"
    assert newest(None, None) is None


@pytest.mark.parametrize(
    ("text", "seconds"), [("1h2m3.5s", 3723.5), ("5m", 300), ("500ms", 0.5), ("0", 0), (".5h", 1800)]
)
def test_durations_are_those_of_go(text: str, seconds: float) -> None:
    duration = parse_duration(text)
    assert duration is not None
    assert duration.total_seconds() == seconds


@pytest.mark.parametrize("text", [None, "", "5", "5 minutes", "-5m", "1d", "h"])
def test_an_odd_duration_is_none(text: str | None) -> None:
    assert parse_duration(text) is None


def test_a_duration_beyond_reason_is_bounded() -> None:
    assert parse_duration("9" * 60 + "h") == parse_duration("99999999999h")
