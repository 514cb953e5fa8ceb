"""Laying a repository out: the plan is shown first, and comes as one pull request."""

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from clusters_app.forges.base import Draft
from clusters_app.forges.once import ensure_open
from clusters_app.git.commits import Message
from clusters_app.git.mirror import Mirror
from clusters_app.ingest import JsonValue
from clusters_app.models import Operation, Repository
from clusters_app.repo.model import FleetModel, ModelError, model_from
from clusters_app.repo.scaffold import ScaffoldPlan, bootstrap_commands, plan_scaffold, with_paths
from clusters_app.repo.tree import MemoryTree, Tree

from .audit import Actor, record
from .authorship import FLOTILLA
from .branches import push_our_branch
from .errors import NotYet, ServiceError
from .nudges import nudge
from .operations import actor_of_operation, start_operation
from .outside import policy
from .remotes import forge_of, mirror_of, read_mirror, remote_of

SCAFFOLD = "repository.scaffold"
TITLE = "Scaffold the fleet"


@dataclass(frozen=True, slots=True)
class Preview:
    """What scaffolding would write. `commands`: how each cluster is bootstrapped afterwards, by its name."""

    model: FleetModel
    plan: ScaffoldPlan
    commands: dict[str, str]
    paths: dict[str, str]


def preview_scaffold(*, repository: Repository, answers: dict[str, JsonValue]) -> Preview:
    """The plan for these answers (`.flotilla/fleet.yaml` without `repository`). Writes nothing.

    ServiceError names the place of a mistake. Cost: some milliseconds; reads the mirror, not the network.
    """
    model = _model(repository, answers)
    tree: Tree = MemoryTree({})
    if not repository.is_empty:
        tree = read_mirror(repository, repository.head).tree(repository.head)
    whole = with_paths(model)
    return Preview(
        model=whole,
        plan=plan_scaffold(tree, model),
        commands=bootstrap_commands(model),
        paths={cluster.name: cluster.path for cluster in whole.clusters},
    )


def _model(repository: Repository, answers: dict[str, JsonValue]) -> FleetModel:
    facts: JsonValue = {"url": repository.url, "branch": repository.branch, "forge": repository.forge}
    try:
        return model_from({**answers, "repository": facts})
    except ModelError as error:
        raise ServiceError(error.code, str(error), field=error.where.removeprefix("$.")) from error


def scaffold_repository(*, repository: Repository, answers: dict[str, JsonValue], actor: Actor) -> Operation:
    """Open the pull request in a worker. Raises ServiceError at once for answers that cannot be used, or no change."""
    preview = preview_scaffold(repository=repository, answers=answers)
    if not preview.plan.files:
        raise ServiceError(
            "scaffold.no-change",
            _("%(repository)s has all of it already.") % {"repository": repository},
        )
    return start_operation(
        kind=SCAFFOLD,
        subject=repository.name,
        arguments={"repository": repository.pk, "answers": answers},
        actor=actor,
    )


def open_scaffold(operation: Operation) -> dict[str, Any]:
    """The work of a SCAFFOLD operation, in a worker. An empty repository first gets a commit."""
    repository = Repository.objects.get(pk=operation.arguments["repository"])
    mirror = mirror_of(repository)
    base = _base(repository, mirror)
    preview = preview_scaffold(repository=repository, answers=operation.arguments["answers"])
    if not preview.plan.files:
        raise ServiceError(
            "scaffold.no-change", _("%(repository)s has all of it already.") % {"repository": repository}
        )
    message = Message(TITLE, FLOTILLA, operation.created_at.replace(microsecond=0))
    head = mirror.commit(base, preview.plan.files, message)
    branch = f"flotilla/scaffold-{operation.pk}"
    push_our_branch(repository=repository, mirror=mirror, branch=branch, head=head, mark=TITLE)
    with forge_of(repository) as forge:
        if forge.repository().is_empty:
            raise NotYet("scaffold.forge-lags", _("The forge has not noticed the first commit yet."))
        draft = Draft(
            key=branch,
            head=branch,
            base=repository.branch,
            title=TITLE,
            body=_body(preview),
            labels=("flotilla",),
        )
        opened = ensure_open(forge, draft, lambda: True)
    if opened is None:
        raise ServiceError("scaffold.not-opened", _("The forge did not open the pull request."))
    record(
        actor=actor_of_operation(operation),
        verb="repository.scaffold",
        subject=repository.name,
        files=len(preview.plan.files),
        pull_request=opened.number,
    )
    return {
        "pull_request": opened.number,
        "url": opened.url,
        "files": len(preview.plan.files),
        "commands": preview.commands,
        "paths": preview.paths,
    }


def _base(repository: Repository, mirror: Mirror) -> str:
    """The branch's head, freshly fetched; a first commit is made where there is none."""
    remote = remote_of(repository)
    head = mirror.ls_remote(remote, policy()).get(f"refs/heads/{repository.branch}")
    if head is None:
        readme = f"# {repository.name}\n\nA fleet of clusters that follow this repository with Flux.\n"
        when = repository.created_at.replace(microsecond=0)
        head = mirror.commit(
            None, {"README.md": readme.encode()}, Message("Start the fleet repository", FLOTILLA, when)
        )
        mirror.push(remote, policy(), repository.branch, head, None)
    if not mirror.has(head) or mirror.branches().get(repository.branch) != head:
        mirror.fetch(remote, policy())
    with transaction.atomic():
        Repository.objects.filter(pk=repository.pk).update(
            head=head, head_at=mirror.describe(head).at, due_at=timezone.now()
        )
        transaction.on_commit(lambda: nudge("sync_repository", repository.pk))
    repository.refresh_from_db()
    return head


def _body(preview: Preview) -> str:
    clusters = "\n".join(f"- `{name}` follows `{path}`" for name, path in preview.paths.items())
    commands = "\n\n".join(f"```sh\n{command}\n```" for command in preview.commands.values())
    return (
        f"Lays out {len(preview.model.environments)} environments, {len(preview.model.clusters)} clusters "
        f"and {len(preview.model.apps)} apps in {len(preview.plan.files)} files.\n\n{clusters}\n\n"
        f"After the merge, bootstrap each cluster:\n\n{commands}\n"
    )
