"""The registry gives back what was pushed, under the digest that the push returned."""

import pytest
import requests

from tests.testbed.registry import Registry

pytestmark = pytest.mark.testbed


def test_tags_are_listed_and_a_manifest_has_the_digest_of_its_push(registry: Registry) -> None:
    first = registry.push_image("example/web", "1.0.0")
    second = registry.push_image("example/web", "1.1.0")
    base = f"http://{registry.address}/v2/example/web"
    assert sorted(requests.get(f"{base}/tags/list", timeout=10).json()["tags"]) == ["1.0.0", "1.1.0"]
    manifest = requests.get(f"{base}/manifests/1.1.0", timeout=10)
    assert manifest.headers["Docker-Content-Digest"] == second != first
