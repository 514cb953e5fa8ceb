"""Releases and promotions: one release into one stage, from the plan until it is verified on each cluster."""

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from .apps import App
from .clusters import Cluster
from .environments import Environment
from .names import commit_field, content_hash_field
from .repositories import Repository


class Release(models.Model):
    """An immutable, content-hashed set of promoted values of one or more apps, seen in an environment."""

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="releases")
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="releases")
    apps = models.ManyToManyField(App, related_name="releases")
    app_key = models.CharField(max_length=400, help_text="names of the apps, sorted, joined by +")
    content_hash = content_hash_field()
    version = models.CharField(max_length=200)
    values = models.JSONField(default=list)
    commit = commit_field()
    commits = models.JSONField(default=list, help_text="[{sha, author, subject, at}] newest first")
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ["-seen_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["repository", "environment", "app_key", "content_hash", "commit"], name="release_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.app_key} {self.version}"


class Promotion(models.Model):
    """One release into one environment. `state` moves only by the table in `services/promotions/transitions.py`."""

    class State(models.TextChoices):
        PLANNED = "Planned", _("Planned")
        NO_CHANGE = "NoChange", _("No change")
        BLOCKED = "Blocked", _("Blocked")
        OPEN = "Open", _("Open")
        CONFLICT = "Conflict", _("Conflict")
        HUMAN_EDITED = "HumanEdited", _("Edited by a person")
        MERGED = "Merged", _("Merged")
        ROLLING_OUT = "RollingOut", _("Rolling out")
        VERIFIED = "Verified", _("Verified")
        FAILED = "Failed", _("Failed")
        OVERTAKEN = "Overtaken", _("Overtaken")
        SUPERSEDED = "Superseded", _("Superseded")
        ABORTED = "Aborted", _("Aborted")
        CLOSED = "Closed", _("Closed by a person")

    #: States in which a slot is taken: before the merge. After it the next promotion may be opened.
    OPEN_STATES = (State.PLANNED, State.BLOCKED, State.OPEN, State.CONFLICT, State.HUMAN_EDITED)
    #: States that the sweep still looks at.
    MOVING_STATES = (*OPEN_STATES, State.MERGED, State.ROLLING_OUT, State.FAILED)

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="promotions")
    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="promotions")
    apps = models.ManyToManyField(App, related_name="promotions")
    source = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="promotions_from")
    target = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="promotions_into")
    #: What at most one open promotion may occupy: the sorted app names.
    slot = models.CharField(max_length=400)
    state = models.CharField(max_length=20, choices=State, default=State.PLANNED)
    version_before = models.CharField(max_length=200, blank=True, default="")
    version_after = models.CharField(max_length=200, blank=True, default="")

    plan = models.JSONField(default=dict, help_text="{edits, kept, asks, refusals, diff}")
    answers = models.JSONField(default=list, blank=True, help_text="ids of asks that a person answered: carry it over")
    plan_hash = content_hash_field()
    base = commit_field()
    branch = models.CharField(max_length=250)
    head = commit_field()
    #: By which the forge's pull request is known as ours; a newer release that takes an open one over keeps its key.
    pull_request_key = models.CharField(max_length=40)
    pull_request_number = models.PositiveIntegerField(null=True, blank=True)
    pull_request_url = models.CharField(max_length=500, blank=True, default="")
    merge_commit = commit_field()
    superseded_by = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="supersedes"
    )

    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="promotions"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    merged_at = models.DateTimeField(null=True, blank=True)
    verified_at = models.DateTimeField(null=True, blank=True)

    #: Claim of a worker: until when, and a number that rises with each claim so that a late writer loses.
    claimed_until = models.DateTimeField(null=True, blank=True)
    fence = models.PositiveIntegerField(default=0)
    attempts = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(null=True, blank=True, db_index=True)
    problem_code = models.CharField(max_length=60, blank=True, default="")
    problem = models.TextField(blank=True, default="")

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["repository", "target", "slot"],
                condition=models.Q(state__in=("Planned", "Blocked", "Open", "Conflict", "HumanEdited")),
                name="promotion_slot_open_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.slot} {self.version_before} → {self.version_after} to {self.target}"

    def get_absolute_url(self) -> str:
        return reverse("promotion", args=[self.pk])

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN_STATES


class PromotionTarget(models.Model):
    """How far the merged change has come on one cluster; targets are frozen when the promotion merges."""

    class State(models.TextChoices):
        MERGED = "merged", _("merged")
        FETCHED = "fetched", _("fetched")
        APPLIED = "applied", _("applied")
        VERIFIED = "verified", _("live")
        FAILING = "failing", _("failing")
        OVERTAKEN = "overtaken", _("overtaken")
        UNKNOWN = "unknown", _("not seen lately")

    promotion = models.ForeignKey(Promotion, on_delete=models.CASCADE, related_name="targets")
    #: The name stays when the cluster is removed: history is kept.
    cluster_name = models.CharField(max_length=63)
    cluster = models.ForeignKey(
        Cluster, null=True, blank=True, on_delete=models.SET_NULL, related_name="promotion_targets"
    )
    state = models.CharField(max_length=12, choices=State, default=State.MERGED)
    revision = commit_field()
    text = models.TextField(blank=True, default="")
    since = models.DateTimeField()
    verified_at = models.DateTimeField(null=True, blank=True, help_text="latched: later changes do not take it back")

    class Meta:
        ordering = ["cluster_name"]
        constraints = [models.UniqueConstraint(fields=["promotion", "cluster_name"], name="target_once")]

    def __str__(self) -> str:
        return f"{self.promotion} on {self.cluster_name}: {self.state}"


class PromotionEvent(models.Model):
    """The timeline: one row for each change of state, with who and why. Append-only."""

    promotion = models.ForeignKey(Promotion, on_delete=models.CASCADE, related_name="events")
    before = models.CharField(max_length=20, blank=True, default="")
    after = models.CharField(max_length=20)
    actor = models.CharField(max_length=150, blank=True, default="")
    why = models.TextField(blank=True, default="")
    at = models.DateTimeField()

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.promotion}: {self.before} → {self.after}"


class GateResult(models.Model):
    """The verdict of one gate, bound to release and head, with its evidence. Append-only."""

    promotion = models.ForeignKey(Promotion, on_delete=models.CASCADE, related_name="gate_results")
    gate = models.CharField(max_length=40)
    passed = models.BooleanField()
    head = commit_field()
    text = models.TextField()
    evidence = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta:
        ordering = ["gate", "-at", "-id"]

    def __str__(self) -> str:
        return f"{self.gate}: {'passed' if self.passed else 'waiting'}"
