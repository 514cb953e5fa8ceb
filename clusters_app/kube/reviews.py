"""A cluster's own answers about a credential: who it is, what it may do. Blocking; not for the loop's thread."""

from typing import TYPE_CHECKING

from .errors import KubeError
from .rights import Right, Rule

if TYPE_CHECKING:
    from kubernetes.client import ApiClient


def user_name(client: "ApiClient") -> str | None:
    """Whom the cluster takes us for; None before Kubernetes 1.28, where nobody can ask. Raises `KubeError`."""
    from kubernetes.client import AuthenticationV1Api, V1SelfSubjectReview

    try:
        review = AuthenticationV1Api(client).create_self_subject_review(V1SelfSubjectReview())
    except KubeError as error:
        if error.code == "kube.not-found":
            return None
        raise
    user = review.status.user_info if review.status else None
    return user.username or None if user else None


def is_allowed(client: "ApiClient", right: Right) -> bool:
    """`SelfSubjectAccessReview`: every authorizer of the cluster has its say. Raises `KubeError`."""
    from kubernetes.client import (
        AuthorizationV1Api,
        V1ResourceAttributes,
        V1SelfSubjectAccessReview,
        V1SelfSubjectAccessReviewSpec,
    )

    resource, _, subresource = right.resource.partition("/")
    asked = V1ResourceAttributes(
        verb=right.verb,
        group=right.group,
        resource=resource,
        subresource=subresource or None,
        namespace=right.namespace or None,
        name=right.name or None,
    )
    body = V1SelfSubjectAccessReview(spec=V1SelfSubjectAccessReviewSpec(resource_attributes=asked))
    answer = AuthorizationV1Api(client).create_self_subject_access_review(body)
    return bool(answer.status and answer.status.allowed)


def rules_in(client: "ApiClient", namespace: str) -> list[Rule]:
    """`SelfSubjectRulesReview`: the rules that count in a namespace, cluster-wide ones too. Raises `KubeError`."""
    from kubernetes.client import AuthorizationV1Api, V1SelfSubjectRulesReview, V1SelfSubjectRulesReviewSpec

    body = V1SelfSubjectRulesReview(spec=V1SelfSubjectRulesReviewSpec(namespace=namespace))
    answer = AuthorizationV1Api(client).create_self_subject_rules_review(body)
    return [
        Rule(
            tuple(rule.verbs or ()),
            tuple(rule.api_groups or ()),
            tuple(rule.resources or ()),
            tuple(rule.resource_names or ()),
        )
        for rule in (answer.status.resource_rules if answer.status else None) or ()
    ]
