"""One box that finds clusters, apps, repositories, promotions and objects."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from clusters_app.queries.search import search as find


def search(request: HttpRequest) -> HttpResponse:
    """The only hit is opened at once; `?q=` with several lists them."""
    text = request.GET.get("q", "").strip()
    hits = find(request.user, text) if text else []
    if len(hits) == 1:
        return redirect(hits[0].url)
    return render(request, "search.html", {"text": text, "hits": hits})
