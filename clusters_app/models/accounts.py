"""Who may do what: roles of people, tokens of scripts, and the link that lets the first person in."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from .environments import Environment


class Membership(models.Model):
    """A person's role, everywhere or in one environment. What each role may do stands in `clusters_app/access.py`."""

    class Role(models.TextChoices):
        VIEWER = "viewer", _("Viewer")
        DEVELOPER = "developer", _("Developer")
        OPERATOR = "operator", _("Operator")
        ADMIN = "admin", _("Administrator")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=12, choices=Role)
    environment = models.ForeignKey(
        Environment, null=True, blank=True, on_delete=models.CASCADE, related_name="memberships"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "environment"], name="membership_once"),
            models.UniqueConstraint(
                fields=["user"], condition=models.Q(environment=None), name="membership_everywhere_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.role} ({self.environment or 'everywhere'})"


class APIToken(models.Model):
    """A bearer token of the API. Only its hash is stored; the value is shown once."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list, help_text="verbs of clusters_app.access; never more than the person may do")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class SignInLink(models.Model):
    """A single-use link by which somebody signs in: the first person, or one who lost the password."""

    digest = models.CharField(max_length=64, unique=True)
    username = models.CharField(max_length=150)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"sign-in link for {self.username}"


class FailedAttempt(models.Model):
    """A refused sign-in or token, counted per address in the database so that a limit survives a restart."""

    address = models.GenericIPAddressField()
    at = models.DateTimeField(db_index=True)

    class Meta:
        indexes = [models.Index(fields=["address", "at"])]

    def __str__(self) -> str:
        return f"{self.address} at {self.at}"
