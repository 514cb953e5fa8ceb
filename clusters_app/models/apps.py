"""Apps: what Git wants in each environment, and where that is live."""

from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from .clusters import Cluster
from .environments import Environment
from .names import commit_field, content_hash_field
from .repositories import Repository


class App(models.Model):
    """A unit that is promoted: the overlay of one component in each environment, found by the graph."""

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="apps")
    name = models.CharField(max_length=100)
    is_gone = models.BooleanField(default=False, help_text="no environment of the read commit holds it any more")

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["repository", "name"], name="app_once")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("app", args=[self.name])


class AppStage(models.Model):
    """An app in one environment as Git has it at the repository's read commit."""

    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="stages")
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="app_stages")
    path = models.CharField(max_length=500)
    version = models.CharField(
        max_length=200, blank=True, default="", help_text="what a page shows: tag or chart version"
    )
    values = models.JSONField(default=list, help_text="promoted values: [{file, path, value, kind}]")
    content_hash = content_hash_field()
    #: The commit that brought these values, and when: live means that this commit is applied.
    commit = commit_field()
    changed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["environment__position"]
        constraints = [models.UniqueConstraint(fields=["app", "environment"], name="app_stage_once")]

    def __str__(self) -> str:
        return f"{self.app} in {self.environment}: {self.version}"


class AppOnCluster(models.Model):
    """Whether the app's wanted values are live on one cluster; recomputed with each round and each new commit."""

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        FETCHED = "fetched", _("fetched")
        APPLIED = "applied", _("applied")
        LIVE = "live", _("live")
        FAILING = "failing", _("failing")
        SUSPENDED = "suspended", _("suspended")
        UNKNOWN = "unknown", _("not known")

    stage = models.ForeignKey(AppStage, on_delete=models.CASCADE, related_name="on_clusters")
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="apps_here")
    refs = models.JSONField(default=list, help_text="the Flux objects that apply the app there, nearest first")
    state = models.CharField(max_length=12, choices=State, default=State.UNKNOWN)
    commit = commit_field()
    revision = commit_field()
    text = models.TextField(blank=True, default="")
    since = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stage", "cluster"], name="app_on_cluster_once")]

    def __str__(self) -> str:
        return f"{self.stage} on {self.cluster}: {self.state}"
