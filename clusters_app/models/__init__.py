"""What is remembered. One file a noun; facts about their own row only, no acting code."""

from .accounts import APIToken, FailedAttempt, Membership, SignInLink
from .apps import App, AppOnCluster, AppStage
from .clusters import Cluster, ClusterStatus, KindReading
from .credentials import Credential
from .environments import Environment
from .objects import FluxObject, KindCount, ObjectDetail, StatusChange
from .promotions import GateResult, Promotion, PromotionEvent, PromotionTarget, Release
from .records import AuditRecord, IdempotencyKey, Operation
from .repositories import LocalPullRequest, Repository

__all__ = [
    "APIToken",
    "App",
    "AppOnCluster",
    "AppStage",
    "AuditRecord",
    "Cluster",
    "ClusterStatus",
    "Credential",
    "Environment",
    "FailedAttempt",
    "FluxObject",
    "GateResult",
    "IdempotencyKey",
    "KindCount",
    "KindReading",
    "LocalPullRequest",
    "Membership",
    "ObjectDetail",
    "Operation",
    "Promotion",
    "PromotionEvent",
    "PromotionTarget",
    "Release",
    "Repository",
    "SignInLink",
    "StatusChange",
]
