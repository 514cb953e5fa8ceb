"""Facts in commit messages survive what forges do to them, and are not read where somebody merely quotes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusters_app.git.trailers import read_trailers, trailer, with_trailers


def test_a_block_at_the_end_is_read_in_order() -> None:
    text = with_trailers("Promote\n\nBody", [("Flotilla-Promotion", "7"), ("Flotilla-App", "a"), ("Flotilla-App", "b")])
    assert text == "Promote\n\nBody\n\nFlotilla-Promotion: 7\nFlotilla-App: a\nFlotilla-App: b\n"
    assert read_trailers(text) == (("Flotilla-Promotion", "7"), ("Flotilla-App", "a"), ("Flotilla-App", "b"))
    assert trailer(text, "Flotilla-Promotion") == "7"
    assert trailer(text, "Flotilla-Stage") is None


def test_a_squash_that_buries_the_block_hides_nothing() -> None:
    text = "Promote (#7)\n\n* Promote\n\nFlotilla-Promotion: 7\r\n\n* fix\n\nCo-authored-by: Ada <a@b>\n"
    assert read_trailers(text) == (("Flotilla-Promotion", "7"),)


@pytest.mark.parametrize("line", ["> Flotilla-App: a", "  Flotilla-App: a", "see Flotilla-App: a", "\tFlotilla-App: a",
                                  "flotilla-app: a", "Co-authored-by: Flotilla-App"])  # fmt: skip
def test_a_quoted_or_indented_line_is_no_fact(line: str) -> None:
    assert read_trailers(f"Revert\n\n{line}\n") == ()


def test_an_exact_copy_counts_once() -> None:
    assert read_trailers("Flotilla-App: a\nFlotilla-App: a\nFlotilla-App: b\n") == (
        ("Flotilla-App", "a"),
        ("Flotilla-App", "b"),
    )


@pytest.mark.parametrize(("key", "value"), [("Flotilla App", "a"), ("", "a"), ("Flotilla-App", "a\nFlotilla-App: b")])
def test_a_trailer_that_would_be_read_differently_is_not_written(key: str, value: str) -> None:
    with pytest.raises(ValueError, match="not a trailer"):
        with_trailers("x", [(key, value)])


@given(st.text(), st.text(st.characters(categories=("L", "N", "P")), min_size=1))
def test_what_is_written_is_read_under_any_message(text: str, value: str) -> None:
    assert ("Flotilla-Promotion", value) in read_trailers(with_trailers(text, [("Flotilla-Promotion", value)]))
