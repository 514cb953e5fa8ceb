"""The questions of scaffolding: three short lists that a person writes as lines, or everything as JSON."""

from collections.abc import Iterator

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from clusters_app.ingest import IngestError, JsonValue, json_object
from clusters_app.models import Environment, Repository
from clusters_app.services.errors import ServiceError

#: Environments that a fleet starts with when there are none.
USUAL = ("dev", "staging", "prod")


def _lines(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, "spellcheck": "false"})


class ScaffoldForm(forms.Form):
    environments = forms.CharField(
        label=gettext_lazy("Environments"),
        required=False,
        widget=_lines(4),
        help_text=gettext_lazy("In promotion order, one a line."),
    )
    clusters = forms.CharField(
        label=gettext_lazy("Clusters"),
        required=False,
        widget=_lines(6),
        help_text=gettext_lazy("One a line: name and environment, e.g. prod-a prod"),
    )
    apps = forms.CharField(
        label=gettext_lazy("Apps"),
        required=False,
        widget=_lines(4),
        help_text=gettext_lazy(
            "One a line: name and image with its version, e.g. web registry.example/web:1.0.0. "
            "An address that starts with oci:// is a chart."
        ),
    )
    answers = forms.CharField(
        label=gettext_lazy("All answers as JSON"),
        required=False,
        widget=_lines(8),
        help_text=gettext_lazy("Instead of the lists above; the same document as the API takes."),
    )


def first_lines(repository: Repository) -> dict[str, str]:
    """What the form starts with: the environments and clusters that there are, or the usual ones."""
    names = list(Environment.objects.values_list("name", flat=True)) or list(USUAL)
    registered = [
        f"{each.name} {each.environment.name} {each.sync_path}"
        for each in repository.clusters.select_related("environment")
    ]
    return {
        "environments": "\n".join(names),
        "clusters": "\n".join(registered or [f"{name} {name}" for name in names]),
        "apps": "web registry.example/web:1.0.0",
    }


def answers_of(posted: QueryDict) -> dict[str, JsonValue]:
    """The answers as scaffolding takes them. ServiceError names the line that cannot be understood."""
    if written := posted.get("answers", "").strip():
        return _from_json(written)
    return {
        "environments": [{"name": words[0]} for words in _words(posted, "environments", most=1)],
        "clusters": [_cluster(words) for words in _words(posted, "clusters", least=2, most=3)],
        "apps": [_app(words) for words in _words(posted, "apps", least=2, most=2)],
    }


def _from_json(text: str) -> dict[str, JsonValue]:
    try:
        return json_object(text.encode())
    except IngestError as error:
        raise ServiceError(
            "scaffold.answers", _("The answers are not JSON: %(why)s") % {"why": error}, field="answers"
        ) from error


def _words(posted: QueryDict, field: str, *, most: int, least: int = 1) -> Iterator[list[str]]:
    for number, line in enumerate(posted.get(field, "").splitlines(), 1):
        words = line.replace(",", " ").split()
        if words and not least <= len(words) <= most:
            raise ServiceError(
                "scaffold.line",
                _("Line %(number)d cannot be understood: %(line)s") % {"number": number, "line": line.strip()},
                field=field,
            )
        if words:
            yield words


def _cluster(words: list[str]) -> JsonValue:
    name, environment, *path = words
    return {"name": name, "environment": environment, **({"path": path[0]} if path else {})}


def _app(words: list[str]) -> JsonValue:
    name, place = words
    address, colon, version = place.rpartition(":")
    if not colon or "/" in version:
        raise ServiceError(
            "scaffold.line", _("%(app)s has no version: write it after a colon.") % {"app": name}, field="apps"
        )
    if address.startswith("oci://"):
        return {"name": name, "version": version, "chart": {"source": "OCIRepository", "url": address}}
    return {"name": name, "version": version, "image": {"name": address}}
