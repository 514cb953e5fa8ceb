"""Logging: one line a record on stderr, our own at INFO, libraries at WARNING, secrets masked."""

from importlib.util import find_spec
from typing import Any

_OURS = ("clusters_app", "fleet")
# That a worker has found its broker is what an operator looks for; every tick that it receives is not.
_ALSO_AT_INFO = ("celery.worker.consumer.connection", "granian")


def logging_config(level: str) -> dict[str, Any]:
    """A dictConfig in which every handler passes the filter that masks secrets."""
    filters = {"secret": {"()": "clusters_app.secret.SecretFilter"}} if find_spec("clusters_app.secret") else {}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": filters,
        "formatters": {"line": {"format": "%(asctime)s %(levelname)-7s %(name)s %(message)s"}},
        "handlers": {
            "stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": list(filters)},
        },
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {
            **{name: {"level": level} for name in _OURS},
            **{name: {"level": "INFO"} for name in _ALSO_AT_INFO},
            # Django's own handlers (mail to admins, a console in DEBUG) are replaced by ours.
            "django": {"handlers": [], "level": "WARNING", "propagate": True},
        },
    }
