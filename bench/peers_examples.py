"""anjana and pycanon on the tables and settings of their own examples. Runs by itself in their
environment, prints JSON. CPU seconds, the best of a few runs.

python bench/peers_examples.py EXAMPLES.json
"""

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
from anjana import anonymity as making
from pycanon import anonymity

REPEATS = 3
ENOUGH = 5.0


def best(work: Callable[[], Any]) -> tuple[float, Any]:
    times: list[float] = []
    while len(times) < REPEATS and sum(times) < ENOUGH:
        start = time.process_time()
        found = work()
        times.append(time.process_time() - start)
    return min(times), found


def checked(example: dict[str, Any]) -> dict[str, Any]:
    """What pycanon says of a table."""
    data = pd.read_csv(example["file"], skipinitialspace=True)
    given = (data, example["quasi"], [example["sensitive"]])

    def work() -> dict[str, float]:
        return {
            "k": anonymity.k_anonymity(data, example["quasi"]),
            "l": anonymity.l_diversity(*given),
            "entropy": anonymity.entropy_l_diversity(*given),
            "t": anonymity.t_closeness(*given),
            "beta": anonymity.basic_beta_likeness(*given),
            "delta": anonymity.delta_disclosure(*given),
        }

    seconds, answers = best(work)
    return {"seconds": seconds, "answers": answers}


def made(example: dict[str, Any]) -> dict[str, Any]:
    """What anjana makes of a table."""
    data = pd.read_csv(example["file"], skipinitialspace=True)
    separator = example.get("separator", ",")
    hierarchies = {
        name: dict(pd.read_csv(file, header=None, sep=separator))
        for name, file in example["hierarchies"].items()
    }
    quasi, k, limit = example["quasi"], example["k"], example["suppressed"]
    hidden, secret = [example["identifying"]], example["sensitive"]
    function = getattr(making, example["function"])

    def work() -> Any:
        if example["function"] == "k_anonymity":
            return function(data, hidden, quasi, k, limit, hierarchies)
        strength = example["strength"]
        return function(data, hidden, quasi, secret, k, strength, limit, hierarchies)

    seconds, frame = best(work)
    if not len(frame):
        return {"seconds": seconds, "answers": {"records": 0}}
    levels = [
        next(
            level
            for level, values in hierarchies[name].items()
            if set(map(str, frame[name])) <= set(map(str, values))
        )
        for name in quasi
    ]
    answers = {
        "records": len(frame),
        "k": anonymity.k_anonymity(frame, quasi),
        "levels": levels,
    }
    return {"seconds": seconds, "answers": answers}


def plain(value: object) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(type(value).__name__)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    examples = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    found = [made(example) if "function" in example else checked(example) for example in examples]
    versions = {name: version(name) for name in ("anjana", "pycanon")}
    print(json.dumps({"found": found, "versions": versions}, default=plain))
