"""Lists and documents: every kind over every version, and odd objects that break nothing (C055)."""

import json
from typing import Any

import pytest

from clusters_app.flux.resources import KINDS, LEASE, NotAList, Unreadable, decode_list, decode_object, spec_of
from clusters_app.flux.status import Health, judge
from clusters_app.flux.structs import GenericResource, HelmRelease, Kustomization, Resource

from .documents import NOW, condition, document, kustomization, ready


def listed(*items: Any, kind: str = "Kustomization") -> bytes:
    return json.dumps({"kind": f"{kind}List", "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "items": items}).encode()


def odd(**changes: Any) -> dict[str, Any]:
    return kustomization("odd", ready(), created=10) | changes


ODD = {
    "no status": ({"status": None}, None),
    "no conditions": ({"status": {"conditions": None}}, None),
    "a condition without type": ({"status": {"conditions": [{"status": "True"}]}}, None),
    "a condition without time": (
        {"status": {"conditions": [condition("Ready", "True") | {"lastTransitionTime": None}]}},
        Health.READY,
    ),
    "conditions as an object": ({"status": {"conditions": {}}}, "status.conditions"),
    "a generation as a text": (
        {"status": {"conditions": [condition("Ready", "True") | {"observedGeneration": "3"}]}},
        "status.conditions[0].observedGeneration",
    ),
    "no labels": ({"metadata": {"name": "odd", "namespace": "flux-system", "labels": None}}, None),
    "a long name": ({"metadata": {"name": "a" * 253, "namespace": "flux-system"}}, None),
    "no metadata": ({"metadata": None}, "metadata"),
    "an empty name": ({"metadata": {"name": ""}}, "metadata.name"),
    "a number": (7, ""),
}


@pytest.mark.parametrize("name", ODD)
def test_one_odd_object_leaves_200_others_alone(name: str) -> None:
    changes, expected = ODD[name]
    item = odd(**changes) if isinstance(changes, dict) else changes
    normal = [kustomization(f"app-{number}", ready()) for number in range(200)]
    found = decode_list("Kustomization", listed(*normal[:100], item, *normal[100:]))
    verdicts = judge(found.items, [], {}, NOW)
    assert len(verdicts) == 201
    assert sum(verdict.health is Health.READY for verdict in verdicts.values()) >= 200
    strange = next(entry for entry in found.items if not entry.ref.name.startswith("app-"))
    if isinstance(expected, str) and not isinstance(expected, Health):
        assert isinstance(strange, Unreadable)
        assert strange.field == expected
        assert verdicts[strange.ref].explanation.id == "unreadable"
        assert (expected or "int") in verdicts[strange.ref].explanation.cause
    else:
        assert verdicts[strange.ref].health is (expected or verdicts[strange.ref].health)
        assert isinstance(strange, Resource)


def test_several_nameless_objects_are_counted_one_by_one() -> None:
    found = decode_list("Kustomization", listed({}, {}, 5))
    assert len(judge(found.items, [], {}, NOW)) == 3


def test_all_odd_ones_together_add_up() -> None:
    items = [odd(**changes) if isinstance(changes, dict) else changes for changes, _ in ODD.values()]
    for number, item in enumerate(items):
        if isinstance(item, dict) and isinstance(item.get("metadata"), dict) and item["metadata"].get("name") == "odd":
            items[number] = item | {"metadata": item["metadata"] | {"name": f"odd-{number}"}}
    assert len(judge(decode_list("Kustomization", listed(*items)).items, [], {}, NOW)) == len(items)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "not JSON"),
        (b"<html>proxy</html>", "not JSON"),
        (b'{"kind":"KustomizationList","items":[', "not JSON"),
        (b'{"kind":"Status","status":"Failure"}', "a Status"),
        (b'{"kind":"PodList","items":[]}', "a PodList"),
        (b"[]", "no list"),
        (b"{}", "no Kubernetes object"),
        (b'{"kind":"KustomizationList","items":{}}', "no list"),
        (b"\xff\xfe", "not JSON"),
    ],
)
def test_what_is_no_list_says_what_it_is(body: bytes, said: str) -> None:
    with pytest.raises(NotAList, match=said):
        decode_list("Kustomization", body)


def test_a_page_says_where_it_goes_on() -> None:
    body = b'{"kind":"KustomizationList","metadata":{"resourceVersion":"7","continue":"abc"},"items":[]}'
    page = decode_list("Kustomization", body)
    assert (page.items, page.resource_version, page.continue_token) == ([], "7", "abc")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_version_of_a_kind_is_read_into_its_struct(kind: str) -> None:
    spec = KINDS[kind]
    assert len(set(spec.versions)) == len(spec.versions)
    for version in spec.versions:
        api_version = f"{spec.group}/{version}"
        item = document(kind, "thing", ready()) | {"apiVersion": api_version}
        found = decode_object(item)
        assert isinstance(found, spec.struct)
        assert (found.kind, spec_of(kind, api_version)) == (kind, spec)
        assert decode_list(kind, json.dumps({"kind": f"{kind}List", "items": [item]}).encode()).items == [found]


def test_a_kind_of_another_group_that_shares_a_name_is_not_taken_for_it() -> None:
    file = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "metadata": {"name": "x"}}
    assert isinstance(decode_object(file), GenericResource)
    assert isinstance(decode_object(file | {"apiVersion": "kustomize.toolkit.fluxcd.io/v1"}), Kustomization)


def test_items_of_a_list_may_leave_out_their_kind() -> None:
    found = decode_list(
        "Certificate", b'{"kind":"CertificateList","items":[{"metadata":{"name":"web","namespace":"shop"}}]}'
    )
    assert str(found.items[0].ref) == "Certificate/shop/web"
    leases = decode_list(
        "Lease", b'{"kind":"LeaseList","items":[{"metadata":{"name":"helm-controller-leader-election"}}]}'
    )
    assert leases.items[0].ref.kind == LEASE.kind


def test_values_and_secrets_of_a_document_are_never_kept() -> None:
    release = document(
        "HelmRelease",
        "web",
        spec={"values": {"password": "hunter2"}, "valuesFrom": [{"kind": "Secret", "name": "web"}]},
        annotations={"kubectl.kubernetes.io/last-applied-configuration": '{"spec":{"values":{"password":"hunter2"}}}'},
    )
    found = decode_object(release)
    assert isinstance(found, HelmRelease)
    assert "hunter2" not in repr(found)
    assert "hunter2" not in repr(
        decode_object({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "hunter2"}})
    )
