# ruff: noqa: E501 (tables of texts read best one case a line)
"""Each measured trap of editing YAML and JSON as text, one case each."""

import pytest

from clusters_app.repo.edit import EditRefused, Match, Path, Plain, insert_value, remove_value, set_value

WEB = Match((("name", "web"),))


def changed(before: bytes, path: Path, value: str | Plain, document: int = 0) -> bytes:
    return set_value(before, document, path, value)


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        (b"a: 1.2.0   # why\nb: 2\n", ("a",), "1.3.0", b"a: 1.3.0   # why\nb: 2\n"),
        (b"\xef\xbb\xbfa: v1\r\nb: v1\r\n", ("b",), "v2", b"\xef\xbb\xbfa: v1\r\nb: v2\r\n"),
        (b"\xef\xbb\xbfa: v1\n", ("a",), "v2", b"\xef\xbb\xbfa: v2\n"),
        (b"a: &t !!str v1 # c", ("a",), "v2", b"a: &t !!str v2 # c"),
        (b"a: !custom  v1\n", ("a",), "v2", b"a: !custom  v2\n"),
        (b"a: 'v1'\n", ("a",), "it's", b"a: 'it''s'\n"),
        (b'a: "v1"\n', ("a",), 'say "x"\\', b'a: "say \\"x\\"\\\\"\n'),
        (b"a: v1\n", ("a",), "553640e6", b'a: "553640e6"\n'),
        (b"a: v1\n", ("a",), "0e12345", b'a: "0e12345"\n'),
        (b"a: v1\n", ("a",), "0777", b'a: "0777"\n'),
        (b"a: v1\n", ("a",), "1_000", b'a: "1_000"\n'),
        (b"a: v1\n", ("a",), "1.10", b'a: "1.10"\n'),
        (b"a: v1\n", ("a",), "yes", b'a: "yes"\n'),
        (b"a: v1\n", ("a",), "on", b'a: "on"\n'),
        (b"a: v1\n", ("a",), "2026-01-02", b'a: "2026-01-02"\n'),
        (b"a: v1\n", ("a",), "x: y", b'a: "x: y"\n'),
        (b"a: v1\n", ("a",), "", b'a: ""\n'),
        (b"a: 1.10\n", ("a",), "1.10", b'a: "1.10"\n'),
        (b'replicas: "3"\n', ("replicas",), Plain("4"), b"replicas: 4\n"),
        (b"a: {b: v1, c: [v1 ]} # x\n", ("a", "b"), "v,2", b'a: {b: "v,2", c: [v1 ]} # x\n'),
        (b"a.b: 1\na: {b: x}\n", ("a", "b"), "w", b"a.b: 1\na: {b: w}\n"),
        (b"a.b: x\na: {b: x}\n", ("a.b",), "w", b"a.b: w\na: {b: x}\n"),
        (b'"0": x\non: x\n"": x\nA: x\n"with space": x\n', ("on",), "w", b'"0": x\non: w\n"": x\nA: x\n"with space": x\n'),
        (b'"0": x\non: x\n"": x\n', ("",), "w", b'"0": x\non: x\n"": w\n'),
        (b'"0": x\n0: z\n', ("b",), "y", None),
        (b"a:\nb: 1\n", ("a",), "v1", b"a: v1\nb: 1\n"),
        (b"m: |\n  \ttab\n  two\nt: v1\n", ("t",), "v2", b"m: |\n  \ttab\n  two\nt: v2\n"),
        (b"a: long\n  folded text\nb: 1\n", ("a",), "short", b"a: short\nb: 1\n"),
        (b"m: |-\n  old\n  text\nb: 1\n", ("m",), "new\n\ntext", b"m: |-\n  new\n\n  text\nb: 1\n"),
        (b"- name: x\n  v: 1\n-\n    v: v1\n    name: web\n", (WEB, "v"), "v2", b"- name: x\n  v: 1\n-\n    v: v2\n    name: web\n"),
        (
            b'{\t"a": {"image": "r\\/x:1",\n\t"b":1}}',
            ("a", "image"),
            "r/x:2",
            b'{\t"a": {"image": "r/x:2",\n\t"b":1}}',
        ),
        (
            b"data:\r\n  values.yaml: |\r\n    image:\r\n      tag: v1 # keep\r\n    x: 1\r\n",
            ("data", "values.yaml", "image", "tag"),
            "v2",
            b"data:\r\n  values.yaml: |\r\n    image:\r\n      tag: v2 # keep\r\n    x: 1\r\n",
        ),
        (
            b'include: !reference [.base, script]\n\n\nIMAGE_TAG: "1.2.0"\n',
            ("IMAGE_TAG",),
            "1.3.0",
            b'include: !reference [.base, script]\n\n\nIMAGE_TAG: "1.3.0"\n',
        ),
    ],
)  # fmt: skip
def test_one_value_is_replaced_and_nothing_else(
    before: bytes, path: Path, value: str | Plain, after: bytes | None
) -> None:
    if after is None:
        with pytest.raises(EditRefused, match="there is no"):
            changed(before, path, value)
    else:
        assert changed(before, path, value) == after
        assert changed(after, path, value) == after


