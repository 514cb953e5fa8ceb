"""Credentials, sealed. The web process can write them; only workers, which hold the private key, can read them."""

from django.db import models


class Credential(models.Model):
    """One secret of a repository or cluster, bound by authenticated data to its owner, field and host.

    A row cannot be moved to another owner or host: opening it there fails (`clusters_app.services.credentials`).
    """

    class Owner(models.TextChoices):
        REPOSITORY = "repository"
        CLUSTER = "cluster"
        OPERATION = "operation"  # while it is being checked; moved to its owner or deleted at the end

    owner_kind = models.CharField(max_length=20, choices=Owner)
    owner_id = models.BigIntegerField()
    field = models.CharField(max_length=40)
    host = models.CharField(max_length=300)
    sealed = models.BinaryField()
    key_id = models.CharField(max_length=40)
    expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner_kind", "owner_id", "field"], name="credential_once")]

    def __str__(self) -> str:
        return f"{self.owner_kind}:{self.owner_id}:{self.field}"
