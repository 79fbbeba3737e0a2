"""`python -m bench.report`: how long reports take, and how large they are, on adult.

R is the time of `Release.read` on the same folder in the same run; every time is the best of
several. The table has nine columns. The public report is bounded by a megabyte.
"""

import argparse
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import shoal
from bench import work
from bench.__main__ import Cells, Printed, say
from bench.measure import least
from bench.sources import Source, adult
from shoal.methods.method import Method
from shoal.report import Published, Reported, owner, public

LIMIT = 1_000_000
"""Bytes that a report may have."""

METHODS: dict[str, Method] = {
    "optimal, 5-anonymity": shoal.Optimal([shoal.KAnonymity(5)], suppression="0.05"),
    "noisy counts, tree": shoal.NoisyCounts(1, "1e-6", levels="tree"),
}


def reports(source: Source, repeats: int = 3) -> Printed:
    """Time and size of both reports on releases of a table."""
    rows: list[Cells] = []
    coded = work.code(source)
    table = coded.with_roles(quasi=coded.names)
    for name, method in METHODS.items():
        say(f"{source.name}: {name}")
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "released"
            method.release(table).write(folder)
            unit = least(partial(shoal.Release.read, folder), repeats=repeats)
            verified = least(partial(Published.read, folder), repeats=repeats)
            release = shoal.Release.read(folder)
            makers: dict[str, Callable[[], str]] = {
                "public": partial(public, folder),
                "owner, without neighbours": lambda: owner(Reported(release, table=table)),  # noqa: B023
            }
            rows.append((name, "read and verify", verified.cpu / unit.cpu, None, None))
            for kind, make in makers.items():
                took = least(make, repeats=repeats)
                rows.append((name, kind, took.cpu / unit.cpu, len(make().encode()), LIMIT))
    head = ("release", "what", "CPU, R", "bytes", "bar")
    return Printed(f"Reports on {source.name}", head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.report", description=__doc__)
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    given = parser.parse_args()
    print(reports(adult()).text(given.markdown))


if __name__ == "__main__":
    main()
