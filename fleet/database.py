"""DATABASE_URL, as Django's DATABASES wants it."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from fleet.env import SettingError

# BEGIN IMMEDIATE takes the write lock at the start of a transaction: the default takes it at the first write, and a
# reader that turns writer then fails at once with "database is locked", whatever the time-out.
_SQLITE = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-32000;",
}


def database_from_url(url: str, default_file: Path) -> dict[str, Any]:
    """A DATABASES entry from DATABASE_URL; an empty one is SQLite at default_file.

    Written as `postgres://user:password@host:port/name?option=value` or `sqlite:///file`; PostgreSQL behind a socket
    as `postgres://user@/name?host=/run/postgresql`. SettingError never repeats the URL, which holds a password.
    """
    if not url:
        return _sqlite(str(default_file))
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return _sqlite(unquote(parts.path.removeprefix("/")) or str(default_file))
    if parts.scheme in {"postgres", "postgresql"}:
        return _postgresql(url)
    raise SettingError("DATABASE_URL must start with postgres:// or sqlite:///")


def _sqlite(name: str) -> dict[str, Any]:
    return {"ENGINE": "django.db.backends.sqlite3", "NAME": name, "OPTIONS": dict(_SQLITE)}


def _postgresql(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    try:
        port = str(parts.port or "")
    except ValueError as error:
        raise SettingError("DATABASE_URL: the port is not a number") from error
    name = unquote(parts.path.removeprefix("/"))
    if not name:
        raise SettingError("DATABASE_URL names no database after the host")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", unquote(parts.hostname or "")),
        "PORT": options.pop("port", port),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options,
    }
