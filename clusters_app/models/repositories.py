"""Repositories that clusters follow, and what was last seen of them."""

from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from .names import commit_field, name_field


class Repository(models.Model):
    """A Git repository with its forge and followed branch; `canonical_url` is one spelling for all of its spellings."""

    class Forge(models.TextChoices):
        GITEA = "gitea", "Gitea / Forgejo"
        LOCAL = "local", _("Flotilla's own review")

    name = name_field(unique=True)
    url = models.CharField(max_length=500)
    canonical_url = models.CharField(max_length=500)
    branch = models.CharField(max_length=200, default="main")
    forge = models.CharField(max_length=20, choices=Forge)
    username = models.CharField(max_length=100, blank=True, default="")
    ca_pem = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    #: The branch head on the remote, as last seen by `ls-remote`; empty while the repository has no commit.
    head = commit_field()
    head_at = models.DateTimeField(null=True, blank=True, help_text="committer date of the head")
    #: The commit whose graph, apps and releases are stored.
    read_commit = commit_field()
    seen_at = models.DateTimeField(null=True, blank=True)
    problem_code = models.CharField(max_length=60, blank=True, default="")
    problem = models.TextField(blank=True, default="")
    failures = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(null=True, blank=True, db_index=True)

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "repositories"
        constraints = [models.UniqueConstraint(fields=["canonical_url", "branch"], name="repository_once")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("repository", args=[self.name])

    @property
    def is_empty(self) -> bool:
        return not self.head


class LocalPullRequest(models.Model):
    """A pull request of the `local` forge: Flotilla's own review over a remote that has none."""

    class State(models.TextChoices):
        OPEN = "open", _("open")
        MERGED = "merged", _("merged")
        CLOSED = "closed", _("closed")

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="local_pull_requests")
    number = models.PositiveIntegerField()
    title = models.CharField(max_length=250)
    body = models.TextField(blank=True, default="")
    base_branch = models.CharField(max_length=200)
    head_branch = models.CharField(max_length=200)
    head = commit_field()
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    merge_commit = commit_field()
    author = models.CharField(max_length=150, blank=True, default="")
    labels = models.JSONField(default=list, blank=True)
    comments = models.JSONField(default=dict, blank=True, help_text="{key: text}, one a key")
    statuses = models.JSONField(default=dict, blank=True, help_text="{commit: {state, description, url}}")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["repository", "number"], name="local_pull_request_number"),
            models.UniqueConstraint(
                fields=["repository", "base_branch", "head_branch"],
                condition=models.Q(state="open"),
                name="local_pull_request_open_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.repository}#{self.number}"

    def get_absolute_url(self) -> str:
        return reverse("review", args=[self.repository.name, self.number])
