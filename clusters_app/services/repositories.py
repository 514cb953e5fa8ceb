"""Adding repositories: the URL and token are checked by a worker, line by line, before anything is stored."""

from collections.abc import Iterator
from shutil import rmtree
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from clusters_app.egress import EgressError, Session
from clusters_app.forges import FORGES, Access, ForgeError, ForgeKind, recognise
from clusters_app.git.credentials import parse_address
from clusters_app.git.errors import GitError
from clusters_app.git.mirror import Mirror
from clusters_app.models import Credential, Operation, Repository
from clusters_app.repo.repository_url import canonical_url
from clusters_app.secret import Secret

from .audit import Actor, record
from .credentials import forget_credentials, host_of, open_credential, store_credential
from .errors import ServiceError
from .names import refuse_reserved_name
from .nudges import nudge
from .operations import actor_of_operation, follow_steps, start_operation
from .outside import policy
from .remotes import make_remote, mirror_of
from .steps import Line

ADD = "repository.add"


def add_repository(
    *,
    name: str,
    url: str,
    actor: Actor,
    token: Secret | None = None,
    username: str = "",
    branch: str = "main",
    ca_pem: str = "",
) -> Operation:
    """Check URL, forge and token in a worker and store the repository when every line passed.

    Raises ServiceError at once for what needs no network: names, the URL's form, a repository that is there already.
    """
    draft = Repository(
        name=name,
        url=url.strip(),
        branch=branch,
        username=username,
        ca_pem=ca_pem.strip(),
        forge=Repository.Forge.LOCAL,
    )
    _validate(draft)
    return start_operation(
        kind=ADD,
        subject=name,
        arguments={"url": draft.url, "branch": branch, "username": username, "ca_pem": draft.ca_pem},
        secrets={"token": token} if token else {},
        actor=actor,
    )


def _validate(draft: Repository) -> None:
    try:
        parse_address(draft.url)
    except GitError as error:
        raise ServiceError(error.code, error.problem, remedy=error.remedy, field="url") from error
    refuse_reserved_name(draft.name)
    draft.canonical_url = canonical_url(draft.url)
    try:
        draft.full_clean()
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        if field == "__all__":
            field, messages = "url", [_("This branch of the repository is registered already.")]
        raise ServiceError(f"repository.{field}", " ".join(messages), field=field) from error


def check_and_add(operation: Operation) -> dict[str, Any]:
    """The work of an ADD operation, in a worker."""
    arguments = operation.arguments
    token = open_credential(
        owner_kind=Credential.Owner.OPERATION, owner_id=operation.pk, field="token", host=operation.subject
    )
    draft = Repository(name=operation.subject, **arguments)
    lines = follow_steps(operation, _check(draft, token))
    failed = [line for line in lines if line.state == "failed"]
    if failed:
        raise ServiceError(failed[0].code, failed[0].text, remedy=failed[0].remedy)
    _validate(draft)
    with transaction.atomic():
        draft.due_at = timezone.now()
        draft.save()
        if token:
            store_credential(
                owner_kind=Credential.Owner.REPOSITORY,
                owner_id=draft.pk,
                field="token",
                host=host_of(draft.url),
                value=token,
            )
        record(actor=actor_of_operation(operation), verb="repository.add", subject=draft.name, url=draft.url)
        transaction.on_commit(lambda: nudge("sync_repository", draft.pk))
    return {"repository": draft.name, "url": draft.get_absolute_url()}


def _check(draft: Repository, token: Secret | None) -> Iterator[Line]:
    """Reach the forge, recognise it, ask what the token may do, look at the branches. Stops at the first failure."""
    try:
        yield _recognise(draft)
        yield from _check_rights(draft, token)
        yield _check_branches(draft, token)
    except (EgressError, ForgeError, GitError) as error:
        yield Line(error.code, "failed", _text_of(error), getattr(error, "remedy", ""))


def _text_of(error: EgressError | ForgeError | GitError) -> str:
    return error.problem if isinstance(error, GitError) else str(error)


def _recognise(draft: Repository) -> Line:
    """Sets `draft.forge`: the forge that answers at this URL, else Flotilla's own review."""
    if draft.url.startswith("https://"):
        with Session(policy(), ca_pem=draft.ca_pem or None) as session:
            found = recognise(draft.url, session)
        if found is not None and found.kind in Repository.Forge.values:
            draft.forge = found.kind
            return Line("forge.recognised", "ok", _("The forge is %(forge)s.") % {"forge": draft.get_forge_display()})
    draft.forge = Repository.Forge.LOCAL
    return Line(
        "forge.local",
        "ok",
        _("No forge with pull requests answers there: changes are reviewed and merged in Flotilla itself."),
    )


def _check_rights(draft: Repository, token: Secret | None) -> Iterator[Line]:
    if draft.forge == Repository.Forge.LOCAL:
        return
    with Session(policy(), ca_pem=draft.ca_pem or None) as session:
        forge = FORGES[ForgeKind(draft.forge)](Access(url=draft.url, token=token, session=session))
        rights = forge.rights()
        for missing in rights.missing:
            yield Line(
                missing.code,
                "failed",
                missing.text,
                _("Make a token that has this right and add the repository again."),
            )
        if not rights.missing:
            yield Line(
                "forge.rights",
                "ok",
                _("The token of %(login)s may read, push branches and open pull requests.") % {"login": rights.login},
            )


def _check_branches(draft: Repository, token: Secret | None) -> Line:
    found = make_remote(url=draft.url, token=token, username=draft.username, ca_pem=draft.ca_pem)
    probe = Mirror.open(settings.FLOTILLA_MIRRORS_DIR / "probe.git", allow_file=settings.FLOTILLA_DEMO)
    refs = probe.ls_remote(found, policy())
    if not refs:
        return Line("repository.empty", "ok", _("The repository is empty: scaffold it next."))
    if f"refs/heads/{draft.branch}" in refs:
        return Line("repository.branch", "ok", _("The branch %(branch)s is there.") % {"branch": draft.branch})
    branches = sorted(ref.removeprefix("refs/heads/") for ref in refs if ref.startswith("refs/heads/"))
    return Line(
        "repository.no-branch",
        "failed",
        _("There is no branch %(branch)s.") % {"branch": draft.branch},
        _("Choose one of: %(branches)s.") % {"branches": ", ".join(branches[:10])},
    )


def refresh_repository(*, repository: Repository, actor: Actor) -> None:
    """Look at the remote as soon as a worker is free."""
    with transaction.atomic():
        Repository.objects.filter(pk=repository.pk).update(due_at=timezone.now(), failures=0)
        record(actor=actor, verb="repository.refresh", subject=repository.name)
        transaction.on_commit(lambda: nudge("sync_repository", repository.pk))


def remove_repository(*, repository: Repository, actor: Actor) -> None:
    """Forget a repository that no cluster follows; its history of promotions goes with it. Git keeps the commits."""
    followers = list(repository.clusters.values_list("name", flat=True)[:3])
    if followers:
        raise ServiceError(
            "repository.has-clusters",
            _("%(name)s is followed by %(clusters)s.") % {"name": repository, "clusters": ", ".join(followers)},
            remedy=_("Remove these clusters first."),
        )
    mirror = mirror_of(repository)
    with transaction.atomic():
        record(actor=actor, verb="repository.remove", subject=repository.name, url=repository.url)
        forget_credentials(owner_kind=Credential.Owner.REPOSITORY, owner_id=repository.pk)
        repository.promotions.all().delete()
        repository.releases.all().delete()
        repository.delete()
        transaction.on_commit(lambda: rmtree(mirror.path, ignore_errors=True))
