"""Both profiles of safe_yaml: what is refused, what is read, and where things stand."""

import contextlib
import json
import time

import pytest
import yaml as pyyaml
from hypothesis import example, given
from hypothesis import strategies as st

from clusters_app.ingest import IngestError, JsonValue
from clusters_app.safe_yaml import (
    Alias,
    Duplicate,
    Mapping,
    Node,
    Scalar,
    Sequence,
    events,
    load_network,
    load_repository,
    to_plain,
)


def network_code(text: str | bytes) -> tuple[str, int | None]:
    with pytest.raises(IngestError) as caught:
        load_network(text)
    return caught.value.code, caught.value.line


def plain(text: str) -> list[JsonValue]:
    parsed = load_repository(text.encode())
    assert parsed.problem is None
    return [to_plain(document.root) for document in parsed.documents]


# The network profile


def test_a_small_document_is_read() -> None:
    text = "apiVersion: v1\nclusters:\n- cluster: {server: 'https://a:6443'}\n  name: \"a\"\nn: 3\nt: true\nnothing:\n"
    assert load_network(text) == {
        "apiVersion": "v1",
        "clusters": [{"cluster": {"server": "https://a:6443"}, "name": "a"}],
        "n": 3,
        "t": True,
        "nothing": None,
    }


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "---\n", "\ufeff"])
def test_nothing_is_none(text: str) -> None:
    assert load_network(text) is None


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a: &x 1\n", "yaml.alias", 1),
        ("a: 1\nb: *x\n", "yaml.alias", 2),
        ("a:\n  <<: {b: 1}\n", "yaml.alias", 2),
        ("a: !!python/object/apply:os.system ['id']\n", "yaml.tag", 1),
        ("a: 1\nb: !!str 2\n", "yaml.tag", 2),
        ("%YAML 1.1\n---\na: 1\n", "yaml.tag", 1),
        ("%TAG ! tag:x,2000:\n---\na: 1\n", "yaml.tag", 1),
        ("a: 1\nb: 2\na: 3\n", "yaml.duplicate-key", 3),
        ('x: {a: 1, "a": 2}\n', "yaml.duplicate-key", 1),
        ("? [a]\n: 1\n", "yaml.complex-key", 1),
        ("a: 1\n---\nb: 2\n", "yaml.several-documents", 3),
        ("a: [1\n", "yaml.not-yaml", 2),
        ("a: b: c\n", "yaml.not-yaml", 1),
        ("a:\n\tb: 1\n", "yaml.tab", 2),
        ('a: "\\0"\n', "yaml.control-character", 1),
        ("a: \x07\n", "yaml.not-yaml", 1),
        ("[" * 51 + "]" * 51, "yaml.too-deep", 1),
        ("a: 1\nb: " + "{a: " * 60 + "1" + "}" * 60, "yaml.too-deep", 2),
        ("[" * 100_000, "yaml.not-yaml", 1),
        ("- 1\n" * 50_000, "yaml.too-many-nodes", None),
        ("a: \ud800", "yaml.not-utf8", 1),
    ],
)  # fmt: skip
def test_what_does_not_belong_into_a_small_document_is_refused_with_its_line(
    text: str, code: str, line: int | None
) -> None:
    got = network_code(text)
    assert got[0] == code
    assert line is None or got[1] == line


def test_a_quarter_of_a_megabyte_is_the_limit() -> None:
    fits = "a: " + "x" * (256 * 1024 - 3)
    assert load_network(fits)
    assert network_code(fits + "x")[0] == "yaml.too-large"


def test_bytes_that_are_no_text_are_refused() -> None:
    assert network_code(b"a: 1\nb: \xff\xfe\n") == ("yaml.not-utf8", 2)
    assert network_code("a: 1".encode("utf-16"))[0] == "yaml.not-utf8"


@pytest.mark.parametrize("secret", ["swordfish", "eyJhbGciOi"])
@pytest.mark.parametrize("text", ["a: [{}\n", "a: {}: b: c\n", "{0}: 1\n{0}: 2\n", "a: &{} 1\n", "a: !{} 1\n", "\t{}"])
def test_an_error_never_repeats_content(text: str, secret: str) -> None:
    with pytest.raises(IngestError) as caught:
        load_network(text.format(secret))
    assert secret not in caught.value.message
    assert caught.value.__cause__ is None


def test_a_laughing_document_is_refused_at_once() -> None:
    assert network_code(laughs())[0] == "yaml.alias"


# The repository profile


