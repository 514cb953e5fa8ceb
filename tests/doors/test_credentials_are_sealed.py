"""Sealing, opening, binding, the key file and its rotation."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusters_app.sealed import (
    KeyRing,
    PublicKey,
    SealedError,
    bind,
    generate_key_file,
    open_,
    read_key_file,
    reseal,
    rotate_key_file,
    seal,
    sealed_under,
)
from clusters_app.secret import Secret

HERE = bind(table="cluster", row="7", field="token", host="api.lab:6443")


@pytest.fixture(scope="module")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "seal.key"
    generate_key_file(path)
    return path


@pytest.fixture(scope="module")
def ring(key_file: Path) -> KeyRing:
    return read_key_file(key_file)


def code(call: Callable[[], object]) -> str:
    with pytest.raises(SealedError) as caught:
        call()
    return caught.value.code


@given(st.text(max_size=200))
@settings(max_examples=30)
def test_what_was_sealed_is_opened(text: str) -> None:
    ring = RINGS[0]
    sealed = seal(Secret(text), ring.active, HERE)
    assert open_(sealed, ring, HERE).reveal() == text


RINGS: list[KeyRing] = []


@pytest.fixture(scope="module", autouse=True)
def _ring_for_properties(ring: KeyRing) -> None:
    RINGS[:] = [ring]


def test_the_same_value_is_sealed_differently_each_time(ring: KeyRing) -> None:
    secret = Secret("swordfish")
    one, two = seal(secret, ring.active, HERE), seal(secret, ring.active, HERE)
    assert one != two
    assert b"swordfish" not in one


def test_the_public_key_alone_cannot_open(ring: KeyRing) -> None:
    """What the web process has: the text of a public key. Nothing in the module opens with it."""
    public = PublicKey.parse(str(ring.active))
    sealed = seal(Secret("swordfish"), public, HERE)
    assert code(lambda: open_(sealed, KeyRing(public, {}), HERE)) == "sealed.unknown-key"
    assert open_(sealed, ring, HERE) == Secret("swordfish")


@pytest.mark.parametrize(
    "elsewhere",
    [
        bind(table="repository", row="7", field="token", host="api.lab:6443"),
        bind(table="cluster", row="8", field="token", host="api.lab:6443"),
        bind(table="cluster", row="7", field="client_key", host="api.lab:6443"),
        bind(table="cluster", row="7", field="token", host="evil.lab:6443"),
        bind(table="cluster", row="7", field="token", host=""),
        b"",
    ],
)
def test_a_value_moved_elsewhere_does_not_open(ring: KeyRing, elsewhere: bytes) -> None:
    sealed = seal(Secret("swordfish"), ring.active, HERE)
    assert code(lambda: open_(sealed, ring, elsewhere)) == "sealed.not-authentic"


@given(*(st.text(max_size=6) for _ in range(8)))
def test_no_two_places_are_bound_alike(a: str, b: str, c: str, d: str, e: str, f: str, g: str, h: str) -> None:
    one = bind(table=a, row=b, field=c, host=d)
    other = bind(table=e, row=f, field=g, host=h)
    assert (one == other) is ((a, b, c, d) == (e, f, g, h))


def test_every_changed_byte_is_noticed(ring: KeyRing) -> None:
    sealed = seal(Secret("swordfish"), ring.active, HERE)
    for position in range(len(sealed)):
        changed = bytearray(sealed)
        changed[position] ^= 1
        assert code(lambda changed=bytes(changed): open_(changed, ring, HERE)).startswith("sealed.")  # type: ignore[misc]
    for size in range(len(sealed)):
        assert code(lambda size=size: open_(sealed[:size], ring, HERE)).startswith("sealed.")  # type: ignore[misc]
    assert code(lambda: open_(sealed + b"x", ring, HERE)) == "sealed.not-authentic"


@pytest.mark.parametrize("junk", [b"", b"FLS1", b"swordfish" * 20, b"gAAAAABm" + b"x" * 100])
def test_what_was_never_sealed_is_named(ring: KeyRing, junk: bytes) -> None:
    assert code(lambda: open_(junk, ring, HERE)) == "sealed.malformed"


def test_another_key_is_named_with_a_remedy(ring: KeyRing, tmp_path: Path) -> None:
    other = generate_key_file(tmp_path / "other.key")
    with pytest.raises(SealedError, match="put the missing key back") as caught:
        open_(seal(Secret("swordfish"), other, HERE), ring, HERE)
    assert caught.value.code == "sealed.unknown-key"
    assert other.key_id in caught.value.message
    assert ring.active.key_id in caught.value.message
    assert (ring.holds(ring.active), ring.holds(other)) == (True, False)


def test_bytes_of_a_database_driver_are_opened(ring: KeyRing) -> None:
    sealed = memoryview(seal(Secret("swordfish"), ring.active, HERE))
    assert open_(sealed, ring, HERE) == Secret("swordfish")  # type: ignore[arg-type]


# Keys show nothing


def test_nothing_private_is_shown(ring: KeyRing, key_file: Path) -> None:
    private = key_file.read_text().strip()
    shown = f"{ring!r} {ring.active!r} {ring.active} {ring}"
    assert private not in shown
    assert private.removeprefix("flotilla-seal-private-")[:12] not in shown


@pytest.mark.parametrize("text", ["", "swordfish", "flotilla-seal-public-", "flotilla-seal-public-AAAA", "é"])
def test_what_is_no_public_key_is_refused(text: str) -> None:
    assert code(lambda: PublicKey.parse(text)) == "sealed.public-key"


def test_a_private_key_is_no_public_key(key_file: Path) -> None:
    with pytest.raises(SealedError) as caught:
        PublicKey.parse(key_file.read_text())
    assert key_file.read_text().strip() not in caught.value.message


# The key file


def test_a_new_key_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "seal.key"
    before = os.umask(0)
    try:
        public = generate_key_file(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_key_file(path).active == public


def test_a_key_file_is_never_overwritten(key_file: Path) -> None:
    before = key_file.read_text()
    assert code(lambda: generate_key_file(key_file)) == "sealed.key-file-exists"
    assert key_file.read_text() == before


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o610, 0o601, 0o666])
def test_a_key_file_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "seal.key"
    generate_key_file(path)
    path.chmod(mode)
    assert code(lambda: read_key_file(path)) == "sealed.key-file-open"
    assert code(lambda: rotate_key_file(path)) == "sealed.key-file-open"


def test_a_read_only_key_file_is_fine(tmp_path: Path) -> None:
    path = tmp_path / "seal.key"
    generate_key_file(path)
    path.chmod(0o400)
    assert read_key_file(path).key_ids


@pytest.mark.parametrize(
    "text", ["", "\n", "swordfish\n", "flotilla-seal-private-AAAA\n", "flotilla-seal-public-" + "A" * 43]
)
def test_a_broken_key_file_is_named_and_not_repeated(tmp_path: Path, text: str) -> None:
    path = tmp_path / "seal.key"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(SealedError) as caught:
        read_key_file(path)
    assert caught.value.code == "sealed.key-file-malformed"
    assert str(path) in caught.value.message
    assert "swordfish" not in caught.value.message


def test_a_missing_key_file_is_named(tmp_path: Path) -> None:
    assert code(lambda: read_key_file(tmp_path / "none")) == "sealed.key-file-missing"
    assert code(lambda: read_key_file(tmp_path)) == "sealed.key-file-missing"


# Rotation


def test_after_a_rotation_old_values_open_and_new_ones_use_the_new_key(tmp_path: Path) -> None:
    path = tmp_path / "seal.key"
    first = generate_key_file(path)
    old = seal(Secret("swordfish"), first, HERE)
    second = rotate_key_file(path)
    ring = read_key_file(path)
    assert ring.active == second != first
    assert ring.key_ids == (second.key_id, first.key_id)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert open_(old, ring, HERE) == Secret("swordfish")

    moved = reseal(old, ring, HERE)
    assert (sealed_under(old), sealed_under(moved)) == (first.key_id, second.key_id)
    assert open_(moved, ring, HERE) == Secret("swordfish")
    assert reseal(moved, ring, HERE) is moved


def test_resealing_keeps_the_binding(tmp_path: Path) -> None:
    path = tmp_path / "seal.key"
    sealed = seal(Secret("swordfish"), generate_key_file(path), HERE)
    rotate_key_file(path)
    ring = read_key_file(path)
    elsewhere = bind(table="cluster", row="8", field="token", host="api.lab:6443")
    assert code(lambda: reseal(sealed, ring, elsewhere)) == "sealed.not-authentic"


def test_an_interrupted_rotation_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "seal.key"
    generate_key_file(path)
    (tmp_path / ".seal.key.new").write_text("half")
    second = rotate_key_file(path)
    assert read_key_file(path).active == second
    assert [entry.name for entry in tmp_path.iterdir()] == ["seal.key"]
