"""A real Git server over HTTPS: `git http-backend` behind a few lines, with tokens and with faults to order."""

import base64
import os
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pygit2

from clusters_app.git.commits import Changes, Message
from clusters_app.git.mirror import Mirror

Fault = Callable[["Handler"], None]


@dataclass
class GitServer:
    """`tokens`: token to whether it may write. `fault` answers in the place of git; `seen` are the requests' lines."""

    root: Path
    port: int
    ca_pem: str
    scheme: str = "https"
    tokens: dict[str, bool] = field(default_factory=lambda: {"writer-token": True, "reader-token": False})
    fault: Fault | None = None
    seen: list[str] = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)

    def url(self, name: str = "acme/fleet.git") -> str:
        return f"{self.scheme}://localhost:{self.port}/{name}"

    def create(self, name: str = "acme/fleet.git") -> Path:
        path = self.root / name
        made = pygit2.init_repository(path, bare=True, initial_head="main")
        made.config["http.receivepack"] = True
        return path

    def commit(self, changes: Changes, message: Message, name: str = "acme/fleet.git") -> str:
        """A first commit that is there without having been pushed."""
        sha = Mirror.open(self.root / name).commit(None, changes, message)
        pygit2.Repository(str(self.root / name)).references.create("refs/heads/main", sha)
        return sha


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    git_server: GitServer

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Quiet: what was asked is in `seen`."""

    def _serve(self) -> None:
        self.close_connection = True
        server = self.git_server
        server.seen.append(f"{self.command} {self.path}")
        server.authorizations.append(self.headers.get("Authorization", ""))
        if server.fault is not None:
            server.fault(self)
            return
        token = self._token()
        if token not in server.tokens:
            self.answer(401, b"", {"WWW-Authenticate": 'Basic realm="git"'})
        elif "receive-pack" in self.path and not server.tokens[token]:
            self.answer(403, b"Forbidden")
        else:
            self._backend()

    def _token(self) -> str:
        kind, _, value = self.headers.get("Authorization", "").partition(" ")
        return base64.b64decode(value).decode().partition(":")[2] if kind == "Basic" else ""

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), "Connection": "close", **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _backend(self) -> None:
        path, _, query = self.path.partition("?")
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.git_server.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "REMOTE_USER": "somebody",
            "REMOTE_ADDR": "127.0.0.1",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(
            ["git", "http-backend"], env=environment, input=self._body(), capture_output=True, check=False
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        self.answer(int(fields.pop("Status", "200").split()[0]), body, fields)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body


@contextmanager
def running(root: Path, certificate: Path | None, ca_pem: str) -> Iterator[GitServer]:
    """A server on a free port of this machine; plain HTTP without a certificate (a file with chain and key)."""

    class BoundHandler(Handler):
        git_server = GitServer(root, 0, ca_pem, scheme="https" if certificate else "http")

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), BoundHandler)
    httpd.daemon_threads = True
    httpd.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that was killed is no news
    server = BoundHandler.git_server
    server.port = httpd.server_port
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        httpd.socket = context.wrap_socket(httpd.socket, server_side=True)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()


def git(*arguments: str, cwd: Path | None = None) -> str:
    """What a person's own git does, with nothing of this machine's configuration."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
    }
    done = subprocess.run(["git", *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"git {arguments}: {done.stderr}")
    return done.stdout.strip()
