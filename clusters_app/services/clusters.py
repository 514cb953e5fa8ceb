"""Registering clusters: what is asked first, checked line by line by a worker, and stored only when it passed."""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from clusters_app.kube.connection import Connection
from clusters_app.kube.kubeconfig import ContextNotChosen, KubeconfigRefused, parse_kubeconfig
from clusters_app.models import Cluster, ClusterStatus, Credential, Environment, Operation, Repository
from clusters_app.repo.tree import TreeError, check_path, normal_directory
from clusters_app.secret import Secret

from .audit import Actor, record
from .credentials import forget_credentials, open_credential, sealed_credentials, store_credential
from .credentials import opened as opened_credential
from .errors import ServiceError
from .names import refuse_reserved_name
from .nudges import nudge
from .operations import actor_of_operation, follow_steps, start_operation
from .outside import policy

REGISTER = "cluster.register"
#: Fields of a credential that a connection may have; each is sealed on its own.
SECRET_FIELDS = ("token", "client_key")


@dataclass(frozen=True, slots=True)
class Registration:
    """What a person or script says about a new cluster. Either `kubeconfig`, or `server` with `ca_pem` and `token`."""

    name: str
    environment: Environment
    repository: Repository
    sync_path: str
    server: str = ""
    ca_pem: str = ""
    tls_server_name: str = ""
    token: Secret | None = None
    kubeconfig: str = ""
    context: str = ""
    labels: dict[str, str] | None = None
    #: An administrator's word for accepting a credential that may do too much; it becomes the cluster's badge.
    accept_reason: str = ""


def register_cluster(*, registration: Registration, actor: Actor) -> Operation:
    """Check the cluster in a worker and register it when every line passed; the operation shows the lines.

    Raises ServiceError at once for what can be known without asking the cluster. Nothing is stored of a refused one.
    """
    connection = connection_from(registration)
    draft = _draft(registration, connection)
    secrets = {"token": connection.token, "client_key": connection.client_key}
    return start_operation(
        kind=REGISTER,
        subject=draft.name,
        arguments={
            "environment": registration.environment.pk,
            "repository": registration.repository.pk,
            "sync_path": draft.sync_path,
            "labels": draft.labels,
            "server": connection.server,
            "ca_pem": connection.ca_pem or "",
            "tls_server_name": connection.tls_server_name or "",
            "client_certificate_pem": connection.client_certificate_pem or "",
            "accept_reason": registration.accept_reason,
        },
        secrets={field: value for field, value in secrets.items() if value},
        actor=actor,
    )


def connection_from(registration: Registration) -> Connection:
    """How the cluster is to be reached; ServiceError names the field that is at fault."""
    if registration.kubeconfig.strip():
        try:
            return parse_kubeconfig(registration.kubeconfig, registration.context or None)
        except KubeconfigRefused as error:
            raise ServiceError(error.code, str(error), field="kubeconfig") from error
        except ContextNotChosen as error:
            raise ServiceError("kubeconfig.context", str(error), field="context") from error
    if not registration.server.strip():
        raise ServiceError("cluster.server", _("Give the address of the API server, or a kubeconfig."), field="server")
    if registration.token is None or not registration.token:
        raise ServiceError("cluster.token", _("Paste the token of the read role."), field="token")
    try:
        return Connection(
            server=registration.server.strip(),
            ca_pem=registration.ca_pem.strip() or None,
            token=registration.token,
            tls_server_name=registration.tls_server_name.strip() or None,
        )
    except ValueError as error:
        raise ServiceError("cluster.server", str(error), field="server") from error


def _draft(registration: Registration, connection: Connection) -> Cluster:
    """The validated row that registration would make; saved by nobody."""
    cluster = Cluster(
        name=registration.name,
        environment=registration.environment,
        repository=registration.repository,
        sync_path=_sync_path(registration.sync_path),
        labels=registration.labels or {},
        server=connection.server,
    )
    try:
        cluster.full_clean(exclude=["identity", "badge"])
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise ServiceError(f"cluster.{field}", " ".join(messages), field=field) from error
    refuse_reserved_name(cluster.name)
    twin = Cluster.objects.filter(repository=registration.repository, sync_path=cluster.sync_path).first()
    if twin:
        raise ServiceError(
            "cluster.sync-path",
            _("%(twin)s already follows %(path)s of %(repository)s.")
            % {"twin": twin, "path": cluster.sync_path or "/", "repository": registration.repository},
            remedy=_("Each cluster has a sync path of its own."),
            field="sync_path",
        )
    return cluster


def _refuse_known_name(name: str) -> None:
    """Asked twice, and the other was faster."""
    if Cluster.objects.filter(name=name).exists():
        raise ServiceError("cluster.name", _("There is a cluster %(name)s already.") % {"name": name}, field="name")


def _sync_path(text: str) -> str:
    """A directory of the repository in its one spelling, `""` for the root; ServiceError for what is none."""
    path = normal_directory(text.strip())
    try:
        return check_path(path) if path else ""
    except TreeError as error:
        raise ServiceError(
            "cluster.sync_path",
            _("This is not a directory inside the repository."),
            remedy=_("Write it as the repository has it, e.g. clusters/prod/prod-a."),
            field="sync_path",
        ) from error


