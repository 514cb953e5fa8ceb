"""Rules about a fleet repository: deterministic, without a network, in seconds for thousands of files.

A rule is a function in a file of its subject and one row in RULES.
"""

from collections.abc import Sequence

from clusters_app.repo.graph import ClusterRoot, build_graph
from clusters_app.repo.lint.charts import release_is_unguarded, version_floats
from clusters_app.repo.lint.finding import Finding, Rule, Severity
from clusters_app.repo.lint.generated import kustomization_is_generated
from clusters_app.repo.lint.keeping import object_is_not_kept
from clusters_app.repo.lint.layers import dependencies_go_round, dependency_does_not_wait
from clusters_app.repo.lint.paths import kustomization_lists_what_is_missing, kustomization_path_is_missing
from clusters_app.repo.lint.pruning import prune_is_off
from clusters_app.repo.lint.remote import base_is_remote
from clusters_app.repo.lint.roots import generated_root_takes_in_more, root_leaves_out_flux_system
from clusters_app.repo.lint.subject import Subject
from clusters_app.repo.lint.suppressing import without_suppressed
from clusters_app.repo.lint.terraform import approval_goes_round, production_is_not_asked
from clusters_app.repo.lint.texts import text_is_broken
from clusters_app.repo.lint.timing import timing_is_careless
from clusters_app.repo.tree import Tree

__all__ = ["RULES", "Finding", "Rule", "Severity", "Subject", "lint"]

E, W = Severity.ERROR, Severity.WARNING

RULES = (
    Rule("GRP001", E, "dependencies that go round in a circle", dependencies_go_round),
    Rule("GRP003", W, "a dependency that does not wait for its objects", dependency_does_not_wait),
    Rule("GRP009", E, "a generated root that applies more than it should", generated_root_takes_in_more),
    Rule("GRP010", E, "a root that leaves out flux-system", root_leaves_out_flux_system),
    Rule("HLM002", W, "a release in production without guards", release_is_unguarded),
    Rule("HLM004", W, "a chart version that floats in production", version_floats),
    Rule("KST001", W, "pruning is off", prune_is_off),
    Rule("KST002", W, "a careless interval, retryInterval or timeout", timing_is_careless),
    Rule("KST007", W, "an object that a rename would delete with its data", object_is_not_kept),
    Rule("KST010", W, "a remote base", base_is_remote),
    Rule("PTH001", E, "a Kustomization whose path is not there", kustomization_path_is_missing),
    Rule("PTH002", E, "a kustomization file that lists what is not there", kustomization_lists_what_is_missing),
    Rule("PTH004", W, "a kustomization file that Flux has to generate", kustomization_is_generated),
    Rule("TF001", E, "an approval that goes round in a circle", approval_goes_round),
    Rule("TF002", W, "a stack in production that nobody is asked about", production_is_not_asked),
    Rule("YML001", E, "a text that parsers read in different ways, or not at all", text_is_broken),
)


def lint(
    tree: Tree, clusters: Sequence[ClusterRoot] | None = None, rules: Sequence[Rule] = RULES
) -> tuple[Finding, ...]:
    """Everything that the rules find in a tree, by file and line; suppressed findings are left out."""
    subject = Subject(tree, build_graph(tree, clusters))
    found = dict.fromkeys(finding for rule in rules for finding in rule.findings(subject))
    kept = without_suppressed(tree, found)
    return tuple(sorted(kept, key=lambda each: (each.file, each.line, each.id, each.text)))
