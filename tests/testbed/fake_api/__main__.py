"""`python -m tests.testbed.fake_api --clusters 100 --objects 200`: a fleet in a process of its own, for measurements.

Prints one JSON line that says how to reach it, then obeys lines on its standard input: `change` gives every object
another revision, `touch` is a write elsewhere in each cluster; `ok` answers each. It ends with its input.
"""

import argparse
import json
import sys

from . import FakeApi, FakeCluster
from .authority import Authority


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", type=int, default=1)
    parser.add_argument("--objects", type=int, default=200)
    arguments = parser.parse_args()
    authority = Authority(is_strict=True)
    clusters = [FakeCluster(f"c-{number}").fill(count=arguments.objects) for number in range(arguments.clusters)]
    with FakeApi(clusters, tls=authority.server_context()) as api:
        servers = [{"server": api.server(cluster), "token": cluster.token} for cluster in clusters]
        _say(json.dumps({"ca_pem": authority.pem, "clusters": servers}))
        for turn, line in enumerate(sys.stdin):
            for cluster in clusters:
                cluster.touch() if line.strip() == "touch" else _change(cluster, turn)
            _say("ok")


def _change(cluster: FakeCluster, turn: int) -> None:
    for kind, document in list(cluster.objects()):
        document["status"]["turn"] = turn
        cluster.put(kind, document)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
