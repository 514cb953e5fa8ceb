"""Whatever a template renders is read back: an object too many, or one of another name, never leaves."""

from dataclasses import replace

import pytest

from clusters_app.repo.units import UnitError, unit


def test_a_value_that_breaks_out_of_its_line_is_refused() -> None:
    with pytest.raises(UnitError, match=r"cluster-vars\.yaml holds"):
        unit("cluster").render(fleet={"variables": {"A: 1\n---\nkind: Secret\nB": "x"}})


def test_a_value_is_never_read_as_a_template() -> None:
    files = unit("cluster").render(name="{{ cookiecutter.branch }}")
    assert b'CLUSTER_NAME: "{{ cookiecutter.branch }}"' in files["cluster-vars.yaml"]


def test_an_unknown_variable_is_refused() -> None:
    with pytest.raises(UnitError, match="no variable colour"):
        unit("cluster").render(colour="red")


def test_a_manifest_without_a_promise_is_refused() -> None:
    with pytest.raises(UnitError, match="not None"):
        replace(unit("environment"), documents=()).render()