def laughs() -> str:
    levels = [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 30)]
    return "\n".join(["a0: &a0 [x, x, x, x, x, x, x, x, x]", *levels])


def test_a_laughing_document_stays_small() -> None:
    started = time.process_time()
    parsed = load_repository(laughs().encode())
    root = parsed.documents[0].root
    assert len(json.dumps(to_plain(root))) < 5_000
    assert len(repr(root)) < 200_000
    assert root == root  # noqa: PLR0124 - comparing must not expand either
    assert time.process_time() - started < 1


def test_an_anchor_inside_itself_ends() -> None:
    parsed = load_repository(b"a: &a [1, *a]\n")
    root = parsed.documents[0].root
    assert to_plain(root) == {"a": [1, "*a"]}
    assert isinstance(root, Mapping)
    inner = root.get("a")
    assert isinstance(inner, Sequence)
    assert isinstance(inner.items[1], Alias)
    assert inner.items[1].target is None


def test_aliases_merge_keys_and_tags_are_read_and_not_acted_upon() -> None:
    text = "base: &base {a: 1}\nuser:\n  <<: *base\n  b: !reference [.base, script]\n  c: !!python/name:os.system x\n"
    assert plain(text) == [
        {"base": {"a": 1}, "user": {"<<": "*base", "b": [".base", "script"], "c": "x"}},
    ]


def test_an_alias_to_a_scalar_is_its_value_and_knows_both_places() -> None:
    parsed = load_repository(b"a: &v 1.2.3\nb: *v\n")
    root = parsed.documents[0].root
    assert isinstance(root, Mapping)
    alias = root.pairs[1][1]
    assert isinstance(alias, Alias)
    assert alias.target is root.pairs[0][1]
    assert (alias.place.line, parsed.text[alias.place.start : alias.place.end]) == (2, "*v")
    assert to_plain(root) == {"a": "1.2.3", "b": "1.2.3"}


def test_anchors_count_in_their_own_document_only() -> None:
    parsed = load_repository(b"a: &v 1\n---\nb: *v\n")
    assert (len(parsed.documents), parsed.problem and parsed.problem.code) == (1, "yaml.unknown-alias")


@pytest.mark.parametrize(
    "text",
    [
        "{{- if .Values.x }}\na: 1\n{{- end }}\n",
        "a: {{ .Values.x }}\n",
        "a: [1\n",
        "\tb: 1\n",
        "%",
        "a: *nothing\n",
        "a: &b &c d\n",
        "- a\nb: c\n",
        "\x00\x01\x02",
    ],
)
def test_what_is_not_yaml_is_content_with_a_problem(text: str) -> None:
    parsed = load_repository(text.encode())
    if parsed.problem is not None:
        assert parsed.problem.line is not None
    assert parsed.text == text


def test_a_helm_template_has_a_problem() -> None:
    parsed = load_repository(b"kind: Deployment\nspec:\n{{- if .Values.x }}\n  a: 1\n{{- end }}\n")
    assert parsed.problem is not None
    assert (parsed.problem.code, parsed.problem.line) == ("yaml.not-yaml", 4)
    assert parsed.documents == ()


def test_documents_before_a_problem_are_kept() -> None:
    parsed = load_repository(b"a: 1\n---\nb: 2\n---\nc: [\n---\nd: 4\n")
    assert [to_plain(document.root) for document in parsed.documents] == [{"a": 1}, {"b": 2}]
    assert parsed.problem is not None


def test_documents_know_their_lines() -> None:
    parsed = load_repository(b"# a comment\n---\na: 1\n---\n---\n# nothing\n---\n\nb: 2\n...\n---\n- 3\n")
    assert [(document.index, document.line) for document in parsed.documents if document.root] == [
        (0, 3),
        (3, 9),
        (4, 12),
    ]
    assert [document.root for document in parsed.documents[1:3]] == [None, None]


def test_duplicate_keys_are_listed_with_both_lines() -> None:
    text = b"a: 1\nb:\n  c: 1\n  d: 2\n  'c': 3\na: 2\n---\nx: &x {y: 1}\nz: {<<: *x, y: 2}\n"
    parsed = load_repository(text)
    assert parsed.documents[0].duplicates == (Duplicate("c", 3, 5), Duplicate("a", 1, 6))
    assert parsed.documents[1].duplicates == ()
    assert to_plain(parsed.documents[0].root) == {"a": 2, "b": {"c": 3, "d": 2}}


