"""`python -m bench.command`: whole commands, from the process's start to the files they write.

E is a process that imports Polars, reads the same CSV file and writes it again. Commands and E take
turns, each in a fresh process. Time and memory are what the system counted for it, the least of
several runs.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import work
from bench.__main__ import Cells, Printed, say
from bench.sources import ROOT, Source, adult, large
from shoal.data import toml

REPEATS = 5
COPY = "copy by Polars (E)"
RELEASE = "shoal release"
ASSESS = "shoal assess"
BAR = {("health", RELEASE): 2.5, ("health", ASSESS): 2.0}
"""Times of E that a command may take."""

MEMORY_BAR = 1.5
"""Times the memory of E that these commands may hold."""

SAFEPUB = 'name = "safepub"\nepsilon = 1\ndelta = 1e-6\n'

COPYING = """
import sys

import polars as pl

frame = pl.read_csv(sys.argv[1], separator=";", infer_schema=sys.argv[3] == "guess")
frame.write_csv(sys.argv[2])
"""

STARTING = """
import os
import sys
import time

start = time.perf_counter()
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
seconds = time.perf_counter() - start
print(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""A process counts the memory of the one that started it as its own, so a small one starts it."""


@dataclass(frozen=True)
class Used:
    """What a process took: seconds by the clock and of all cores, and megabytes at its peak."""

    seconds: float
    cpu: float
    memory: float

    def least(self, other: "Used") -> "Used":
        return Used(
            min(self.seconds, other.seconds),
            min(self.cpu, other.cpu),
            min(self.memory, other.memory),
        )


def run(command: Sequence[str], bytecode: Path) -> Used:
    """Run a command that must succeed, with the modules compiled, as those of a package are."""
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    environment.setdefault("PYTHONPYCACHEPREFIX", str(bytecode))
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-S", "-c", STARTING, *command],
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    seconds, cpu, memory = done.stderr.splitlines()[-1].split()
    return Used(float(seconds), float(cpu), int(memory) / 1000)


def recipe(source: Source, method: str, folder: Path) -> Path:
    """The recipe that releases a table, all of whose columns are quasi-identifying."""
    columns = _columns(source)
    lines = [
        "[source]",
        f"path = {toml.quoted(str(source.path.absolute()))}",
        'separator = ";"',
        "[roles]",
        *(f'{toml.key(name)} = "quasi"' for name in columns),
    ]
    for name in columns:
        file = source.folder.absolute() / f"{name}.csv"
        lines += [f"[hierarchies.{toml.key(name)}]", 'build = "file"', 'root = "*"']
        lines.append(f"file = {toml.quoted(str(file))}")
    path = folder / "recipe.toml"
    path.write_text("\n".join([*lines, "[method]", method]), encoding="utf-8")
    return path


def _columns(source: Source) -> list[str]:
    with source.path.open(encoding="utf-8") as file:
        return file.readline().rstrip("\n").split(";")


def commands(source: Source, folder: Path) -> Mapping[str, Sequence[str]]:
    """What is measured, by its name; every command may be run again."""
    shoal = [sys.executable, "-c", "from shoal.cli import main; main()"]
    guess = "guess" if work.is_guessed(source.path) else "text"
    copying = [sys.executable, "-c", COPYING, str(source.path), str(folder / "copy.csv"), guess]
    releasing = [str(recipe(source, SAFEPUB, folder)), "--out", str(folder / "out"), "--force"]
    assessing = [str(source.path), "--separator", ";", "--quasi", ",".join(_columns(source))]
    return {
        COPY: copying,
        "shoal --version": [*shoal, "--version"],
        RELEASE: [*shoal, "release", *releasing],
        ASSESS: [*shoal, "assess", *assessing],
    }


def whole(sources: Sequence[Source], repeats: int = REPEATS) -> Printed:
    """Time and memory of whole commands, in those of E."""
    rows: list[Cells] = []
    for source in sources:
        say(f"{source.name}: {repeats} rounds of whole commands")
        with tempfile.TemporaryDirectory() as temporary:
            measured = _measured(commands(source, Path(temporary)), repeats, Path(temporary))
        unit = measured[COPY]
        for what, used in measured.items():
            bar = BAR.get((source.name, what))
            memory_bar = MEMORY_BAR if bar else None
            ratio = used.seconds / unit.seconds
            cpu_ratio = used.cpu / unit.cpu
            time = (used.seconds, ratio, bar, used.cpu, cpu_ratio)
            memory = (used.memory, used.memory / unit.memory, memory_bar)
            rows.append((source.name, what, *time, *memory))
    head = ("table", "what", "seconds", "E", "bar", "CPU seconds", "CPU, E", "MB", "MB, E", "bar")
    return Printed("The command as a whole", head, rows)


def _measured(given: Mapping[str, Sequence[str]], repeats: int, folder: Path) -> dict[str, Used]:
    measured: dict[str, Used] = {}
    for _ in range(repeats):
        for what, command in given.items():
            used = run(command, folder / "bytecode")
            measured[what] = used.least(measured.get(what, used))
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.command", description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        default=ROOT / "bench" / "data",
        help="where large tables are, or are made (bench/data)",
    )
    parser.add_argument("--only", metavar="TABLES", help="some of adult,health, with commas")
    parser.add_argument("--repeats", type=int, default=REPEATS, help=f"rounds ({REPEATS})")
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for the docs")
    given = parser.parse_args()
    parts = given.only.split(",") if given.only else ["adult", "health"]
    made = {"adult": adult, "health": lambda cache: large("health", cache)}
    sources = [made[name](given.data) for name in parts]
    print(whole(sources, given.repeats).text(given.markdown))


if __name__ == "__main__":
    main()
