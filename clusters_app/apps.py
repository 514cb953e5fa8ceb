"""The product as one Django application."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ClustersConfig(AppConfig):
    name = "clusters_app"
    label = "clusters_app"
    verbose_name = _("Flotilla")
    default_auto_field = "django.db.models.BigAutoField"