def test_four_megabytes_are_the_limit() -> None:
    parsed = load_repository(b"a: " + b"x" * (4 * 1024 * 1024))
    assert (parsed.documents, parsed.problem and parsed.problem.code) == ((), "yaml.too-large")


def test_too_many_values_are_a_problem() -> None:
    parsed = load_repository(b"- 1\n" * 600_000)
    assert parsed.problem is not None
    assert parsed.problem.code == "yaml.too-many-nodes"


def test_a_file_that_is_no_utf8_is_a_problem_with_a_line() -> None:
    parsed = load_repository(b"a: 1\nb: \xe9\n")
    assert parsed.problem is not None
    assert (parsed.problem.code, parsed.problem.line) == ("yaml.not-utf8", 2)


@pytest.mark.parametrize(
    ("text", "value"),
    [("a: |\n  x\n  \ty\n", "x\n\ty\n"), ("a: |\n  \tx\n  y\n", "\tx\ny\n"), ("a: >\n\n  \tx\n", "\n\tx\n")],
)
def test_a_tab_inside_a_block_scalar_is_no_problem(text: str, value: str) -> None:
    assert plain(text) == [{"a": value}]
    assert [event.value for event in events(text) if isinstance(event, pyyaml.ScalarEvent)] == ["a", value]


@pytest.mark.parametrize("text", ["a:\n\tb: 1\n", "a: |\n\tx\n", "a: x\n\ty\n", "- a\n-\tb\n"])
def test_a_tab_as_indentation_is_named(text: str) -> None:
    problem = load_repository(text.encode()).problem
    assert (problem and problem.code, problem and problem.line) == ("yaml.tab", 2)


def test_a_large_file_with_a_tab_is_not_read_slowly() -> None:
    started = time.process_time()
    parsed = load_repository(b"- 1\n" * 70_000 + b"- |\n  \tx\n")
    assert parsed.problem is not None
    assert parsed.problem.code == "yaml.tab"
    assert time.process_time() - started < 3


@pytest.mark.parametrize(
    "text",
    [
        "[" * 4000,
        "{a: " * 4000,
        "- " * 4000,
        "? " * 4000,
        "&a " * 4000,
        "[" * 99 + "a" * 100_000,
        '"' + "\\n" * 500_000,
        "a: '" + "''" * 500_000,
        "a:\n" + "  b: c\n" * 30_000,
        "[" + "a: 1, " * 30_000,
        "[" + "a, " * 50_000,
        "a: |\n" + " \n" * 500_000,
        "# " * 1_000_000,
        "\n" * 1_000_000,
        " " * 1_000_000 + "a: 1",
        "a: " + "b " * 500_000,
        "---\n" * 50_000,
        "!" * 500_000,
        "%TAG !a! tag:x:\n" * 20_000,
    ],
    ids=range(19),
)
def test_a_hostile_file_costs_little(text: str) -> None:
    started = time.process_time()
    parsed = load_repository(text.encode())
    for document in parsed.documents:
        to_plain(document.root)
    assert time.process_time() - started < 4


def test_a_harmless_list_of_two_megabytes_is_read_quickly() -> None:
    started = time.process_time()
    parsed = load_repository(b"- name: some-name\n  value: of some length\n" * 50_000)
    assert parsed.problem is None
    # A second and a half; coverage's tracer costs several times that, and quadratic reading would take minutes.
    assert time.process_time() - started < 20


# Places


def spelled(parsed_text: str, node: Node) -> str:
    return parsed_text[node.place.start : node.place.end]


@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_offsets_lead_to_the_text_of_a_node(bom: str, newline: str) -> None:
    text = bom + newline.join(["# ключ", "a: 'it''s'", 'b: {c: "x\\ty", d: [1, 2]}', "e: plain text # comment", ""])
    parsed = load_repository(text.encode())
    root = parsed.documents[0].root
    assert isinstance(root, Mapping)
    values = {key.text: spelled(parsed.text, value) for key, value in root.pairs if isinstance(key, Scalar)}
    assert values == {"a": "'it''s'", "b": '{c: "x\\ty", d: [1, 2]}', "e": "plain text"}
    assert [value.place.line for _, value in root.pairs] == [2, 3, 4]
    assert parsed.text == text


def test_a_node_begins_before_its_anchor_and_tag() -> None:
    parsed = load_repository(b"a: &x !!str 1\n")
    root = parsed.documents[0].root
    assert isinstance(root, Mapping)
    value = root.pairs[0][1]
    assert isinstance(value, Scalar)
    assert spelled(parsed.text, value) == "&x !!str 1"
    assert (value.anchor, value.tag, value.text) == ("x", "tag:yaml.org,2002:str", "1")


