"""The graph of a repository's commit, with the clusters that were registered taking precedence over those it finds."""

from clusters_app.models import Repository
from clusters_app.repo.graph import ClusterRoot, FleetGraph, build_graph
from clusters_app.repo.tree import Tree, normal_directory


def fleet_graph(repository: Repository, tree: Tree) -> FleetGraph:
    """What this tree says about the fleet. One query; a registered cluster gives name and environment of its path."""
    registered = {
        normal_directory(cluster.sync_path): ClusterRoot(cluster.name, cluster.sync_path, cluster.environment.name)
        for cluster in repository.clusters.select_related("environment")
    }
    found = build_graph(tree, home_urls=(repository.url,))
    if not registered:
        return found
    others = [
        ClusterRoot(cluster.name, cluster.path, cluster.environment)
        for cluster in found.clusters
        if normal_directory(cluster.path) not in registered
    ]
    return build_graph(tree, [*registered.values(), *others], home_urls=(repository.url,))
