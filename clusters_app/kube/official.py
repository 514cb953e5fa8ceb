"""The official `kubernetes` package, for what it is best at: the shapes of requests and answers.

Its transport is replaced by our client, and with it everything that it would do by itself: read ~/.kube and the pod's
account, run plugins, obey proxy variables, follow redirects, retry, wait for ever. Importing it costs over half a
second, so it is imported where it is needed.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import loop
from .client import Answer, Client

if TYPE_CHECKING:
    from kubernetes.client import ApiClient


def api_client(client: Client) -> "ApiClient":
    """An `ApiClient` for the package's API classes, for use outside the loop's thread. Calls raise `KubeError`."""
    from kubernetes.client import ApiClient, Configuration

    # Empty texts, not None: None makes the package look into the environment.
    configuration = Configuration(host=client.connection.server, proxy="", no_proxy="", retries=False)
    made = ApiClient(configuration)
    made.rest_client = _Transport(client)  # type: ignore[assignment]  # the package names a class, not a protocol
    return made


class _Transport:
    """What the package expects of its `RESTClientObject`, over a client of ours."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: object = None,
        post_params: object = None,
        _request_timeout: object = None,
    ) -> "_Response":
        server = self._client.connection.server
        if post_params or not url.startswith(f"{server}/"):
            raise ValueError("the request is not for this API server")
        path = url.removeprefix(server)
        data = None if body is None else json.dumps(body).encode()
        typed = {"Content-Type": "application/json", **(headers or {})}
        sent = self._client.request(method, path, what=_what(path), headers=typed, body=data)
        return _Response(loop.run(sent, timeout_seconds=self._client.limits.answer_seconds + 5))

    def close(self) -> None:
        """The connections belong to the client."""


@dataclass
class _Response:
    """What the package expects of its `RESTResponse`."""

    answer: Answer

    @property
    def status(self) -> int:
        return self.answer.status

    @property
    def reason(self) -> str:
        return ""

    @property
    def data(self) -> bytes:
        return self.answer.body

    @property
    def headers(self) -> Mapping[str, str]:
        return {name.lower(): value for name, value in self.answer.headers.items()}

    def read(self) -> bytes:
        return self.answer.body

    def getheader(self, name: str, default: Any = None) -> Any:
        return self.headers.get(name.lower(), default)


def _what(path: str) -> str:
    """`selfsubjectaccessreviews` for a message."""
    return path.partition("?")[0].rpartition("/")[2]
