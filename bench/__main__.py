"""`make bench`: run every measurement, or those named, print the table, write `bench/results.json`.

Exits 1 when a result misses what it must reach.
"""

import sys

from bench import reading, scaffolding
from bench.results import Result, save, table

#: Name → what measures it. A new one is a module with such a function, and a line here.
MEASUREMENTS = {
    "reading-fake": reading.against_the_fake,
    "reading-real": reading.against_a_real_cluster,
    "scaffolding": scaffolding.against_cookiecutter,
}


def main(names: list[str]) -> int:
    results: dict[str, Result] = {}
    for name in names or MEASUREMENTS:
        print(f"measuring {name} …", file=sys.stderr)
        results |= MEASUREMENTS[name]()
    print(table(results))
    save(results)
    return 0 if all(result.reaches(result.must) for result in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
