"""People and scripts: the first sign-in, tokens, roles, and limits on guessing."""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from clusters_app.models import APIToken, AuditRecord, Environment, FailedAttempt, Membership, SignInLink
from clusters_app.queries import VERBS

from .audit import SYSTEM, Actor, record
from .errors import ServiceError

TOKEN_PREFIX = "flo_"  # noqa: S105  what every token begins with, so that scanners recognise one
LINK_LIFETIME = timedelta(hours=24)
#: Refusals from one address within the window before it has to wait.
ATTEMPTS, ATTEMPTS_WINDOW = 10, timedelta(minutes=5)


def _digest(value: str) -> str:
    """Plain SHA-256 is enough: what is hashed has 256 bits of its own."""
    return hashlib.sha256(value.encode()).hexdigest()


def is_first_run() -> bool:
    """Whether nobody can sign in yet: no active person is an administrator everywhere."""
    return not Membership.objects.filter(role=Membership.Role.ADMIN, environment=None, user__is_active=True).exists()


def sign_in_url(*, username: str, actor: Actor) -> str:
    """A new single-use address, valid for a day, at which this person signs in. Unused earlier ones end."""
    value = secrets.token_urlsafe(32)
    now = timezone.now()
    with transaction.atomic():
        SignInLink.objects.filter(username=username, used_at=None).delete()
        SignInLink.objects.create(digest=_digest(value), username=username, expires_at=now + LINK_LIFETIME)
        record(actor=actor, verb="sign-in-link.create", subject=username)
    return settings.FLOTILLA_PUBLIC_URL + reverse("first-run", args=[value])


def first_run_link(*, actor: Actor = SYSTEM, username: str = "admin") -> str | None:
    """The address at which the first administrator signs in; None once there is one."""
    return sign_in_url(username=username, actor=actor) if is_first_run() else None


def redeem_sign_in_link(*, value: str, address: str) -> User:
    """The person whom this link lets in, made an administrator if there is none yet.

    Raises ServiceError for an unknown, used or expired link. Two requests at once: one wins (compare-and-set).
    """
    now = timezone.now()
    refuse_after_many_attempts(address=address)
    with transaction.atomic():
        unused = SignInLink.objects.filter(digest=_digest(value), used_at=None, expires_at__gt=now)
        link = unused.first()
        if link is None or unused.update(used_at=now) != 1:
            link = None
        else:
            user = _user(link.username)
            if is_first_run():
                Membership.objects.update_or_create(
                    user=user, environment=None, defaults={"role": Membership.Role.ADMIN}
                )
            actor = Actor(user.username, user, address=address)
            record(actor=actor, verb="sign-in-link.use", subject=user.username)
    if link is None:
        note_failed_attempt(address=address)
        raise ServiceError(
            "sign-in.link",
            _("This sign-in link was used already, has expired, or never existed."),
            remedy=_("Print a new one with: flotilla signin-link"),
        )
    return user


def _user(username: str) -> User:
    """The account of this name; a new one has no password, so that only a link lets the person in."""
    user, _created = User.objects.get_or_create(username=username, defaults={"password": make_password(None)})
    return user


def note_failed_attempt(*, address: str) -> None:
    FailedAttempt.objects.create(address=address, at=timezone.now())
    # The limit above bounds these records, too.
    record(
        actor=Actor("anonymous", address=address),
        verb="sign-in.refuse",
        subject=address,
        outcome=AuditRecord.Outcome.REFUSED,
    )
    FailedAttempt.objects.filter(at__lt=timezone.now() - timedelta(days=1)).delete()


def refuse_after_many_attempts(*, address: str) -> None:
    """Raises ServiceError while too many sign-ins or tokens from this address were refused lately."""
    since = timezone.now() - ATTEMPTS_WINDOW
    if FailedAttempt.objects.filter(address=address, at__gt=since).count() >= ATTEMPTS:
        raise ServiceError(
            "sign-in.too-many", _("Too many refused attempts from your address."), remedy=_("Wait five minutes.")
        )


