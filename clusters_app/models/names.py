"""Field shapes that several models share: Kubernetes names, Git commits and closed sets of words."""

from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

#: RFC 1123 label: what Kubernetes accepts as a name, and what is safe as a directory and in a branch name.
valid_name = RegexValidator(
    r"\A[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z",
    _("Use lower-case letters, digits and dashes, at most 63 characters, starting and ending with a letter or digit."),
)


def name_field(**options: object) -> models.CharField[str, str]:
    return models.CharField(max_length=63, validators=[valid_name], **options)  # type: ignore[arg-type]


def content_hash_field() -> models.CharField[str, str]:
    """`sha256:` and 64 digits."""
    return models.CharField(max_length=71, blank=True, default="")


def commit_field() -> models.CharField[str, str]:
    """A full Git object id (SHA-1 or SHA-256), empty when there is none yet."""
    return models.CharField(max_length=64, blank=True, default="")
