"""A stand-in for many Kubernetes API servers at once, for load and for faults that no real one can be made to have.

    with FakeApi() as api:
        cluster = api.add(FakeCluster("c-1").fill(count=200))
        connection = api.connection(cluster)
        with cluster.playing(faults.unauthorized(), on="helmreleases"):
            ...

It is driven through the real client over TLS. Lists have the key order, the tail, the paging and the compression of the
real server; what only a real one can prove (RBAC, CRDs, real Flux) is tested against a real one.
"""

from .cluster import FakeCluster
from .server import FakeApi

__all__ = ["FakeApi", "FakeCluster"]