def create_token(
    *, user: User, name: str, scopes: list[str], expires_at: datetime | None, actor: Actor
) -> tuple[APIToken, str]:
    """A new API token and its value, which is shown once and never stored."""
    unknown = sorted(set(scopes) - set(VERBS))
    if unknown or not scopes:
        raise ServiceError(
            "token.scope", _("Choose scopes out of: %(verbs)s.") % {"verbs": ", ".join(VERBS)}, field="scopes"
        )
    if not name.strip():
        raise ServiceError("token.name", _("Give the token a name, so that it can be told from others."), field="name")
    value = TOKEN_PREFIX + secrets.token_urlsafe(32)
    with transaction.atomic():
        token = APIToken.objects.create(
            user=user,
            name=name.strip()[:100],
            prefix=value[:12],
            digest=_digest(value),
            scopes=scopes,
            expires_at=expires_at,
        )
        record(actor=actor, verb="token.create", subject=token.name, scopes=scopes)
    return token, value


def revoke_token(*, token: APIToken, actor: Actor) -> None:
    with transaction.atomic():
        if APIToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
            record(actor=actor, verb="token.revoke", subject=token.name)


def token_of(*, value: str, address: str) -> APIToken:
    """The valid token with this value, its use noted once a minute; ServiceError when there is none."""
    refuse_after_many_attempts(address=address)
    now = timezone.now()
    token = (
        APIToken.objects.select_related("user")
        .filter(Q(expires_at=None) | Q(expires_at__gt=now), digest=_digest(value), revoked_at=None)
        .filter(user__is_active=True)
        .first()
    )
    if token is None:
        note_failed_attempt(address=address)
        raise ServiceError("token.refused", _("This token is unknown, expired or revoked."))
    if token.last_used_at is None or now - token.last_used_at > timedelta(minutes=1):
        APIToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


def set_role(*, username: str, role: str, environment: Environment | None, actor: Actor) -> Membership:
    """Give a person a role, everywhere or in one environment; the account is made when it is new (without password)."""
    if role not in Membership.Role.values:
        raise ServiceError(
            "role.unknown",
            _("Choose a role out of: %(roles)s.") % {"roles": ", ".join(Membership.Role.values)},
            field="role",
        )
    _refuse_odd_name(username)
    with transaction.atomic():
        user = _user(username)
        before = Membership.objects.filter(user=user, environment=environment).first()
        if before and before.role == Membership.Role.ADMIN and role != before.role:
            _refuse_removing_last_admin(before)
        membership, _created = Membership.objects.update_or_create(
            user=user, environment=environment, defaults={"role": role}
        )
        record(actor=actor, verb="role.set", subject=username, role=role, environment=str(environment or ""))
    return membership


def _refuse_odd_name(username: str) -> None:
    try:
        User.username_validator(username)
    except ValidationError as error:
        raise ServiceError("person.name", " ".join(error.messages), field="username") from error


def remove_role(*, membership: Membership, actor: Actor) -> None:
    with transaction.atomic():
        if membership.role == Membership.Role.ADMIN:
            _refuse_removing_last_admin(membership)
        record(actor=actor, verb="role.remove", subject=str(membership))
        membership.delete()


def _refuse_removing_last_admin(membership: Membership) -> None:
    others = Membership.objects.filter(role=Membership.Role.ADMIN, environment=None, user__is_active=True)
    if membership.environment_id is None and not others.exclude(pk=membership.pk).exists():
        raise ServiceError(
            "role.last-admin",
            _("%(person)s is the last administrator.") % {"person": membership.user},
            remedy=_("Make somebody else an administrator first."),
        )


def set_password(*, user: User, password: str, actor: Actor) -> None:
    """Set a password; ServiceError with the validators' texts when it is too weak."""
    from django.contrib.auth.password_validation import validate_password

    try:
        validate_password(password, user)
    except ValidationError as error:
        raise ServiceError("password.weak", " ".join(error.messages), field="password") from error
    with transaction.atomic():
        user.set_password(password)
        user.save(update_fields=["password"])
        record(actor=actor, verb="password.set", subject=user.username)
