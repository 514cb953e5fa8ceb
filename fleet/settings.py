"""Every setting, from the environment (docs/settings.md lists the variables; checks.py refuses wrong combinations).

Without any variable this is an installation for one person on this machine. FLOTILLA_PUBLIC_URL is what makes it a
production: as soon as it names another host than loopback, the checks are strict.
"""

import os
import secrets
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import django_stubs_ext
from django.utils.csp import CSP
from django.utils.translation import gettext_lazy as _

from fleet.database import database_from_url
from fleet.env import env_bool, env_int, env_list, env_secret
from fleet.logs import logging_config

# Lets annotations such as models.CharField[str, str] and admin.ModelAdmin[Cluster] stand at run time.
django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(os.environ.get("FLOTILLA_DATA_DIR") or BASE_DIR / "var").absolute()
DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)


def _kept_secret(name: str) -> str:
    """A random value that is made once and kept in the data directory, for installations that set none."""
    file = DATA_DIR / name
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return file.read_text(encoding="ascii")
    value = secrets.token_urlsafe(64)
    with os.fdopen(descriptor, "w", encoding="ascii") as stream:
        stream.write(value)
    return value


# --- where it is served -----------------------------------------------------------------------------------------

FLOTILLA_PUBLIC_URL = (os.environ.get("FLOTILLA_PUBLIC_URL") or "http://127.0.0.1:8000").rstrip("/")
_public = urlsplit(FLOTILLA_PUBLIC_URL)
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
FLOTILLA_PRODUCTION = (_public.hostname or "") not in {"127.0.0.1", "localhost", "::1"}
FLOTILLA_HTTPS = _public.scheme == "https"
# The name of the header that the proxy in front sets to the client's address (X-Forwarded-For). Naming it says that
# the proxy overwrites it, and X-Forwarded-Proto, whatever a client sends.
FLOTILLA_TRUSTED_PROXY_HEADER = os.environ.get("FLOTILLA_TRUSTED_PROXY_HEADER", "").strip()

DEBUG = env_bool("DEBUG", default=False)
SECRET_KEY = env_secret("SECRET_KEY") or ("" if FLOTILLA_PRODUCTION else _kept_secret("secret-key"))
SECRET_KEY_FALLBACKS = [key for key in [env_secret("SECRET_KEY_PREVIOUS")] if key]
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", [_public.hostname or "localhost", *_LOOPBACK])
CSRF_TRUSTED_ORIGINS = [FLOTILLA_PUBLIC_URL] if _public.scheme and _public.netloc else []

# --- what it talks to -------------------------------------------------------------------------------------------

DATABASES = {"default": database_from_url(env_secret("DATABASE_URL"), DATA_DIR / "flotilla.sqlite3")}


def _redis_url() -> str:
    """REDIS_URL, else the server that `flotilla run` started and left word of."""
    left_by_run = DATA_DIR / "redis-url"
    embedded = left_by_run.read_text(encoding="ascii").strip() if left_by_run.is_file() else "redis://127.0.0.1:6379/0"
    return env_secret("REDIS_URL", embedded)


REDIS_URL = _redis_url()
# The demo fleet lives on loopback and follows a repository on this disk, which nothing else may.
FLOTILLA_DEMO = env_bool("DEMO", default=False)
# What egress may reach beyond public addresses, for `egress.Policy.from_settings`.
FLOTILLA_EGRESS = {
    "EGRESS_ALLOW_NETWORKS": ",".join(
        env_list("EGRESS_ALLOW_NETWORKS", []) + (["127.0.0.1/32"] if FLOTILLA_DEMO else [])
    ),
    "EGRESS_ALLOW_HTTP_HOSTS": os.environ.get("EGRESS_ALLOW_HTTP_HOSTS", ""),
}
# The private key that opens credentials (workers), and the public one that seals them (web).
FLOTILLA_KEY_FILE = Path(os.environ.get("FLOTILLA_KEY_FILE") or DATA_DIR / "credentials.key")
FLOTILLA_PUBLIC_KEY_FILE = Path(os.environ.get("FLOTILLA_PUBLIC_KEY_FILE") or f"{FLOTILLA_KEY_FILE}.pub")
# Bare mirrors of repositories, one directory each; a cache that can be deleted.
FLOTILLA_MIRRORS_DIR = DATA_DIR / "mirrors"