def test_the_second_document_is_edited_alone() -> None:
    before = b"# head\n---\na: v1\n...\n---\na: v1\n"
    assert changed(before, ("a",), "v2", document=1) == b"# head\n---\na: v1\n...\n---\na: v2\n"


@pytest.mark.parametrize(
    ("before", "path", "code"),
    [
        (b"a: &t v1\nb: *t\n", ("b",), "edit.shared"),
        (b"a: &t v1\nb: *t\n", ("a",), "edit.shared"),
        (b"x: &m {tag: v1}\nb:\n  <<: *m\n", ("b", "tag"), "edit.shared"),
        (b"a: v1\na: v0\n", ("a",), "edit.doubled-key"),
        (b"l:\n- name: web\n  t: 1\n- name: web\n  t: 2\n", ("l", WEB, "t"), "edit.ambiguous"),
        (b"l:\n- name: x\n", ("l", WEB, "t"), "edit.missing"),
        (b"{{ if }}\na: v1\n", ("a",), "edit.not-yaml"),
        (b"\xff\xfe", ("a",), "edit.not-utf8"),
        (b"a: >\n  folded\n", ("a",), "edit.folded"),
        (b"a: !!int 1\n", ("a",), "edit.tag"),
        (b"a: [1]\n", ("a",), "edit.not-a-scalar"),
        (b"---\n# nothing\n---\na: 1\n", ("a",), "edit.empty-document"),
        (b"# nothing\n", ("a",), "edit.no-document"),
    ],
)
def test_what_cannot_be_edited_alone_is_refused(before: bytes, path: Path, code: str) -> None:
    with pytest.raises(EditRefused) as refused:
        changed(before, path, "v2")
    assert refused.value.code == code


def test_a_shared_value_changes_at_its_anchor_when_that_is_asked_for() -> None:
    before = b"a: &t v1 # c\nb: *t\n"
    assert set_value(before, 0, ("b",), "v2", at_anchor=True) == b"a: &t v2 # c\nb: *t\n"


PATCH = (Match((("path", "settings.yaml"),)), {"path": "settings.yaml"})


@pytest.mark.parametrize(
    ("before", "after_step", "after"),
    [
        (b"patches:\n  - path: env.yaml # e\n\nx: 1\n", "env.yaml", b"patches:\n  - path: env.yaml # e\n  - path: settings.yaml\n\nx: 1\n"),
        (b"patches:\r\n-   path: env.yaml\r\n", "env.yaml", b"patches:\r\n-   path: env.yaml\r\n-   path: settings.yaml\r\n"),
        (b"patches:\n- path: env.yaml", "env.yaml", b"patches:\n- path: env.yaml\n- path: settings.yaml"),
        (b"patches:\n- path: env.yaml\n", None, b"patches:\n- path: settings.yaml\n- path: env.yaml\n"),
        (b"patches: [{path: env.yaml}, {path: b}]\n", "env.yaml", b"patches: [{path: env.yaml}, {path: settings.yaml}, {path: b}]\n"),
        (b"patches: []\n", None, b"patches: [{path: settings.yaml}]\n"),
        (b'{"patches":\t[{"path": "env.yaml"}]}', "env.yaml", b'{"patches":\t[{"path": "env.yaml"}, {"path": "settings.yaml"}]}'),
    ],
)  # fmt: skip
def test_a_list_item_is_inserted_in_the_layout_of_the_list(before: bytes, after_step: str | None, after: bytes) -> None:
    match, content = PATCH
    step = Match((("path", after_step),)) if after_step else None
    assert insert_value(before, 0, ("patches", match), dict(content), after=step) == after
    assert remove_value(after, 0, ("patches", match)) == before if before != b"patches: []\n" else True


def test_a_key_is_inserted_behind_its_neighbour_and_a_block_inside_a_block_scalar() -> None:
    before = b"data:\n    a: 1 # one\n    c: |\n      x: 1\n      z: 2\n"
    one = insert_value(before, 0, ("data", "b"), "2", after="a")
    assert one == b'data:\n    a: 1 # one\n    b: "2"\n    c: |\n      x: 1\n      z: 2\n'
    two = insert_value(one, 0, ("data", "c", "w"), {"k": "v", "l": ["1a"]}, after="x")
    assert two.endswith(b"      x: 1\n      w:\n        k: v\n        l:\n          - 1a\n      z: 2\n")
    assert insert_value(one, 0, ("data", "c", "w"), "v", after="z").endswith(b"      z: 2\n      w: v\n")
    assert remove_value(insert_value(one, 0, ("data", "c", "w"), "v", after="x"), 0, ("data", "c", "w")) == one


def test_the_last_child_is_not_removed_but_refused() -> None:
    with pytest.raises(EditRefused) as refused:
        remove_value(b"a:\n  - x\n", 0, ("a", Match((("", "x"),))))
    assert refused.value.code == "edit.last-child"


def test_the_first_key_of_an_item_gives_its_dash_to_the_next() -> None:
    assert remove_value(b"- a: 1\n  name: web\n", 0, (WEB, "a")) == b"- name: web\n"
