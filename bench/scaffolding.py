"""Scaffolding a hundred clusters: our rendering in memory against Cookiecutter's own, of the same units and values."""

import tempfile
import time

from bench.results import Result
from clusters_app.repo.model import FleetModel, model_from
from clusters_app.repo.scaffold import parts_of, scaffold, with_paths
from clusters_app.repo.units import ROOT, forget_texts

CLUSTERS = 100


def against_cookiecutter() -> dict[str, Result]:
    """Both write nothing but what they render; ours also reads every manifest back, and forgets what it read before."""
    model = with_paths(_model())
    scaffold(model)
    forget_texts()
    begun = time.perf_counter()
    scaffold(model)
    ours = time.perf_counter() - begun
    return {"scaffold-100-clusters": Result(_theirs(model) / ours, must=20, aim=40, better="higher")}


def _model() -> FleetModel:
    environments = ("dev", "staging", "prod")
    return model_from(
        {
            "repository": {"url": "https://git.example.org/platform/fleet.git"},
            "environments": [{"name": name} for name in environments],
            "clusters": [{"name": f"c{number}", "environment": environments[number % 3]} for number in range(CLUSTERS)],
            "apps": [{"name": name, "version": "1.2.0", "image": {"name": "example/web"}} for name in ("one", "two")],
        }
    )


def _theirs(model: FleetModel) -> float:
    from cookiecutter.main import cookiecutter

    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        for number, part in enumerate(parts_of(model)):
            cookiecutter(
                str(ROOT / part.unit),
                no_input=True,
                extra_context=dict(part.values),
                output_dir=f"{folder}/{number}",
            )
        return time.perf_counter() - begun
