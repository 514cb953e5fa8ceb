"""One observed object: its verdict in words, what it waits for, its history, the document."""

import json

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from clusters_app.flux.freshness import Freshness
from clusters_app.queries import object_freshness, objects_visible_to
from clusters_app.web.access import cluster_for_reading


def object_(request: HttpRequest, name: str, kind: str, namespace: str, object_name: str) -> HttpResponse:
    now = timezone.now()
    cluster = cluster_for_reading(request, name)
    here = objects_visible_to(request.user).filter(cluster=cluster)
    row = get_object_or_404(
        here.select_related("detail"), kind=kind, namespace="" if namespace == "-" else namespace, name=object_name
    )
    reading = cluster.readings.filter(kind=kind).first()
    freshness = object_freshness(row, reading.read_at if reading else None, now)
    context = {
        "row": row,
        "cluster": cluster,
        "freshness": freshness,
        "freshness_is_live": freshness is Freshness.LIVE,
        "reading": reading,
        "held": here.filter(caused_by=str(row), gone_at=None),
        "changes": row.changes.all()[:50],
        "document": json.dumps(row.detail.document, indent=2, ensure_ascii=False),
        "inventory": row.detail.inventory,
        "now": now,
    }
    return render(request, "object.html", context)