def check_and_register(operation: Operation) -> dict[str, Any]:
    """The work of a REGISTER operation, in a worker: check line by line, then store cluster and credential."""
    from clusters_app.kube.check import check

    arguments = operation.arguments
    connection = _connection_of(operation)
    lines = follow_steps(operation, check(connection, policy(), now=timezone.now()))
    failed = [line for line in lines if line.state == "failed"]
    excess = [line for line in failed if line.code == "rights-excess"]
    if failed and not (arguments["accept_reason"] and len(excess) == len(failed)):
        raise ServiceError(failed[0].code, failed[0].text, remedy=failed[0].remedy)
    _refuse_known_name(operation.subject)
    identity = next((line.value for line in lines if line.code == "identity"), "")
    if identity and (known := Cluster.objects.filter(identity=identity).first()):
        raise ServiceError(
            "cluster.registered-already",
            _("This cluster is registered already, as %(name)s.") % {"name": known},
            remedy=_("Remove that registration first, or give it a new token."),
        )
    actor = actor_of_operation(operation)
    with transaction.atomic():
        cluster = Cluster.objects.create(
            name=operation.subject,
            environment_id=arguments["environment"],
            repository_id=arguments["repository"],
            sync_path=arguments["sync_path"],
            labels=arguments["labels"],
            server=connection.server,
            ca_pem=connection.ca_pem or "",
            tls_server_name=connection.tls_server_name or "",
            client_certificate_pem=connection.client_certificate_pem or "",
            identity=identity,
            badge=arguments["accept_reason"] if excess else "",
        )
        ClusterStatus.objects.create(cluster=cluster, due_at=timezone.now())
        for field in SECRET_FIELDS:
            value: Secret | None = getattr(connection, field)
            if value:
                store_credential(
                    owner_kind=Credential.Owner.CLUSTER,
                    owner_id=cluster.pk,
                    field=field,
                    host=connection.identity,
                    value=value,
                )
        record(actor=actor, verb="cluster.register", subject=cluster.name, server=connection.server)
        # The graph of the repository now has one more root.
        Repository.objects.filter(pk=cluster.repository_id).update(read_commit="", due_at=timezone.now())
        transaction.on_commit(lambda: nudge("observe_clusters", [cluster.pk]))
        transaction.on_commit(lambda: nudge("sync_repository", cluster.repository_id))
    return {"cluster": cluster.name, "url": cluster.get_absolute_url()}


def _connection_of(operation: Operation) -> Connection:
    arguments = operation.arguments
    token, client_key = (
        open_credential(
            owner_kind=Credential.Owner.OPERATION, owner_id=operation.pk, field=field, host=operation.subject
        )
        for field in SECRET_FIELDS
    )
    return Connection(
        server=arguments["server"],
        ca_pem=arguments["ca_pem"] or None,
        token=token,
        client_certificate_pem=arguments["client_certificate_pem"] or None,
        client_key=client_key,
        tls_server_name=arguments["tls_server_name"] or None,
    )


def connections_of(clusters: list[Cluster]) -> dict[int, Connection | ServiceError]:
    """How to reach each cluster, by its id, in one query; an error instead where its credential cannot be opened."""
    sealed = sealed_credentials(owner_kind=Credential.Owner.CLUSTER, owner_ids=[cluster.pk for cluster in clusters])
    found: dict[int, Connection | ServiceError] = {}
    for cluster in clusters:
        bare = Connection(
            server=cluster.server,
            ca_pem=cluster.ca_pem or None,
            tls_server_name=cluster.tls_server_name or None,
        )
        try:
            token, client_key = (
                opened_credential(sealed.get((cluster.pk, field)), bare.identity) for field in SECRET_FIELDS
            )
        except ServiceError as error:
            found[cluster.pk] = error
            continue
        found[cluster.pk] = Connection(
            server=bare.server,
            ca_pem=bare.ca_pem,
            token=token,
            client_certificate_pem=cluster.client_certificate_pem or None,
            client_key=client_key,
            tls_server_name=bare.tls_server_name,
        )
    return found


def replace_token(*, cluster: Cluster, token: Secret, actor: Actor) -> None:
    """Store a new token for a registered cluster and observe it at once; the next round tells whether it works."""
    with transaction.atomic():
        connection = Connection(server=cluster.server, ca_pem=cluster.ca_pem or None)
        store_credential(
            owner_kind=Credential.Owner.CLUSTER,
            owner_id=cluster.pk,
            field="token",
            host=connection.identity,
            value=token,
        )
        record(actor=actor, verb="cluster.replace-token", subject=cluster.name)
    refresh_cluster(cluster=cluster, actor=actor)


def refresh_cluster(*, cluster: Cluster, actor: Actor) -> None:
    """Observe the cluster as soon as a worker is free."""
    with transaction.atomic():
        ClusterStatus.objects.filter(cluster=cluster).update(due_at=timezone.now(), failures=0)
        record(actor=actor, verb="cluster.refresh", subject=cluster.name)
        transaction.on_commit(lambda: nudge("observe_clusters", [cluster.pk]))


def remove_cluster(*, cluster: Cluster, actor: Actor) -> None:
    """Forget a cluster, its credential and what was observed. Nothing is changed on the cluster itself."""
    with transaction.atomic():
        record(actor=actor, verb="cluster.remove", subject=cluster.name, server=cluster.server)
        forget_credentials(owner_kind=Credential.Owner.CLUSTER, owner_id=cluster.pk)
        cluster.delete()
