"""Reading a request's body: JSON through the same door as every document from outside."""

from collections.abc import Mapping
from typing import IO, Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser

from clusters_app.ingest import MAX_JSON_BYTES, IngestError, json_document

#: A kubeconfig may be 256 kB long, which escaped in JSON is longer.
LONGEST_STRING = 600_000


class TooLarge(APIException):
    status_code = 413
    default_code = "too-large"


class JSONBody(BaseParser):
    """At most 1 MiB, UTF-8, no NaN, no key twice, bounded depth: `clusters_app.ingest`. An empty body is `{}`."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        del media_type, parser_context
        data = stream.read(MAX_JSON_BYTES + 1)
        if len(data) > MAX_JSON_BYTES:
            raise TooLarge(_("A body may have at most %d bytes.") % MAX_JSON_BYTES)
        if not data.strip():
            return {}
        try:
            return json_document(data, max_string=LONGEST_STRING)
        except IngestError as error:
            raise ParseError(_("The body cannot be read: %s.") % error.message, code=error.code) from error
