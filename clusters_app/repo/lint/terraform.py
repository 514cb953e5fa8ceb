"""TF001 and TF002: Terraform objects of tofu-controller."""

from collections.abc import Iterator

from clusters_app.repo.build import TERRAFORM_GROUP, BuiltObject
from clusters_app.repo.documents import at, mapping, text
from clusters_app.repo.graph import ClusterNode
from clusters_app.repo.lint.finding import Place
from clusters_app.repo.lint.subject import Subject
from clusters_app.repo.sources import source_key


def approval_goes_round(subject: Subject) -> Iterator[Place]:
    """Approving a plan is a commit; where the source is the same repository, the commit makes a new plan."""
    for cluster, each in _stacks(subject):
        plan = text(each.value, "spec", "approvePlan")
        source = source_key(mapping(each.value, "spec", "sourceRef"), each.namespace or "default")
        if plan != "auto" and str(source) == cluster.kustomizations[0].source:
            yield Place(
                each.file,
                subject.line_in(each, "spec", "approvePlan"),
                "{name} is planned from the repository in which it is approved, so each approval makes a new plan",
                "give it a source of its own, pinned to a tag",
                f"Terraform/{each.namespace}/{each.name}",
                {"name": each.name},
            )


def production_is_not_asked(subject: Subject) -> Iterator[Place]:
    """Production changes, or goes away, without anybody having read a plan."""
    for cluster, each in _stacks(subject):
        if cluster.environment not in subject.production:
            continue
        if text(each.value, "spec", "approvePlan") == "auto":
            yield _careless(subject, each, "approvePlan", "{name} applies its plans in production unread")
        if at(each.value, "spec", "destroyResourcesOnDeletion") is True:
            yield _careless(subject, each, "destroyResourcesOnDeletion", "deleting {name} destroys what it made")


def _careless(subject: Subject, each: BuiltObject, field: str, said: str) -> Place:
    line = subject.line_in(each, "spec", field)
    remedy = "approve each plan by its id" if field == "approvePlan" else "leave destroyResourcesOnDeletion out"
    return Place(each.file, line, said, remedy, f"Terraform/{each.namespace}/{each.name}", {"name": each.name})


def _stacks(subject: Subject) -> Iterator[tuple[ClusterNode, BuiltObject]]:
    for cluster, _, each in subject.applied():
        if each.kind == "Terraform" and each.group == TERRAFORM_GROUP:
            yield cluster, each
