"""Environments: the ordered places through which a release travels."""

from django.db import models
from django.urls import reverse

from .names import name_field


class Environment(models.Model):
    """One place in promotion order, e.g. dev, staging, prod. Position 1 receives a release first."""

    name = name_field(unique=True)
    position = models.PositiveIntegerField(unique=True)
    is_production = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["position"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return f"{reverse('fleet')}?environment={self.name}"