@pytest.mark.parametrize(("text", "style"), [("a", ""), ("'a'", "'"), ('"a"', '"'), ("|\n  a", "|"), (">-\n  a", ">")])
def test_the_style_of_a_scalar_is_kept(text: str, style: str) -> None:
    root = load_repository(f"k: {text}\n".encode()).documents[0].root
    assert isinstance(root, Mapping)
    value = root.get("k")
    assert isinstance(value, Scalar)
    assert value.style == style


def test_events_are_those_of_the_parser() -> None:
    kinds = [type(event).__name__ for event in events("a: 1\n")]
    assert kinds[2:5] == ["MappingStartEvent", "ScalarEvent", "ScalarEvent"]
    with pytest.raises(IngestError):
        list(events("a: [\n"))


# Typing


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None), ("~", None), ("null", None), ("true", True), ("False", False), ("0", 0), ("-7", -7), ("42", 42),
        ("1.5", 1.5), ("-0.25", -0.25), ("9223372036854775807", 2**63 - 1),
        # What readers disagree on stays text.
        ("9223372036854775808", "9223372036854775808"), ("0777", "0777"), ("0x1f", "0x1f"), ("0o17", "0o17"),
        ("1_000", "1_000"), ("1e3", "1e3"), ("553640e6", "553640e6"), ("0e12345", "0e12345"), ("+1", "+1"),
        ("1:30", "1:30"),
        ("yes", "yes"), ("on", "on"), ("y", "y"), ("2026-11-30", "2026-11-30"), (".inf", ".inf"), (".nan", ".nan"),
        ("1.", "1."), (".5", ".5"), ("1.2.3", "1.2.3"), ("٣", "٣"), ("'1'", "1"), ('"true"', "true"), ("!!str 1", "1"),
        ("!!int '3'", "3"), ("!x true", "true"), ("1" * 400 + ".0", "1" * 400 + ".0"),
    ],
)  # fmt: skip
def test_scalars_are_typed_only_where_every_reader_agrees(text: str, value: object) -> None:
    got = plain(f"k: {text}\n")[0]
    assert isinstance(got, dict)
    assert (got["k"], type(got["k"])) == (value, type(value))


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=["Cs", "Cc"]), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcдё -_", max_size=5), inner, max_size=4),
    max_leaves=15,
)


@given(json_values)
def test_json_is_yaml_in_both_profiles(value: JsonValue) -> None:
    text = json.dumps(value)
    assert load_network(text) == value
    parsed = load_repository(text.encode())
    assert parsed.problem is None
    assert to_plain(parsed.documents[0].root if parsed.documents else None) == value


@given(json_values)
def test_what_pyyaml_writes_is_read_back(value: JsonValue) -> None:
    text = pyyaml.safe_dump_all([value, value], allow_unicode=True, explicit_start=True)
    parsed = load_repository(text.encode())
    assert parsed.problem is None
    shared = {"*id001", "*id002", "*id003"}
    got = [to_plain(document.root) for document in parsed.documents]
    assert got == [value, value] or any(mark in json.dumps(got) for mark in shared)


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
@example(b"\xef\xbb\xbf")
@example(b"\xef\xbb\xbf\xef\xbb\xbfa: 1")
@example(b"a: !<tag:> b")
def test_no_bytes_break_a_reader(data: bytes) -> None:
    parsed = load_repository(data)
    for document in parsed.documents:
        json.dumps(to_plain(document.root), allow_nan=False)
    with contextlib.suppress(IngestError):
        json.dumps(load_network(data), allow_nan=False)


@given(st.text("ab:-?[]{}&*!|>'\"%@`#,\n \t<~0.", max_size=60))
def test_no_punctuation_breaks_a_reader_and_every_place_is_inside(text: str) -> None:
    parsed = load_repository(text.encode())
    for document in parsed.documents:
        check_places(document.root, len(parsed.text))
        to_plain(document.root)


def check_places(node: Node | None, size: int) -> None:
    if node is None or isinstance(node, Alias):
        return
    assert 0 <= node.place.start <= node.place.end <= size
    children = node.items if isinstance(node, Sequence) else ()
    pairs = node.pairs if isinstance(node, Mapping) else ()
    for child in [*children, *(part for pair in pairs for part in pair)]:
        check_places(child, size)
