"""anjana and pycanon on adult. Runs by itself in their own environment (they need an older numpy),
prints JSON.

python bench/peers.py adult.csv FOLDER-WITH-HIERARCHIES SUPPRESSED-PERCENT
"""

import csv
import json
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from anjana.anonymity import k_anonymity
from pycanon import anonymity, metrics

SENSITIVE = "salary-class"
K = 5
REPEATS = 3
ENOUGH = 10.0


def best(work: Callable[[], Any]) -> tuple[float, Any]:
    times: list[float] = []
    while len(times) < REPEATS and sum(times) < ENOUGH:
        start = time.perf_counter()
        found = work()
        times.append(time.perf_counter() - start)
    return min(times), found


def hierarchy(path: Path) -> dict[int, Any]:
    with path.open(newline="", encoding="utf-8") as file:
        lines = [line for line in csv.reader(file, delimiter=";") if line]
    return {level: pd.Series([line[level] for line in lines]) for level in range(len(lines[0]))}


def main(table: str, folder: str, percent: str) -> None:
    data = pd.read_csv(table, sep=";", dtype=str)
    quasi = [name for name in data.columns if name != SENSITIVE]
    given = (data, quasi, [SENSITIVE])
    hierarchies = {name: hierarchy(Path(folder) / f"{name}.csv") for name in quasi}

    def risks() -> dict[str, float]:
        return {
            "k": anonymity.k_anonymity(data, quasi),
            "highest": metrics.max_rir(data, quasi),
            "average of groups": metrics.average_rir(data, quasi),
        }

    def assessment() -> dict[str, float]:
        return risks() | {
            "distinct": anonymity.l_diversity(*given),
            "entropy": anonymity.entropy_l_diversity(*given),
            "t": anonymity.t_closeness(*given),
            "beta": anonymity.basic_beta_likeness(*given),
            "delta": anonymity.delta_disclosure(*given),
        }

    def release() -> Any:
        return k_anonymity(data, [], quasi, K, float(percent), hierarchies)

    seconds, answers = {}, {}
    for name, work in {
        "k": lambda: {"k": anonymity.k_anonymity(data, quasi)},
        "risks": risks,
        "assessment": assessment,
    }.items():
        seconds[name], answers[name] = best(work)
    seconds["release"], made = best(release)
    # At which level each column came out: the first whose values include all that are there.
    levels = [
        next(level for level, values in hierarchies[name].items() if set(made[name]) <= set(values))
        for name in quasi
    ]
    answers["release"] = {
        "records": len(made),
        "k": anonymity.k_anonymity(made, quasi),
        "levels": levels,
    }
    versions = {name: version(name) for name in ("anjana", "pycanon", "pandas", "numpy")}
    print(
        json.dumps(
            {"quasi": quasi, "seconds": seconds, "answers": answers, "versions": versions},
            default=plain,
        )
    )


def plain(value: object) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(type(value).__name__)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
