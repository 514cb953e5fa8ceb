"""A server that says what a test told it to, so that each fault arrives through the real client."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Said:
    """One answer. `body` that is no bytes is sent as JSON; `drop` ends the connection without a word."""

    status: int = 200
    body: object = b""
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False


@dataclass
class Asked:
    method: str
    path: str
    authorization: str
    body: object


@dataclass
class Scripted:
    url: str
    answer: Callable[[Asked], Said]
    asked: list[Asked] = field(default_factory=list)


@contextmanager
def scripted(answer: Callable[[Asked], Said] = lambda _: Said(404)) -> Iterator[Scripted]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = json.loads(raw) if raw else None
            asked = Asked(self.command, self.path, self.headers.get("Authorization", ""), body)
            script.asked.append(asked)
            said = script.answer(asked)
            self.close_connection = True
            if not said.drop:
                self._send(said)

        do_POST = do_PATCH = do_PUT = do_DELETE = do_GET  # noqa: N815

        def _send(self, said: Said) -> None:
            body = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
            self.send_response(said.status)
            for name, value in {"Content-Length": str(len(body)), "Connection": "close", **said.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Quiet: what was asked is in `asked`."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    script = Scripted(f"http://127.0.0.1:{httpd.server_port}", answer)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()
