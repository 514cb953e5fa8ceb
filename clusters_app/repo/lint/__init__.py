"""Rules about a fleet repository: deterministic, without a network, in seconds for thousands of files.

A rule is a function in a file of its subject and one row in RULES.
"""

from collections.abc import Sequence

from clusters_app.repo.graph import ClusterRoot, build_graph
from clusters_app.repo.lint.finding import Finding, Rule, Severity
from clusters_app.repo.lint.paths import kustomization_lists_what_is_missing, kustomization_path_is_missing
from clusters_app.repo.lint.pruning import prune_is_off
from clusters_app.repo.lint.roots import generated_root_takes_in_more, root_leaves_out_flux_system
from clusters_app.repo.lint.subject import Subject
from clusters_app.repo.lint.suppressing import without_suppressed
from clusters_app.repo.lint.texts import text_is_broken
from clusters_app.repo.tree import Tree

__all__ = ["RULES", "Finding", "Rule", "Severity", "Subject", "lint"]

E, W = Severity.ERROR, Severity.WARNING

RULES = (
    Rule("GRP009", E, "a generated root that applies more than it should", generated_root_takes_in_more),
    Rule("GRP010", E, "a root that leaves out flux-system", root_leaves_out_flux_system),
    Rule("PTH001", E, "a Kustomization whose path is not there", kustomization_path_is_missing),
    Rule("PTH002", E, "a kustomization file that lists what is not there", kustomization_lists_what_is_missing),
    Rule("YML001", E, "a text that parsers read in different ways, or not at all", text_is_broken),
    Rule("KST001", W, "pruning is off", prune_is_off),
)


def lint(
    tree: Tree, clusters: Sequence[ClusterRoot] | None = None, rules: Sequence[Rule] = RULES
) -> tuple[Finding, ...]:
    """Everything that the rules find in a tree, by file and line; suppressed findings are left out."""
    subject = Subject(tree, build_graph(tree, clusters))
    found = dict.fromkeys(finding for rule in rules for finding in rule.findings(subject))
    kept = without_suppressed(tree, found)
    return tuple(sorted(kept, key=lambda each: (each.file, each.line, each.id, each.text)))