# --- Django -----------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "clusters_app",
    "fleet",
]
_ACCESS = ["clusters_app.access.AccessMiddleware"] if find_spec("clusters_app.access") else []
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "fleet.zones.ViewerZoneMiddleware",
    *_ACCESS,
]
ROOT_URLCONF = "fleet.urls"
WSGI_APPLICATION = "fleet.wsgi.application"
ASGI_APPLICATION = "fleet.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.template.context_processors.tz",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "clusters_app.web.context.page_context",
            ],
        },
    },
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "/sign-in/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/sign-in/"

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("ru", _("Russian"))]
LOCALE_PATHS = [BASE_DIR / "clusters_app" / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
# An image collects the files once, under names with a hash; a checkout serves them where they lie.
STATIC_ROOT = os.environ.get("FLOTILLA_STATIC_ROOT") or None
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = STATIC_ROOT is None
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if STATIC_ROOT
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024
LOGGING = logging_config(os.environ.get("LOG_LEVEL", "INFO").upper())

# --- security ---------------------------------------------------------------------------------------------------

SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF, "data:"],
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "manifest-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "frame-ancestors": [CSP.NONE],
    "base-uri": [CSP.NONE],
}
SECURE_SSL_REDIRECT = FLOTILLA_HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_HSTS_SECONDS = 31_536_000 if FLOTILLA_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = FLOTILLA_HTTPS
SECURE_HSTS_PRELOAD = FLOTILLA_HTTPS
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if FLOTILLA_TRUSTED_PROXY_HEADER else None
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = FLOTILLA_HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = LANGUAGE_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = LANGUAGE_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_SAVE_EVERY_REQUEST = False

# --- API --------------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "EXCEPTION_HANDLER": "clusters_app.api.problems.exception_handler",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Flotilla",
    "DESCRIPTION": "Everything that the pages do, for scripts.",
    "VERSION": "v1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    # Several resources have a `state`; each is named after its resource.
    "ENUM_NAME_OVERRIDES": {
        "PromotionState": "clusters_app.models.promotions.Promotion.State",
        "PromotionTargetState": "clusters_app.models.promotions.PromotionTarget.State",
        "OperationState": "clusters_app.models.records.Operation.State",
        "ReviewState": "clusters_app.models.repositories.LocalPullRequest.State",
    },
}

# --- Celery -----------------------------------------------------------------------------------------------------

CELERY_BROKER_URL = REDIS_URL
# The database is the queue of record, a message a nudge: results are not kept, and a nudge that cannot be sent within
# two seconds is left to the reconciler.
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0.2, "interval_max": 0.2}
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 600, "socket_connect_timeout": 2, "socket_keepalive": True}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_CREATE_MISSING_QUEUES = False
CELERY_TASK_QUEUES = {name: {"exchange": name, "routing_key": name} for name in ("observe", "git", "default")}
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
# Below the visibility time-out, or a task that is still running would be handed to a second worker.
CELERY_TASK_SOFT_TIME_LIMIT = env_int("FLOTILLA_TASK_SECONDS", 240)
CELERY_TASK_TIME_LIMIT = CELERY_TASK_SOFT_TIME_LIMIT + 60
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_TASK_SERIALIZER = "json"
CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "beat-schedule")
CELERY_BEAT_MAX_LOOP_INTERVAL = 5

# --- rhythm -----------------------------------------------------------------------------------------------------

# Seconds between two looks at a cluster, and at a repository's head.
FLOTILLA_OBSERVE_SECONDS = env_int("FLOTILLA_OBSERVE_SECONDS", 10)
FLOTILLA_SYNC_SECONDS = env_int("FLOTILLA_SYNC_SECONDS", 10)
