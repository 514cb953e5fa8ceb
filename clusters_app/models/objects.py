"""Observed Flux objects: narrow rows with their verdict, the document apart, and the history of verdicts."""

from django.db import models
from django.urls import reverse

from .clusters import Cluster


class FluxObject(models.Model):
    """One observed object on one cluster with the stored verdict that every page, API and command shows."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="flux_objects")
    kind = models.CharField(max_length=63)
    namespace = models.CharField(max_length=63, blank=True, default="")
    name = models.CharField(max_length=253)

    health = models.CharField(max_length=20)
    control = models.CharField(max_length=12)
    settled_health = models.CharField(max_length=20, blank=True, default="")
    rule = models.CharField(max_length=60, blank=True, default="", help_text="the rule that gave the verdict")
    reason = models.CharField(max_length=200, blank=True, default="")
    message = models.TextField(blank=True, default="")
    revision = models.CharField(max_length=400, blank=True, default="")
    applied = models.CharField(max_length=400, blank=True, default="", help_text="in the cluster, healthy or not")
    attempted = models.CharField(max_length=400, blank=True, default="")
    origin_revision = models.CharField(max_length=400, blank=True, default="")
    deployed = models.CharField(max_length=200, blank=True, default="")
    #: `Kind/namespace/name` of the root and of the direct neighbour that hold this object up.
    caused_by = models.CharField(max_length=400, blank=True, default="")
    blocked_by = models.CharField(max_length=400, blank=True, default="")
    explain_id = models.CharField(max_length=60, blank=True, default="")
    explain_cause = models.TextField(blank=True, default="")
    explain_remedy = models.TextField(blank=True, default="")
    explain_command = models.TextField(blank=True, default="")
    explain_link = models.CharField(max_length=500, blank=True, default="")
    failing_since = models.DateTimeField(null=True, blank=True)
    changed_at = models.DateTimeField(help_text="when the verdict last changed, by our clock")
    evidence_at = models.DateTimeField(null=True, blank=True)
    #: By the object's and its controller's own heartbeat. The age of our reading is `KindReading.read_at`, and the
    #: older of the two is what a page shows (`queries.freshness_of`).
    heartbeat = models.CharField(max_length=8)
    #: A failure counts for promotions once it has been seen twice or for 10 s.
    is_confirmed = models.BooleanField(default=True)
    #: Gone from the cluster since; the row stays for a day.
    gone_at = models.DateTimeField(null=True, blank=True)
    notices = models.JSONField(default=list, blank=True, help_text="[{code, text}] green though broken, and the like")
    suspended_since = models.DateTimeField(null=True, blank=True)
    suspended_by = models.CharField(max_length=200, blank=True, default="", help_text="field manager")
    #: What the domain remembers between rounds (`flux.status.Memory`).
    memory = models.JSONField(default=dict, blank=True)
    digest = models.CharField(max_length=32, help_text="hash of the fields that matter; equal means nothing to write")

    class Meta:
        ordering = ["kind", "namespace", "name"]
        constraints = [models.UniqueConstraint(fields=["cluster", "kind", "namespace", "name"], name="object_once")]

    def __str__(self) -> str:
        return "/".join(part for part in (self.kind, self.namespace, self.name) if part)

    def get_absolute_url(self) -> str:
        return reverse("object", args=[self.cluster.name, self.kind, self.namespace or "-", self.name])


class ObjectDetail(models.Model):
    """The allow-listed document of an object and its inventory: long, and written only when it changes."""

    object = models.OneToOneField(FluxObject, on_delete=models.CASCADE, related_name="detail", primary_key=True)
    document = models.JSONField(default=dict)
    inventory = models.JSONField(default=list)

    def __str__(self) -> str:
        return str(self.object)


class KindCount(models.Model):
    """Roll-up: how many objects of a kind stand where, on one cluster. Written with the objects, read by the board."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="kind_counts")
    kind = models.CharField(max_length=63)
    health = models.CharField(max_length=20)
    control = models.CharField(max_length=12)
    count = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "kind", "health", "control"], name="kind_count_once")]

    def __str__(self) -> str:
        return f"{self.cluster} {self.kind} {self.health} {self.control}: {self.count}"


class StatusChange(models.Model):
    """A verdict changed: the history of one object, append-only."""

    object = models.ForeignKey(FluxObject, on_delete=models.CASCADE, related_name="changes")
    before = models.CharField(max_length=20, blank=True, default="")
    after = models.CharField(max_length=20)
    control = models.CharField(max_length=12)
    revision = models.CharField(max_length=400, blank=True, default="")
    why = models.TextField(blank=True, default="")
    at = models.DateTimeField()

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["object", "-at"])]

    def __str__(self) -> str:
        return f"{self.object}: {self.before} → {self.after}"
