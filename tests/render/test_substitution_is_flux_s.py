"""Variables become what Flux's own library makes of them: its answers were recorded (fluxcd/pkg/envsubst 1.7.1)."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusters_app.render import RenderRefused, substitute, substitute_documents

VARIABLES = {
    "A": "abc", "E": "", "P": "a/b/c.txt", "U": "ABC", "N": "12", "H_1": "x y", "R": "aXbXc", "D": "$A", "G": "ααβ",
}  # fmt: skip
# Each row: the text, what it becomes, what it becomes in strict mode; null is an error.
RECORDED = json.loads(Path(__file__).with_name("recorded_substitutions.json").read_text())


def answer(text: str, *, strict: bool) -> str | None:
    try:
        return substitute(text, VARIABLES, strict=strict)
    except RenderRefused:
        return None


@pytest.mark.parametrize(("text", "loose", "strict"), RECORDED)
def test_each_recorded_answer_is_given_again(text: str, loose: str | None, strict: str | None) -> None:
    assert answer(text, strict=False) == loose
    assert answer(text, strict=True) == strict


def test_a_variable_without_value_is_named() -> None:
    with pytest.raises(RenderRefused) as refused:
        substitute("a: ${DS_PROM}", {"A": "1"}, strict=True)
    assert refused.value.code == "substitute.unset"
    assert refused.value.problem == "The variable DS_PROM has no value."
    assert "$${DS_PROM}" in refused.value.remedy


def test_a_broken_expression_is_quoted_by_its_beginning_alone() -> None:
    with pytest.raises(RenderRefused) as refused:
        substitute("password: ${A.b and then a secret value follows", {}, strict=False)
    assert refused.value.code == "substitute.syntax"
    assert "secret value" not in str(refused.value)


def test_dashboards_keep_what_is_theirs() -> None:
    """C030, with the variables of a real layer."""
    text = "a: $${instance}\nb: $HOME\nc: ${PORT:-80}\nd: $$hashKey\n"
    assert substitute_documents(text, {"X": "1"}, strict=True) == "a: ${instance}\nb: $HOME\nc: 80\nd: $hashKey\n"


@pytest.mark.parametrize("place", ["labels", "annotations"])
def test_an_object_that_switches_substitution_off_is_left_alone(place: str) -> None:
    switch = "kustomize.toolkit.fluxcd.io/substitute: disabled"
    off = f"kind: ConfigMap\nmetadata:\n  {place}:\n    {switch}\ndata:\n  a: ${{A}}\n"
    on = "kind: ConfigMap\ndata:\n  a: ${A}\n  b: |\n    ---\n    ${A}\n"
    rendered = substitute_documents(f"{off}---\n{on}", {"A": "1"}, strict=True)
    assert rendered == f"{off}---\n{on.replace('${A}', '1')}"


def test_the_switch_counts_only_as_a_label_or_annotation() -> None:
    text = "kind: ConfigMap\ndata:\n  kustomize.toolkit.fluxcd.io/substitute: disabled\n  a: ${A}\n"
    assert "a: 1" in substitute_documents(text, {"A": "1"}, strict=True)


def test_without_any_variable_nothing_happens_unless_it_is_asked_for() -> None:
    text = "a: ${A:-x}\nb: $$\n"
    assert substitute_documents(text, {}, strict=True) == text
    assert substitute_documents(text, {}, strict=True, always=True) == "a: x\nb: $\n"


def test_line_ends_of_values_are_dropped_and_values_are_not_read_again() -> None:
    assert substitute_documents("a: ${A}", {"A": "one\ntwo ${A}"}, strict=True) == "a: onetwo ${A}"


@pytest.mark.parametrize("name", ["", "1A", "A-B", "A.B", "é", "A B"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(RenderRefused) as refused:
        substitute_documents("a", {name: "1"}, strict=False)
    assert refused.value.code == "substitute.name"


@given(st.text(alphabet="${}AE:-=/#%^,*?[]\\ x1é\n"))
def test_any_text_has_an_answer_or_a_refusal(text: str) -> None:
    answer(text, strict=False)


@given(st.text().filter(lambda text: "$" not in text))
def test_a_text_without_a_dollar_stays_as_it_is(text: str) -> None:
    assert substitute(text, VARIABLES, strict=True) == text
