"""Long work: its lines as they come, and where it led."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from clusters_app.models import Operation
from clusters_app.queries import can


def operation(request: HttpRequest, pk: int) -> HttpResponse:
    """Seen by who started it and by who operates. The fragment ends its own polling when the work has ended."""
    found = Operation.objects.select_related("created_by")
    if not can(request.user, "operate"):
        found = found.filter(created_by=request.user)  # type: ignore[misc]
    row = get_object_or_404(found, pk=pk)
    template = "operation.html#live" if request.htmx else "operation.html"  # type: ignore[attr-defined]
    return render(request, template, {"operation": row})
