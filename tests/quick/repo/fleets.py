"""The fleet that the tests of this directory scaffold."""

from clusters_app.ingest import JsonValue
from clusters_app.repo.model import FleetModel, model_from


def answers() -> dict[str, JsonValue]:
    """Four clusters in three environments, one app from an image and one from a chart, as a person would give them."""
    return {
        "repository": {"url": "https://git.example.org/platform/fleet.git", "forge": "gitea"},
        "environments": [{"name": "dev"}, {"name": "staging"}, {"name": "prod"}],
        "clusters": [
            {"name": "dev", "environment": "dev"},
            {"name": "staging", "environment": "staging", "flux": "2.8"},
            {"name": "prod-a", "environment": "prod", "variables": {"REGION": "eu-north"}},
            {"name": "prod-b", "environment": "prod"},
        ],
        "apps": [
            {"name": "web", "version": "1.2.0", "image": {"name": "registry.example.org/team/web", "port": 9898}},
            {
                "name": "shop",
                "version": "0.3.0",
                "chart": {"source": "OCIRepository", "url": "oci://registry.example.org/charts/shop"},
                "environments": {"dev": {}, "staging": {}, "prod": {"version": "0.2.9", "replicas": 3}},
            },
        ],
    }


def fleet(**changes: JsonValue) -> FleetModel:
    return model_from({**answers(), **changes})
