"""What a directory of a repository becomes on a cluster: kustomize, confined, and Flux's substitution after it."""

from .builds import Rendered, Renderer, render
from .errors import RenderError, RenderRefused, RenderTransient
from .substitute import substitute, substitute_documents

__all__ = [
    "RenderError",
    "RenderRefused",
    "RenderTransient",
    "Rendered",
    "Renderer",
    "render",
    "substitute",
    "substitute_documents",
]
