"""Wrong combinations of settings, each with its remedy; on an error, `flotilla serve` and `flotilla run` do not start.

An installation for one person on loopback may do what a production (`settings.FLOTILLA_PRODUCTION`) may not.
"""

import ipaddress
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register  # noqa: A004  Django's own name

SHORTEST_SECRET: Final = 50
_SCHEMES = frozenset({"http", "https"})


@register(Tags.security)
def check_settings(**_: Any) -> Sequence[CheckMessage]:
    """All of them. Reads the settings and the permissions of the key file; no database, no network."""
    findings = [*_public_url(), *_files()]
    return [*findings, *_production()] if settings.FLOTILLA_PRODUCTION else findings


def _production() -> Iterator[CheckMessage]:
    yield from _debug()
    yield from _secret_key()
    yield from _hosts()
    yield from _redis()
    yield from _sqlite()
    yield from _proxy()
    yield from _static()


def _public_url() -> Iterator[CheckMessage]:
    url = urlsplit(settings.FLOTILLA_PUBLIC_URL)
    if url.scheme not in _SCHEMES or not url.hostname:
        yield Error(
            f"FLOTILLA_PUBLIC_URL is {settings.FLOTILLA_PUBLIC_URL!r}, which is no address of a site.",
            hint="Write it with its scheme and host: https://flotilla.example.com",
            id="fleet.E001",
        )
    elif url.path.strip("/") or url.query:
        yield Error(
            "FLOTILLA_PUBLIC_URL has a path, but Flotilla is served at the root of its host.",
            hint=f"Write {url.scheme}://{url.netloc}",
            id="fleet.E002",
        )
    elif settings.FLOTILLA_PRODUCTION and url.scheme == "http":
        yield Error(
            f"FLOTILLA_PUBLIC_URL is plain http on {url.hostname}: anyone on the way could read sessions and tokens.",
            hint="Put a proxy that speaks TLS in front, and write https://…",
            id="fleet.E003",
        )


def _debug() -> Iterator[CheckMessage]:
    if settings.DEBUG:
        yield Error(
            "DEBUG is on in a production: error pages would show settings and local variables to anyone.",
            hint="Remove the variable DEBUG.",
            id="fleet.E010",
        )


def _secret_key() -> Iterator[CheckMessage]:
    keys = [("SECRET_KEY", settings.SECRET_KEY)]
    keys += [("SECRET_KEY_PREVIOUS", key) for key in settings.SECRET_KEY_FALLBACKS]
    for name, key in keys:
        if len(key) < SHORTEST_SECRET or len(set(key)) < 10:
            yield Error(
                f"{name} is missing, short or monotonous: sessions could be forged.",
                hint=f"Set {name}_FILE to a file that `flotilla create-secrets DIRECTORY` wrote.",
                id="fleet.E011",
            )


def _hosts() -> Iterator[CheckMessage]:
    wide = [host for host in settings.ALLOWED_HOSTS if host == "*" or host.startswith(".")]
    if wide:
        yield Error(
            f"ALLOWED_HOSTS holds {wide[0]!r}: links could be made to point at a stranger's host.",
            hint="Remove the variable; the host of FLOTILLA_PUBLIC_URL is allowed by itself.",
            id="fleet.E012",
        )
    public = urlsplit(settings.FLOTILLA_PUBLIC_URL).hostname
    if public and not wide and public not in settings.ALLOWED_HOSTS:
        yield Error(
            f"ALLOWED_HOSTS lacks {public}, the host of FLOTILLA_PUBLIC_URL: every request would be refused.",
            hint=f"Add {public}, or remove the variable.",
            id="fleet.E013",
        )


def _redis() -> Iterator[CheckMessage]:
    url = urlsplit(settings.REDIS_URL)
    if url.scheme in {"redis", "rediss"} and not _is_loopback(url.hostname or "localhost") and not url.password:
        yield Error(
            f"REDIS_URL has no password, and {url.hostname} is another machine: whoever reaches it can send tasks.",
            hint="Set a password (requirepass) and write redis://:PASSWORD@HOST:6379/0",
            id="fleet.E014",
        )


def _sqlite() -> Iterator[CheckMessage]:
    is_sqlite = settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
    broker = urlsplit(settings.REDIS_URL)
    if is_sqlite and not _is_on_this_machine(broker):
        yield Error(
            f"The database is a SQLite file, but the broker is on {broker.hostname}: workers elsewhere would have"
            " another file, and file locks do not work over a network.",
            hint="Set DATABASE_URL to a PostgreSQL database that all of them reach.",
            id="fleet.E015",
        )


def _proxy() -> Iterator[CheckMessage]:
    if settings.FLOTILLA_HTTPS and not settings.FLOTILLA_TRUSTED_PROXY_HEADER:
        yield Warning(
            "FLOTILLA_PUBLIC_URL is https, but no proxy is trusted: every request would be redirected to itself, and"
            " the audit would name the proxy's address.",
            hint="Let the proxy set X-Forwarded-Proto and X-Forwarded-For, and set"
            " FLOTILLA_TRUSTED_PROXY_HEADER=X-Forwarded-For.",
            id="fleet.W016",
        )


def _static() -> Iterator[CheckMessage]:
    if not settings.STATIC_ROOT or not (Path(settings.STATIC_ROOT) / "staticfiles.json").is_file():
        yield Warning(
            "Static files are not collected: they are looked up at each request, and browsers cannot keep them.",
            hint="Set FLOTILLA_STATIC_ROOT to a directory and run `flotilla collectstatic --noinput` (the image does).",
            id="fleet.W017",
        )


def _files() -> Iterator[CheckMessage]:
    """The private key, where there is one: the web process of a production holds the public one alone."""
    key: Path = settings.FLOTILLA_KEY_FILE
    try:
        mode = key.stat().st_mode
        with key.open("rb"):
            pass
    except FileNotFoundError:
        return
    except OSError as error:
        yield Error(
            f"The key file {key} cannot be read ({error.strerror}).",
            hint="Give it to the user that runs the workers, or leave FLOTILLA_KEY_FILE out of the web process.",
            id="fleet.E020",
        )
        return
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield Error(
            f"The key file {key} can be read by others (mode {stat.S_IMODE(mode):o}); it opens every credential.",
            hint=f"chmod 600 {key}",
            id="fleet.E021",
        )


def _is_on_this_machine(url: SplitResult) -> bool:
    return url.scheme in {"unix", "redis+socket"} or _is_loopback(url.hostname or "localhost")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
