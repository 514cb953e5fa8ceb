"""Gitea and Forgejo. What their API really does was recorded on 1.26; each oddity is named where it is dealt with."""

from collections.abc import Iterator, Sequence

from .base import (
    STATUS_CONTEXT,
    CheckState,
    Draft,
    ForgeKind,
    MergeStyle,
    Missing,
    PullRequest,
    RepositoryFacts,
    Rights,
    has_mark,
    marked,
)
from .errors import ForgePermanent, forge_error
from .gitea_answers import GiteaComment, GiteaLabel, GiteaPullRequest, GiteaRepository, GiteaUser
from .gitea_errors import refusal
from .rights import COMMENT, OPEN_PULL_REQUEST, PULL_REQUESTS_OFF, PUSH, READ, UNARCHIVED
from .transport import Reply, Transport

PAGE = 50
MOST_PAGES = 20
"""Pull requests are listed newest first; one of ours that is behind a thousand newer ones is not looked for."""

MERGE_SECONDS = 90.0
"""A merge whose caller goes away is cancelled half done (9 of 16 recorded calls), so it gets all the time it needs."""

_LABEL_COLOR = "#4b6bfb"


class Gitea:
    """One repository at a Gitea or Forgejo server."""

    kind = ForgeKind.GITEA

    def __init__(self, transport: Transport, owner: str, name: str) -> None:
        self._transport = transport
        self._repository = ("repos", owner, name)

    # What the token is good for

    def rights(self) -> Rights:
        facts = self._get(self._repository).read(GiteaRepository, self._transport.host)
        missing = [*_missing_permissions(facts), *self._missing_scopes()]
        return Rights(self._login(), tuple(missing))

    def _login(self) -> str:
        """Empty when the token may not read its own user, which nothing here needs."""
        reply = self._transport.call("GET", ("user",))
        return reply.read(GiteaUser, self._transport.host).login if reply.is_good else ""

    def _missing_scopes(self) -> Iterator[Missing]:
        """Scopes cannot be read, only tried: each call is one that no token can make succeed, and the check of scopes
        comes before the check of what was asked."""
        nothing = {"head": "flotilla/nothing", "base": "flotilla/nothing", "title": "nothing"}
        if self._lacks_scope(self._transport.call("POST", (*self._repository, "pulls"), json=nothing)):
            yield OPEN_PULL_REQUEST
        if self._lacks_scope(self._transport.call("POST", (*self._repository, "issues", 0, "comments"), json={})):
            yield COMMENT

    @staticmethod
    def _lacks_scope(reply: Reply) -> bool:
        return reply.status == 403 and "scope" in reply.text

    def repository(self) -> RepositoryFacts:
        facts = self._get(self._repository).read(GiteaRepository, self._transport.host)
        return RepositoryFacts(
            id=str(facts.id),
            full_name=facts.full_name,
            clone_url=facts.clone_url,
            default_branch=facts.default_branch,
            is_empty=facts.empty,
            is_archived=facts.archived,
            is_private=facts.private,
        )

    # Pull requests

    def find(self, *, head: str, base: str) -> list[PullRequest]:
        # `head` is no filter of this API, and `base` is ignored where `base_branch` is honoured.
        pages = self._pages((*self._repository, "pulls"), list[GiteaPullRequest], state="all", base_branch=base)
        try:
            found = list(pages)
        except ForgePermanent as error:
            # An empty repository has no list of pull requests either.
            if error.code == "forge.not-found" and self.repository().is_empty:
                return []
            raise
        return [each.value() for each in found if each.is_of_this_repository and each.head.label == head]

    def read(self, number: int) -> PullRequest:
        return self._read(number).value()

    def _read(self, number: int) -> GiteaPullRequest:
        return self._get((*self._repository, "pulls", number)).read(GiteaPullRequest, self._transport.host)

    def create(self, draft: Draft) -> PullRequest:
        body = {
            "head": draft.head,
            "base": draft.base,
            "title": draft.title,
            "body": marked(draft.key, draft.body),
            "labels": self._label_ids(draft.labels),
        }
        return self._write("POST", "pulls", json=body).read(GiteaPullRequest, self._transport.host).value()

    def update(self, number: int, *, title: str, body: str) -> PullRequest:
        reply = self._write("PATCH", "pulls", number, json={"title": title, "body": body})
        return reply.read(GiteaPullRequest, self._transport.host).value()

    def close(self, number: int) -> None:
        self._write("PATCH", "pulls", number, json={"state": "closed"})

    def comment(self, number: int, *, key: str, body: str) -> None:
        text = marked(key, body)
        # The list ignores `limit` and `page`: it is always whole.
        listed = self._get((*self._repository, "issues", number, "comments")).read(
            list[GiteaComment], self._transport.host
        )
        ours = [each for each in listed if has_mark(key, each.body)]
        if not ours:
            self._write("POST", "issues", number, "comments", json={"body": text})
        elif ours[0].body != text:
            self._write("PATCH", "issues", "comments", ours[0].id, json={"body": text})

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        self._write("POST", "issues", number, "labels", json={"labels": self._label_ids(labels)})

    def _label_ids(self, names: Sequence[str]) -> list[int]:
        """Ids by name, as the API wants them. Names are not unique: the oldest of a name is taken."""
        if not names:
            return []
        known: dict[str, int] = {}
        for label in self._pages((*self._repository, "labels"), list[GiteaLabel]):
            known[label.name] = min(label.id, known.get(label.name, label.id))
        return [known[name] if name in known else self._make_label(name) for name in names]

    def _make_label(self, name: str) -> int:
        reply = self._write("POST", "labels", json={"name": name, "color": _LABEL_COLOR})
        return reply.read(GiteaLabel, self._transport.host).id

    def set_status(self, sha: str, state: CheckState, *, description: str, url: str) -> None:
        body = {"context": STATUS_CONTEXT, "state": state.value, "description": description[:255], "target_url": url}
        self._write("POST", "statuses", sha, json=body)

    def merge(self, number: int, *, head: str, title: str, message: str, style: MergeStyle = MergeStyle.MERGE) -> str:
        body = {
            "Do": style.value,
            "head_commit_id": head,
            "MergeTitleField": title,
            "MergeMessageField": message,
            "delete_branch_after_merge": False,
        }
        self._write("POST", "pulls", number, "merge", json=body, deadline_seconds=MERGE_SECONDS)
        merged = self.read(number)
        if merged.merge_commit is None:
            raise forge_error("forge.later", host=self._transport.host, said="the merge is not finished")
        return merged.merge_commit

    # Calls

    def _get(self, segments: Sequence[str | int], **query: str | int) -> Reply:
        reply = self._transport.call("GET", segments, query=query)
        if not reply.is_good:
            raise refusal(reply, self._transport.host, segments)
        return reply

    def _write(self, method: str, *segments: str | int, json: object, deadline_seconds: float = 20.0) -> Reply:
        path = (*self._repository, *segments)
        reply = self._transport.call(method, path, json=json, deadline_seconds=deadline_seconds)
        if not reply.is_good:
            raise refusal(reply, self._transport.host, path)
        return reply

    def _pages[T](self, segments: Sequence[str | int], kind: type[list[T]], **query: str | int) -> Iterator[T]:
        for page in range(1, MOST_PAGES + 1):
            reply = self._get(segments, **query, limit=PAGE, page=page)
            # An empty repository answers `null` to some lists.
            items = [] if reply.value is None else reply.read(kind, self._transport.host)
            yield from items
            if len(items) < PAGE:
                return


def _missing_permissions(facts: GiteaRepository) -> Iterator[Missing]:
    if not facts.permissions.pull:
        yield READ
    if not facts.permissions.push:
        yield PUSH
    if not facts.has_pull_requests:
        yield PULL_REQUESTS_OFF
    if facts.archived:
        yield UNARCHIVED
