"""One box that finds clusters, apps, repositories, promotions and objects."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from clusters_app.queries.search import search as find


def search(request: HttpRequest) -> HttpResponse:
    """The only hit is opened at once; several are listed. As one types, the fragment holds the first hits."""
    text = request.GET.get("q", "").strip()
    hits = find(request.user, text) if text else []
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "search.html#found", {"text": text, "hits": hits})
    if len(hits) == 1:
        return redirect(hits[0].url)
    return render(request, "search.html", {"text": text, "hits": hits})
