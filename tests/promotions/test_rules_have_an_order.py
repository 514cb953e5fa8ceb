"""never > the repository's rules, most specific first > promoted files > kept fields > versions > ask."""

import jsonschema
import pytest
import yaml

from clusters_app.repo.edit_nodes import parse_text
from clusters_app.repo.leaves import Leaf, leaves_of
from clusters_app.repo.rules import RULES_PATH, SCHEMA, Action, Rule, Rules, RulesError, read_rules
from clusters_app.repo.tree import MemoryTree

from .fleets import fleet, kustomization, plan

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, annotations: {shop.lab/version: "1", a.b: x}}
spec:
  replicas: 3
  suspend: true
  template:
    spec:
      containers: [{name: web, image: "r/web:1", env: [{name: PUBLIC_URL, value: u}, {name: MODE, value: m}]}]
"""


def leaf(*end: str, text: str = DEPLOYMENT) -> Leaf:
    return next(each for each in leaves_of(parse_text(text), 0) if each.field[-len(end) :] == end)


def rules(text: str) -> Rules:
    return read_rules(MemoryTree({RULES_PATH: text.encode()}))


@pytest.mark.parametrize(
    ("file", "end", "action", "code"),
    [
        ("a/workload.yaml", ("image",), Action.PROMOTE, "version-field"),
        ("a/workload.yaml", ("replicas",), Action.KEEP, "environment-field"),
        ("a/workload.yaml", ("name=PUBLIC_URL", "value"), Action.KEEP, "environment-field"),
        ("a/workload.yaml", ("name=MODE", "value"), Action.ASK, "unknown"),
        ("a/workload.yaml", ("suspend",), Action.NEVER, "suspend"),
        ("a/settings.yaml", ("replicas",), Action.PROMOTE, "promoted-file"),
        ("a/settings.yaml", ("name=PUBLIC_URL", "value"), Action.PROMOTE, "promoted-file"),
        ("a/settings.yaml", ("suspend",), Action.NEVER, "suspend"),
        ("a/settings.yaml", ("metadata", "name"), Action.KEEP, "identity"),
        ("a/env.yaml", ("image",), Action.KEEP, "kept-file"),
        ("a/gotk-sync.yaml", ("image",), Action.NEVER, "bootstrap"),
    ],
)
def test_the_defaults(file: str, end: tuple[str, ...], action: Action, code: str) -> None:
    verdict = Rules().of(file, leaf(*end))
    assert (verdict.action, verdict.code) == (action, code)


def test_the_repository_has_its_say_and_the_most_specific_rule_wins() -> None:
    own = rules(
        """
        rules:
          - {action: keep, path: ["**"], files: ["a/**"]}
          - {action: promote, path: [spec, template, spec, containers, "*", env, MODE, value], why: the mode is tested}
          - {action: ask, path: ["**", env, MODE, value]}
          - {action: promote, path: ["**", suspend]}
          - {action: never, path: [spec, replicas], apps: [shop], to: [prod]}
        """
    )
    assert own.of("a/x.yaml", leaf("image")).action is Action.KEEP
    assert own.of("b/x.yaml", leaf("image")).action is Action.PROMOTE
    assert own.explain("a/x.yaml", leaf("name=MODE", "value")) == "promote: the mode is tested"
    assert own.of("a/x.yaml", leaf("suspend")).action is Action.NEVER
    assert own.of("a/settings.yaml", leaf("replicas"), app="shop", to="prod").action is Action.NEVER
    assert own.of("b/settings.yaml", leaf("replicas"), app="shop", to="staging").action is Action.PROMOTE


def test_a_key_with_dots_is_one_key() -> None:
    own = Rules((Rule(Action.PROMOTE, path=("metadata", "annotations", "shop.lab/version")),))
    assert own.of("a/x.yaml", leaf("shop.lab/version")).action is Action.PROMOTE
    assert own.of("a/x.yaml", leaf("a.b")).action is Action.ASK
    odd = 'a.b: 1\na: {b: 2}\n"0": 3\non: 4\n"with space": 5\n"": 6\nA: 7\n'
    for key in ("a.b", "0", "on", "with space", "", "A"):
        found = [each.text for each in leaves_of(parse_text(odd), 0) if Rule(Action.KEEP, path=(key,)).matches(each)]
        assert len(found) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rules: x\n", "rules must be a list"),
        ("rules: [{action: maybe}]\n", "rules[0]: action must be one of promote, keep, ask, never"),
        ("rules: [{action: keep, path: a.b}]\n", "rules[0]: path must be a list of texts"),
        ("rules: [{action: keep, paths: [a]}]\n", "rules[0]: paths is not known"),
        ("rule: []\n", "rule is not known"),
        ("automation: {prod: maybe}\n", "automation must map"),
        ("a: [\n", "yaml"),
    ],
)
def test_nonsense_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(RulesError) as refused:
        rules(text)
    assert said in str(refused.value)
    if said != "yaml":
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(yaml.safe_load(text), dict(SCHEMA))


def test_the_schema_takes_what_the_reader_takes() -> None:
    rule = "{action: keep, path: [a, '*'], files: ['x/**'], kinds: [Job], apps: [s], to: [p], why: w}"
    text = f"rules: [{rule}]\nautomation: {{prod: true}}\n"
    jsonschema.validate(yaml.safe_load(text), dict(SCHEMA))
    assert not rules(text).forbids_automation("prod")
    assert Rules().forbids_automation("production")
    assert not Rules().forbids_automation("staging")


def test_a_rule_carries_a_value_over_that_nothing_else_knows() -> None:
    both = [
        {"kustomization.yaml": kustomization(f"commonAnnotations: {{channel: {word}}}\n")} for word in ("new", "old")
    ]
    assert [ask.code for ask in plan(fleet(*both)).asks] == ["unknown"]
    own = Rules((Rule(Action.PROMOTE, path=("commonAnnotations", "channel")),))
    assert [edit.new for edit in plan(fleet(*both), rules=own).edits] == ["new"]


def test_an_answer_to_a_question_is_remembered_by_its_id() -> None:
    both = [
        {"kustomization.yaml": kustomization(f"commonAnnotations: {{channel: {word}}}\n")} for word in ("new", "old")
    ]
    asked = plan(fleet(*both)).asks[0]
    assert [edit.new for edit in plan(fleet(*both), answers=[asked.id]).edits] == ["new"]
    newer = fleet({"kustomization.yaml": kustomization("commonAnnotations: {channel: newer}\n")}, both[1])
    assert [ask.code for ask in plan(newer, answers=[asked.id]).asks] == ["unknown"]
