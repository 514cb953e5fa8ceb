"""Clusters, and the newest knowledge of each: how it was reached, what it runs, how far behind Git it is."""

from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from .environments import Environment
from .names import commit_field, name_field
from .repositories import Repository


class Cluster(models.Model):
    """One Kubernetes cluster as it was registered. What is observed of it stands in `ClusterStatus`."""

    name = name_field(unique=True)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="clusters")
    repository = models.ForeignKey(Repository, on_delete=models.PROTECT, related_name="clusters")
    sync_path = models.CharField(max_length=500, help_text="directory of the repository that Flux starts from")
    labels = models.JSONField(default=dict, blank=True)
    server = models.CharField(max_length=500, blank=True, default="")
    ca_pem = models.TextField(blank=True, default="")
    tls_server_name = models.CharField(max_length=253, blank=True, default="")
    client_certificate_pem = models.TextField(blank=True, default="")
    flux_namespace = models.CharField(max_length=63, default="flux-system")
    #: UID of the namespace kube-system at registration; another one means another cluster answers here.
    identity = models.CharField(max_length=64, blank=True, default="")
    badge = models.CharField(max_length=200, blank=True, default="", help_text="e.g. why too many rights were accepted")
    is_paused = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["environment__position", "name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("cluster", args=[self.name])


class ClusterStatus(models.Model):
    """What the last rounds found. Written by the observer alone; freshness is derived from `observed_at` when read."""

    class Connection(models.TextChoices):
        CONNECTED = "Connected", _("Connected")
        DEGRADED = "Degraded", _("Degraded")
        AUTH_EXPIRED = "AuthExpired", _("Credential refused")
        FORBIDDEN = "Forbidden", _("Forbidden")
        UNREACHABLE = "Unreachable", _("Unreachable")
        REPLACED = "Replaced", _("Another cluster answers")
        NEVER_SEEN = "NeverSeen", _("Never seen")

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="status", primary_key=True)
    connection = models.CharField(max_length=20, choices=Connection, default=Connection.NEVER_SEEN)
    connection_since = models.DateTimeField(null=True, blank=True)
    problem_code = models.CharField(max_length=60, blank=True, default="")
    problem = models.TextField(blank=True, default="")
    kubernetes_version = models.CharField(max_length=60, blank=True, default="")
    flux_version = models.CharField(max_length=60, blank=True, default="")
    controllers = models.JSONField(default=list, blank=True, help_text="[{name, version, lease_renewed_at, is_alive}]")
    clock_skew_seconds = models.FloatField(default=0)
    #: What is remembered of each controller's Lease: {name: [renewTime, when we saw it move]}.
    leases_seen = models.JSONField(default=dict, blank=True)

    #: Our clock at the last complete round; every age that a person sees is counted from here.
    observed_at = models.DateTimeField(null=True, blank=True)
    attempted_at = models.DateTimeField(null=True, blank=True)
    due_at = models.DateTimeField(null=True, blank=True, db_index=True)
    failures = models.PositiveIntegerField(default=0)
    round_seconds = models.FloatField(default=0)

    #: The revision chain of the sync path's source: head of the branch → fetched → applied → healthy.
    head = commit_field()
    fetched = commit_field()
    applied = commit_field()
    healthy = commit_field()
    commits_behind = models.PositiveIntegerField(null=True, blank=True, help_text="unknown when None")
    behind_since = models.DateTimeField(null=True, blank=True)

    #: Roll-up of the objects, written in the same transaction as they are.
    health = models.CharField(max_length=20, blank=True, default="", help_text="worst settled health")
    counts = models.JSONField(default=dict, blank=True, help_text="{ready, failing, waiting, suspended, total}")
    cause = models.TextField(blank=True, default="")
    cause_object = models.CharField(max_length=400, blank=True, default="")

    class Meta:
        verbose_name_plural = "cluster statuses"

    def __str__(self) -> str:
        return f"{self.cluster}: {self.connection}"


class KindReading(models.Model):
    """The last reading of one kind on one cluster: a list that failed marks this row and leaves the objects alone."""

    class State(models.TextChoices):
        OK = "ok"
        MISSING = "missing"
        FORBIDDEN = "forbidden"
        FAILED = "failed"

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="readings")
    kind = models.CharField(max_length=63)
    state = models.CharField(max_length=12, choices=State)
    served_version = models.CharField(max_length=100, blank=True, default="")
    read_at = models.DateTimeField(null=True, blank=True)
    problem = models.TextField(blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "kind"], name="reading_once")]

    def __str__(self) -> str:
        return f"{self.cluster} {self.kind}: {self.state}"
