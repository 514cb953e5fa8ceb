"""What is kept of everything that was done: the audit chain, long work, and answers already given."""

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class AuditRecord(models.Model):
    """One write or refusal: who, what, from where, with which outcome. Append-only, chained by hashes."""

    class Outcome(models.TextChoices):
        DONE = "done", _("done")
        REFUSED = "refused", _("refused")

    at = models.DateTimeField()
    actor = models.CharField(max_length=150)
    token = models.CharField(max_length=12, blank=True, default="")
    address = models.CharField(max_length=45, blank=True, default="")
    verb = models.CharField(max_length=60)
    subject = models.CharField(max_length=400)
    outcome = models.CharField(max_length=10, choices=Outcome)
    detail = models.JSONField(default=dict)
    previous = models.CharField(max_length=64, blank=True, default="")
    digest = models.CharField(max_length=64, unique=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.actor} {self.verb} {self.subject}: {self.outcome}"


class Operation(models.Model):
    """Long work that a page or script polls. Running is a lease with an end, never a bare status."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    kind = models.CharField(max_length=40)
    subject = models.CharField(max_length=200)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    arguments = models.JSONField(default=dict)
    steps = models.JSONField(default=list, help_text="[{code, state, text, remedy}] as they happen")
    result = models.JSONField(default=dict)
    problem = models.TextField(blank=True, default="")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="operations"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    attempts = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}: {self.state}"

    def get_absolute_url(self) -> str:
        return reverse("operation", args=[self.pk])

    @property
    def is_finished(self) -> bool:
        return self.state in {self.State.DONE, self.State.FAILED}


class IdempotencyKey(models.Model):
    """The answer that was given to a POST with this key, so that a repeated one gets the same and does nothing."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    key = models.CharField(max_length=200)
    request_digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="idempotency_key_once")]

    def __str__(self) -> str:
        return self.key
