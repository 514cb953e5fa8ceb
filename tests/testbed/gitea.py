"""A real forge: Gitea over HTTPS with a private certificate authority and PostgreSQL, as companies run it.

PostgreSQL rather than SQLite, because Gitea's SQLite driver would need a C compiler where the testbed is built.
"""

import base64
import getpass
import secrets
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import requests

from tests.testbed.build import program, shared_files
from tests.testbed.certificates import write_server_certificate
from tests.testbed.postgres import Postgres
from tests.testbed.processes import Process, ended_on_failure, free_port, start, temporary_folder, wait_until

ADMIN = "forge-admin"


_SETTINGS = Path(__file__).with_name("gitea.ini")


class GiteaError(Exception):
    """The forge answered with an error; `status` is its HTTP status, the message its text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status


@dataclass(frozen=True)
class User:
    name: str
    password: str

    @property
    def email(self) -> str:
        return f"{self.name}@example.com"


class Gitea:
    """One Gitea with an administrator; `url` is its base, `ca_pem` the authority that signed its certificate."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or temporary_folder("gitea")
        self.port = 0
        self.ca_pem = ""
        self.admin = User(ADMIN, secrets.token_urlsafe(16))
        self.admin_token = ""
        self._database = Postgres(self.folder / "database")
        self._process: Process | None = None
        self._http = requests.Session()
        self._http.trust_env = False  # else REQUESTS_CA_BUNDLE would overrule our authority

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_ended: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def ca_file(self) -> Path:
        return self.folder / "ca.crt"

    def start(self) -> Self:
        """Start (again, with the same repositories and address) and return when it answers."""
        with ended_on_failure(self):
            self._database.start()
            if not self.port:
                self._set_up()
            self._process = start("gitea", self._command("web"), folder=self.folder)
            wait_until(self._answers, "Gitea", self._process)
        return self

    def stop(self) -> None:
        if self._process:
            self._process.stop()
        self._database.stop()
        self._http.close()

    def create_user(self, name: str) -> User:
        """A new ordinary user."""
        user = User(name, secrets.token_urlsafe(16))
        self.api(
            "POST",
            "/admin/users",
            {"username": name, "email": user.email, "password": user.password, "must_change_password": False},
        )
        return user

    def token(self, user: User, scopes: Sequence[str] = ("all",)) -> str:
        """A new access token; scopes are Gitea's own: `read:repository`, `write:repository`, `read:user`, `all` ..."""
        answer = self._http.post(
            f"{self.url}/api/v1/users/{user.name}/tokens",
            json={"name": secrets.token_hex(6), "scopes": list(scopes)},
            auth=(user.name, user.password),
            timeout=30,
        )
        return str(_checked(answer)["sha1"])

    def create_repository(self, owner: User, name: str, *, private: bool = True, empty: bool = True) -> str:
        """A new repository, without any commit unless `empty` is false; returns its clone URL."""
        wanted = {"name": name, "private": private, "auto_init": not empty, "default_branch": "main"}
        answer = self.api("POST", f"/admin/users/{owner.name}/repos", wanted)
        return str(answer["clone_url"])

    def add_collaborator(self, repository: str, user: User, permission: str = "write") -> None:
        """Let a user read, write or administer `owner/name`."""
        self.api("PUT", f"/repos/{repository}/collaborators/{user.name}", {"permission": permission})

    def commit_files(
        self,
        repository: str,
        files: Mapping[str, str | None],
        message: str,
        *,
        branch: str = "main",
        token: str = "",
    ) -> str:
        """Commit texts (None deletes the file) to a branch of `owner/name`; returns the commit's id."""
        changes = [self._change(repository, path, text, branch) for path, text in files.items()]
        body = {"branch": branch, "message": message, "files": changes}
        answer = self.api("POST", f"/repos/{repository}/contents", body, token=token)
        return str(answer["commit"]["sha"])

    def read_file(self, repository: str, path: str, branch: str = "main") -> str:
        """The text of one file at a branch, tag or commit."""
        answer = self.api("GET", f"/repos/{repository}/contents/{path}?ref={branch}")
        return base64.b64decode(answer["content"]).decode()

    def merge(self, repository: str, number: int, *, style: str = "merge", token: str = "") -> None:
        """Merge a pull request as a person does: `merge`, `squash`, `rebase`, `rebase-merge`.

        Gitea refuses until its check for conflicts, in the background, is through: a person presses again.
        """
        for _ in range(50):
            try:
                self.api("POST", f"/repos/{repository}/pulls/{number}/merge", {"Do": style}, token=token)
            except GiteaError as refused:
                if "try again later" not in str(refused):
                    raise
                time.sleep(0.2)
            else:
                return
        raise GiteaError(405, f"{repository}#{number} is still being checked for conflicts")

    def api(self, method: str, path: str, body: Mapping[str, Any] | None = None, *, token: str = "") -> Any:
        """Call `/api/v1` + path, as the administrator unless a token is given; None for an empty answer."""
        answer = self._http.request(
            method,
            f"{self.url}/api/v1{path}",
            json=body,
            headers={"Authorization": f"token {token or self.admin_token}"},
            timeout=30,
        )
        return _checked(answer)

    def _change(self, repository: str, path: str, text: str | None, branch: str) -> dict[str, str]:
        """A file that exists is named by its blob, so that a lost update is refused."""
        change = {"path": path, "operation": "create"}
        if text is not None:
            change["content"] = base64.b64encode(text.encode()).decode()
        try:
            known = self.api("GET", f"/repos/{repository}/contents/{path}?ref={branch}")
        except GiteaError as refused:
            if refused.status != 404:
                raise
            return change
        return change | {"operation": "delete" if text is None else "update", "sha": known["sha"]}

    def _set_up(self) -> None:
        self.port = free_port()
        self.ca_pem = write_server_certificate(self.folder)
        self._http.verify = str(self.ca_file)
        settings = self.folder / "app.ini"
        settings.touch(mode=0o600)
        settings.write_text(self._settings())
        self._run("migrate")
        self._run(
            *("admin", "user", "create", "--admin", "--must-change-password=false"),
            *("--username", ADMIN, "--password", self.admin.password, "--email", self.admin.email),
        )
        # A warning may precede the token.
        made = self._run(
            *("admin", "user", "generate-access-token", "--username", ADMIN),
            *("--token-name", "testbed", "--scopes", "all", "--raw"),
        )
        self.admin_token = made.split()[-1]

    def _settings(self) -> str:
        return _SETTINGS.read_text().format(
            user=getpass.getuser(),
            folder=self.folder,
            port=self.port,
            database=self._database,
            static=shared_files("gitea"),
            secret_key=secrets.token_hex(32),
        )

    def _command(self, *arguments: str) -> list[str]:
        return [str(program("gitea")), "--config", str(self.folder / "app.ini"), *arguments]

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(
            self._command(*arguments),
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise GiteaError(done.returncode, f"gitea {arguments[0]}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout

    def _answers(self) -> bool:
        try:
            return self._http.get(f"{self.url}/api/v1/version", timeout=2).ok
        except requests.RequestException:
            return False


def _checked(answer: requests.Response) -> Any:
    if not answer.ok:
        raise GiteaError(answer.status_code, answer.text[:500])
    return answer.json() if answer.content else None
